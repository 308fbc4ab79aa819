// Every text of the console in English. A message with values is a function; where a
// part of a sentence is a link, it is handed a function that makes one.
import { common } from "./common";
import { correct } from "./correct";
import { frame } from "./frame";
import { hotspots } from "./hotspots";
import { imports } from "./imports";
import { map } from "./map";
import { people } from "./people";
import { rewards } from "./rewards";
import { staff } from "./staff";

export const en = { ...common, ...frame, ...map, ...hotspots, ...correct, ...imports, ...people, ...rewards, ...staff };
