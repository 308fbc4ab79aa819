// What the bundler turns into addresses.
declare module "*.json" {
  const address: string;
  export default address;
}
declare module "*.geojson" {
  const address: string;
  export default address;
}
declare module "map-worker" {
  const address: string;
  export default address;
}
declare module "*.css";

/** The version of the agent that belongs to this console: build.mjs reads it from the agent itself. */
declare const AGENT_VERSION: string;

/** The bounds of what people type, as JSON: bounds.mjs reads them from the OpenAPI document. */
declare const BOUNDS: string;
