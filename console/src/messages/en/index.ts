// Every text of the console in English. A message with values is a function; where a
// part of a sentence is a link, it is handed a function that makes one.
import { common } from "./common";
import { frame } from "./frame";

export const en = { ...common, ...frame };
