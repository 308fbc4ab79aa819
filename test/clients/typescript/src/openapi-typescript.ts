// The types of openapi-typescript, with openapi-fetch.
import createClient from "openapi-fetch";
import { data, done, type Network, type Preview } from "./flow.js";
import type { paths as NetworkPaths } from "./network.js";
import type { paths as PreviewPaths } from "./preview.js";

export function network(baseUrl: string, key: string): Network {
  const as = (key: string) => createClient<NetworkPaths, "application/json">({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
  const c = as(key);
  const of = (id: string) => ({ params: { path: { id } } });
  return {
    register: async (body) => (await data(c.POST("/v1/hotspots", { body }))).data,
    get: async (id) => (await data(c.GET("/v1/hotspots/{id}", of(id)))).data,
    verify: async (id, body) => (await data(c.POST("/v1/hotspots/{id}/verification", { ...of(id), body }))).data,
    code: async (id) => (await data(c.POST("/v1/hotspots/{id}/link-code", of(id)))).data,
    link: async (body) => (await data(c.POST("/v1/devices/link", { body }))).data,
    beat: async (device, id, body) => (await data(as(device).POST("/v1/hotspots/{id}/heartbeats", { ...of(id), body }))).data,
    nearby: async (query) => (await data(c.GET("/v1/hotspots/nearby", { params: { query } }))).data,
    coverage: async (query) => (await data(c.GET("/v1/coverage", { params: { query } }))).data,
    rewards: async (id) => (await data(c.GET("/v1/users/{id}/rewards", of(id)))).data,
    explain: async (id) => (await data(c.GET("/v1/hotspots/{id}/rewards/explain", of(id)))).data,
    invite: async (id, body) => (await data(c.POST("/v1/users/{id}/invitations", { ...of(id), body }))).data,
    invitations: async (id) => (await data(c.GET("/v1/users/{id}/invitations", of(id)))).data,
    revoke: (id, invitation) => done(c.DELETE("/v1/users/{id}/invitations/{invitation}", { params: { path: { id, invitation } } })),
    members: async (id) => (await data(c.GET("/v1/users/{id}/members", of(id)))).data,
    inviteStaff: async (body) => (await data(c.POST("/v1/invitations", { body }))).data,
    revokeStaff: (invitation) => done(c.DELETE("/v1/invitations/{invitation}", { params: { path: { invitation } } })),
    people: async () => (await data(c.GET("/v1/people"))).data,
    me: async () => (await data(c.GET("/v1/people/me"))).data,
  };
}

export function preview(baseUrl: string, key: string): Preview {
  const c = createClient<PreviewPaths, "application/json">({ baseUrl, headers: { "x-api-key": key } });
  return {
    list: (query) => data(c.GET("/api/v1/hotspots", { params: { query } })),
    get: async (id) => (await data(c.GET("/api/v1/hotspots/{id}", { params: { path: { id } } }))).data,
    status: async () => (await data(c.GET("/api/v1/network/status"))).data,
  };
}

// What the types must refuse.
export async function refused(c: ReturnType<typeof createClient<NetworkPaths, "application/json">>): Promise<void> {
  // @ts-expect-error lat and lng are required
  await c.GET("/v1/hotspots/nearby", { params: { query: { lat: 1 } } });
  // @ts-expect-error this is no status
  await c.GET("/v1/hotspots/nearby", { params: { query: { lat: 1, lng: 1, status: "closed" } } });
}
