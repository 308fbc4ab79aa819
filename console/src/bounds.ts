// The least and the most of what people type: of a number, or of the length of a text. They
// are those of the OpenAPI document, which bounds.mjs reads for each name that a page uses.
import type { components } from "../../client/typescript/src/schema";

export interface Bounds {
  least: number;
  most: number;
}

/** A setting of a hotspot, with the bounds of a number. */
export interface Setting extends Bounds {
  name: string;
  kind: "boolean" | "integer" | "number" | "object";
  above: boolean; // the least is too little
}

export const { types, settings, otherNames, ...bounds } = JSON.parse(BOUNDS) as Record<keyof components["schemas"], Bounds> & {
  types: string[];
  settings: Setting[];
  otherNames: Record<string, string[]>; // of a column of a table, the likeliest first
};
