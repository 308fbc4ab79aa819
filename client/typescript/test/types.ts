// What must compile, and what must not: the types come from the document.
import { answer, createClient, type Hotspot } from "../dist/index.js";

export async function examples(): Promise<Hotspot> {
  const client = createClient({ baseUrl: "http://127.0.0.1:8080", key: "bcn_…" });
  const { data } = await answer(client.GET("/v1/hotspots/{id}", { params: { path: { id: "hs_1" } } }));
  const status: "pending" | "online" | "offline" = data.status;
  const seen: string | null = data.metrics.last_seen_at;
  // What can also be GeoJSON or CSV is JSON here.
  const { data: near } = await answer(client.GET("/v1/hotspots/nearby", { params: { query: { lat: 1, lng: 2 } } }));
  const { data: rewards } = await answer(client.GET("/v1/users/{id}/rewards", { params: { path: { id: "me" } } }));
  const numbers: number[] = [...near.map((h) => h.distance_m), rewards.summary.total_earned];
  // @ts-expect-error there is no such path
  await client.GET("/v1/nothing");
  // @ts-expect-error lat and lng are required
  await client.GET("/v1/hotspots/nearby", { params: { query: { lat: 1 } } });
  // @ts-expect-error this is no type of hotspot
  await client.POST("/v1/hotspots", { body: { name: "n", type: "castle", location: { lat: 1, lng: 2 }, device: { ssid: "s", mac_address: "m" } } });
  // @ts-expect-error there is no such field
  return data.colour ?? status ?? seen ?? numbers ?? data;
}
