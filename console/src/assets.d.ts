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
