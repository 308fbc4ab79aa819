// Runs against a real server: BEACON_URL and BEACON_KEY, of a key with the scope
// admin, say which.
import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import { BeaconError, answer, createClient, events, pages } from "../dist/index.js";

const options = { baseUrl: process.env.BEACON_URL, key: process.env.BEACON_KEY };
const client = createClient(options);

const library = (n) => ({
  name: `Library ${n}`,
  type: "public",
  location: { lat: 40.7532 + n / 1e5, lng: -73.9822 },
  device: { ssid: "Library", mac_address: `02005e2${n.toString(16).padStart(5, "0")}` },
});
const register = (n, headers) => client.POST("/v1/hotspots", { body: library(n), headers });

// A server in front of the real one, which does something else first.
async function before(t, first) {
  let seen = 0;
  const server = http.createServer(async (request, response) => {
    if (first(++seen, request, response)) return;
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = { ...request.headers };
    delete headers.host;
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    try {
      const real = await fetch(options.baseUrl + request.url, {
        method: request.method, headers, body: chunks.length ? Buffer.concat(chunks) : undefined, signal: gone.signal,
      });
      response.writeHead(real.status, { "Content-Type": real.headers.get("Content-Type") ?? "" });
      for await (const chunk of real.body ?? []) response.write(chunk);
      response.end();
    } catch {
      response.destroy();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    options: { ...options, baseUrl: `http://127.0.0.1:${server.address().port}` },
    seen: () => seen,
    cut: () => server.closeAllConnections(),
  };
}

test("a hotspot is registered, found, brought to life, changed and deleted", async () => {
  const { data: made } = await answer(register(1));
  assert.equal(made.status, "pending");
  const { data: found } = await answer(client.GET("/v1/hotspots/nearby", { params: { query: { lat: 40.7532, lng: -73.9822, status: "all" } } }));
  assert.deepEqual(found.map((h) => h.id), [made.id]);
  const path = { params: { path: { id: made.id } } };
  await answer(client.POST("/v1/hotspots/{id}/verification", { ...path, body: { ...library(1).location, accuracy_m: 5, method: "gps" } }));
  const { data: code } = await answer(client.POST("/v1/hotspots/{id}/link-code", path));
  const { data: linked } = await answer(client.POST("/v1/devices/link", { body: { code: code.code, mac_address: library(1).device.mac_address } }));
  const device = createClient({ ...options, key: linked.device_key });
  const { data: taken } = await answer(device.POST("/v1/hotspots/{id}/heartbeats", { ...path, body: { boot_id: "b", seq: 1, clients: 1, rx_bytes: 1, tx_bytes: 1 } }));
  assert.equal(taken.status, "online");
  const { data: changed } = await answer(client.PATCH("/v1/hotspots/{id}", { ...path, body: { name: "Main Library" } }));
  assert.equal(changed.name, "Main Library");
  const { data: seen } = await answer(client.GET("/v1/coverage", { params: { query: { north: 40.76, south: 40.75, east: -73.98, west: -73.99, zoom: 15 } } }));
  assert.deepEqual(seen.hotspots.map((h) => h.id), [made.id]);
  const { data: rewards } = await answer(client.GET("/v1/users/{id}/rewards", { params: { path: { id: "me" } } }));
  assert.equal(rewards.unit, "credit");
  await answer(client.DELETE("/v1/hotspots/{id}", path));
  await assert.rejects(answer(client.GET("/v1/hotspots/{id}", path)), { status: 404, code: "not_found" });
});

test("an error tells its code, every faulty field, and the request", async () => {
  const bad = { ...library(2), name: "x", location: { lat: 91, lng: 0 } };
  const problem = await answer(client.POST("/v1/hotspots", { body: bad })).catch((e) => e);
  assert.ok(problem instanceof BeaconError);
  assert.equal(problem.status, 400);
  assert.deepEqual(problem.details.map((d) => d.field), ["name", "location.lat"]);
  assert.match(problem.requestId, /^req_/);
  await assert.rejects(answer(createClient({ ...options, key: "bcn_no" }).GET("/v1/keys/self")), { status: 401 });
});

test("a list in pages is gone through to its end", async () => {
  const user = (await answer(client.GET("/v1/keys/self"))).data.user_id;
  for (let n = 100; n < 125; n++) await answer(register(n));
  const names = [];
  const ask = (page) => client.GET("/v1/users/{id}/hotspots", { params: { path: { id: user }, query: { page, per_page: 10 } } });
  for await (const hotspot of pages(ask)) names.push(hotspot.name);
  assert.equal(new Set(names).size, 25);
});

test("what may be repeated is repeated, and nothing else", async (t) => {
  for (const refuse of [
    (_, response) => response.writeHead(503, { "Retry-After": "0" }).end("{}"),
    (_, response) => response.writeHead(429).end("{}"),
    (request) => request.socket.destroy(),
  ]) {
    const front = await before(t, (n, request, response) => n === 1 && (refuse(request, response), true));
    const through = createClient(front.options);
    await answer(through.GET("/v1/keys/self"));
    assert.equal(front.seen(), 2);

    const other = await before(t, (n, request, response) => n === 1 && (refuse(request, response), true));
    await assert.rejects(answer(createClient(other.options).POST("/v1/keys", { body: { scopes: [] } })));
    assert.equal(other.seen(), 1);
  }
  const front = await before(t, (n, request, response) => n === 1 && (response.writeHead(503).end("{}"), true));
  const once = { params: { header: { "Idempotency-Key": "ts 1" } }, body: library(200) };
  const { data: first } = await answer(createClient(front.options).POST("/v1/hotspots", once));
  const { data: second } = await answer(createClient(front.options).POST("/v1/hotspots", once));
  assert.equal(first.id, second.id);
  const stern = await before(t, (_, request, response) => (response.writeHead(503, { "Retry-After": "3600" }).end("{}"), true));
  await assert.rejects(answer(createClient(stern.options).GET("/v1/keys/self")), { status: 503 });
  assert.equal(stern.seen(), 1);
});

test("events go on where they stopped, each once, and end when told", async (t) => {
  const front = await before(t, () => false);
  const stop = new AbortController();
  const want = [];
  const got = [];
  let after;
  for await (const event of events(options, 0)) { // up to now
    after = event.id;
    const { data: latest } = await answer(client.GET("/v1/users/{id}/hotspots", { params: { path: { id: "me" }, query: { per_page: 100 } } }));
    if (event.type === "hotspot.registered" && event.hotspot_id === latest.at(-1).id) break;
  }
  want.push((await answer(register(300))).data.id);
  for await (const event of events(front.options, after, stop.signal)) {
    assert.ok(event.id > after);
    after = event.id;
    if (event.type !== "hotspot.registered") continue; // that of another test comes and goes
    got.push(event.hotspot_id);
    if (got.length === 12) stop.abort();
    else want.push((await answer(register(300 + got.length))).data.id);
    if (got.length % 4 === 0) front.cut();
  }
  assert.deepEqual(got, want);
  await assert.rejects(async () => { for await (const _ of events({ ...options, key: "bcn_no" })); }, { status: 401 });
  await assert.rejects(async () => { for await (const _ of events(options, 2 ** 40)); }, { status: 409 });
});

test("the address may end as that of the documents does", async () => {
  for (const end of ["/v1", "/v1/", "/", "//"]) {
    const there = { ...options, baseUrl: options.baseUrl + end };
    const { data } = await answer(createClient(there).GET("/v1/keys/self"));
    assert.ok(data.id);
    for await (const event of events(there, 0)) { // there are those of the hotspots above
      assert.ok(event.id);
      break;
    }
  }
});
