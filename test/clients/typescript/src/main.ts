// Goes through the main flow with each generated client: BEACON_URL names the server,
// BEACON_KEYS a key of scope admin for each client, separated by a space.
import { useNetwork, usePreview } from "./flow.js";
import * as heyApi from "./hey-api.js";
import * as openapiTypescript from "./openapi-typescript.js";

const url = process.env["BEACON_URL"] ?? "";
const keys = (process.env["BEACON_KEYS"] ?? "").split(" ");

for (const [i, [name, client]] of Object.entries({ "openapi-typescript": openapiTypescript, "hey-api": heyApi }).entries()) {
  await useNetwork(client.network(url, keys[i] ?? ""), `02005e0001${i}0`);
  await usePreview(client.preview(url, "svc_test_demo01"));
  console.log(name, "works");
}
