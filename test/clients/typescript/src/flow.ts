// The main flow of both APIs, over clients that are generated from their documents.
import assert from "node:assert/strict";

// What a program needs of the generated types. They must be assignable to this.
export interface Registration {
  name: string;
  type: "home" | "business" | "public";
  location: { lat: number; lng: number };
  device: { ssid: string; mac_address: string };
}
type Status = "pending" | "online" | "offline";
interface Point { lat: number; lng: number }
interface Breakdown { availability: number; performance: number; utilization: number }
export interface Failure {
  error: { code: string; message: string; details?: Array<{ field: string; message: string }> };
}

// A request returns its data, and throws its Failure.
export interface Network {
  register(body: Registration): Promise<{ id: string; status: Status; location: Point }>;
  get(id: string): Promise<{ metrics: { last_seen_at: string | null } }>;
  verify(id: string, body: Point & { accuracy_m: number; method: string }): Promise<{ location: { verified: boolean } }>;
  code(id: string): Promise<{ code: string }>;
  link(body: { code: string; mac_address: string }): Promise<{ device_key: string }>;
  beat(device: string, id: string, body: Beat): Promise<{ status: Status }>;
  nearby(query: Point): Promise<Array<{ id: string; status: Status; distance_m: number; location: Point }>>;
  coverage(query: Box): Promise<{ bounds: Box; coverage_area_km2: number; hotspots: Array<Point & { id: string; count?: number }> }>;
  rewards(id: string): Promise<{ breakdown: Breakdown; hotspots: Array<{ hotspot_id: string; breakdown: Breakdown }> }>;
  explain(id: string): Promise<{ facts: { traffic_bytes: number } }>;
  invite(account: string, body: { role: Role; expires_in_days?: number }): Promise<Invitation & { link: string }>;
  invitations(account: string): Promise<Invitation[]>;
  revoke(account: string, invitation: string): Promise<void>;
  members(account: string): Promise<{ account: string; items: Array<{ person: string; role: Role; suspended: boolean }> }>;
  inviteStaff(body: { posts: Post[] }): Promise<{ id: string; posts: Post[] }>;
  revokeStaff(invitation: string): Promise<void>;
  people(): Promise<Array<{ id: string; name: string; posts: Post[] }>>;
  me(): Promise<{ id: string; name: string; posts: Post[]; memberships: Array<{ account: string; role: Role }> }>;
}
type Role = "owner" | "manager" | "installer" | "viewer";
type Post = "admin" | "verifier" | "treasurer" | "auditor";
interface Invitation { id: string; role: "" | Role; created_at: string; expires_at: string }
interface Box { north: number; south: number; east: number; west: number }
interface Beat { boot_id: string; seq: number; clients: number; rx_bytes: number; tx_bytes: number; rssi_dbm: number }

export interface Preview {
  list(query: { risk: string }): Promise<{ data: Array<{ risk: "Low" | "Medium" | "High" }>; meta: { total: number; hasMore: boolean } }>;
  get(id: number): Promise<{ lat: number }>;
  status(): Promise<{ status: "operational" | "degraded" | "outage"; totalNodes: number }>;
}

// With these, a number of 32 bits is another number.
const lat = 40.75421234;
const lng = -73.98410001;
const traffic = 12_345_678_901;
const paid = 0.246913; // credits for the traffic, by policy 1

export async function useNetwork(api: Network, mac: string): Promise<void> {
  const form: Registration = { name: "Generated", type: "public", location: { lat, lng }, device: { ssid: "generated", mac_address: mac } };
  const made = await api.register(form);
  assert.deepEqual({ ...made.location, status: made.status }, { lat, lng, verified: false, status: "pending" });
  const refused = await failure(api.register({ ...form, name: "x", location: { lat: 91, lng } }));
  assert.deepEqual([refused.error.code, refused.error.details?.map((d) => d.field)], ["invalid_request", ["name", "location.lat"]]);
  assert.equal((await failure(api.get("hs_none"))).error.code, "not_found");

  assert.ok((await api.verify(made.id, { lat, lng, accuracy_m: 5.5, method: "gps" })).location.verified);
  const { code } = await api.code(made.id);
  const { device_key } = await api.link({ code, mac_address: mac });
  const beat = { boot_id: "b", seq: 1, clients: 3, rx_bytes: traffic, tx_bytes: 0, rssi_dbm: -61.5 };
  assert.equal((await api.beat(device_key, made.id, beat)).status, "online");
  assert.notEqual((await api.get(made.id)).metrics.last_seen_at, null);

  // Other clients have hotspots at the same place.
  const near = (await api.nearby({ lat, lng })).find((h) => h.id === made.id);
  assert.deepEqual([near?.location.lat, near?.distance_m, near?.status], [lat, 0, "online"]);
  const box = { north: lat + 0.01, south: lat - 0.01, east: lng + 0.01, west: lng - 0.01 };
  const covered = await api.coverage(box);
  assert.deepEqual(covered.bounds, box);
  assert.ok(covered.coverage_area_km2 > 0.03);
  assert.equal(covered.hotspots.find((h) => h.id === made.id)?.lat, lat);

  const earned = await api.rewards("me");
  assert.equal(earned.breakdown.utilization, paid);
  assert.deepEqual(earned.hotspots.map((h) => [h.hotspot_id, h.breakdown.utilization]), [[made.id, paid]]);
  assert.equal((await api.explain(made.id)).facts.traffic_bytes, traffic);
  await usePeople(api);
}

// Invites people to the account of the key. Nobody is signed in, so what is about the person who is gets refused.
async function usePeople(api: Network): Promise<void> {
  const made = await api.invite("me", { role: "viewer", expires_in_days: 3 });
  assert.ok(made.link.includes("/#/join/"));
  assert.equal(Date.parse(made.expires_at) - Date.parse(made.created_at), 3 * 24 * 3600 * 1000);
  assert.deepEqual((await api.invitations("me")).map((i) => [i.id, i.role]), [[made.id, "viewer"]]);
  await api.revoke("me", made.id);
  assert.deepEqual(await api.invitations("me"), []);
  assert.deepEqual((await api.members("me")).items, []);
  const staff = await api.inviteStaff({ posts: ["auditor"] });
  assert.deepEqual(staff.posts, ["auditor"]);
  await api.revokeStaff(staff.id);
  assert.deepEqual(await api.people(), []);
  assert.equal((await failure(api.me())).error.code, "forbidden");
}

export async function usePreview(api: Preview): Promise<void> {
  const { data, meta } = await api.list({ risk: "high" });
  assert.deepEqual([data.map((h) => h.risk), meta.total, meta.hasMore], [Array(5).fill("High"), 5, false]);
  assert.equal((await api.get(7)).lat, 40.894246);
  assert.equal((await failure<{ error: string }>(api.get(79))).error, "Not found");
  assert.deepEqual((({ status, totalNodes }) => [status, totalNodes])(await api.status()), ["operational", 78]);
}

async function failure<F = Failure>(request: Promise<unknown>): Promise<F> {
  try {
    await request;
  } catch (problem) {
    if (problem instanceof Error) throw problem;
    return problem as F;
  }
  throw new assert.AssertionError({ message: "a request that must fail did not" });
}

// A response without a body has no data.
export async function done<E>(request: Promise<{ error?: E; response?: { ok: boolean } }>): Promise<void> {
  const answer = await request;
  if (!answer.response?.ok) throw answer.error;
}

// Both generators return { data } or { error }.
export async function data<D, E>(request: Promise<{ data?: D; error?: E }>): Promise<D> {
  const answer = await request;
  if (answer.data === undefined) throw answer.error;
  return answer.data;
}
