// The functions of @hey-api/openapi-ts, with its client over fetch.
import { data, done, type Network, type Preview } from "./flow.js";
import { createClient } from "./network/client/index.js";
import * as n from "./network/index.js";
import { createClient as createPreviewClient } from "./preview/client/index.js";
import * as p from "./preview/index.js";

export function network(baseUrl: string, key: string): Network {
  const as = (auth: string) => createClient({ baseUrl, auth });
  const client = as(key);
  return {
    register: async (body) => (await data(n.registerHotspot({ client, body }))).data,
    get: async (id) => (await data(n.getHotspot({ client, path: { id } }))).data,
    verify: async (id, body) => (await data(n.verifyHotspot({ client, path: { id }, body }))).data,
    code: async (id) => (await data(n.createLinkCode({ client, path: { id } }))).data,
    link: async (body) => (await data(n.linkDevice({ client, body }))).data,
    beat: async (device, id, body) => (await data(n.sendHeartbeat({ client: as(device), path: { id }, body }))).data,
    nearby: async (query) => (await data(n.findNearbyHotspots({ client, query }))).data,
    coverage: async (query) => (await data(n.getCoverage({ client, query }))).data,
    rewards: async (id) => (await data(n.getRewards({ client, path: { id } }))).data,
    explain: async (id) => (await data(n.explainRewards({ client, path: { id } }))).data,
    invite: async (id, body) => (await data(n.createInvitation({ client, path: { id }, body }))).data,
    invitations: async (id) => (await data(n.listInvitations({ client, path: { id } }))).data,
    revoke: (id, invitation) => done(n.revokeInvitation({ client, path: { id, invitation } })),
    members: async (id) => (await data(n.listMembers({ client, path: { id } }))).data,
    inviteStaff: async (body) => (await data(n.createStaffInvitation({ client, body }))).data,
    revokeStaff: (invitation) => done(n.revokeStaffInvitation({ client, path: { invitation } })),
    people: async () => (await data(n.listPeople({ client }))).data,
    me: async () => (await data(n.getMe({ client }))).data,
  };
}

export function preview(baseUrl: string, auth: string): Preview {
  const client = createPreviewClient({ baseUrl, auth });
  return {
    list: (query) => data(p.listHotspots({ client, query })),
    get: async (id) => (await data(p.getHotspot({ client, path: { id } }))).data,
    status: async () => (await data(p.getNetworkStatus({ client }))).data,
  };
}

// What the types must refuse.
export async function refused(): Promise<void> {
  // @ts-expect-error lat and lng are required
  await n.findNearbyHotspots({ query: { lat: 1 } });
  // @ts-expect-error this is no status
  await n.findNearbyHotspots({ query: { lat: 1, lng: 1, status: "closed" } });
}
