// What whoever looks may do, by the server's own table: pages show no button that would be refused.
// The server decides.
import { grants } from "./grants";
import type { Permission, Person, Post, Role } from "./people";
import type { Key, Scope } from "./types";

/** Who looks: the holder of a key, or a person who is signed in. */
export interface Who {
  id: string; // of the key, or of the person
  name: string;
  user_id: string; // the account that it acts for; empty: none
  key?: Key;
  person?: Person;
}

type Grant = (typeof grants)[number];

const grantOf = (permission: Permission): Grant => grants.find((grant) => grant.permission === permission)!;
const byRole = (grant: Grant, role: Role | undefined): boolean => role !== undefined && (grant.roles as readonly Role[]).includes(role);
const byPost = (grant: Grant, posts: readonly Post[]): boolean => posts.some((post) => (grant.posts as readonly Post[]).includes(post));

/** Someone's role in the account that they act for. */
export const roleOf = (who: Who): Role | undefined => who.person?.memberships.find(({ account }) => account === who.user_id)?.role;

/** The hotspots that are assigned to an installer; undefined for all others. */
export function assignedTo(who: Who): string[] | undefined {
  const seat = who.person?.memberships.find(({ account }) => account === who.user_id);
  return seat?.role === "installer" ? seat.hotspots : undefined;
}

/** Which scope a key needs. */
export const scopeOf = (permission: Permission): string => grantOf(permission).scope;

export const rolesWith = (permission: Permission): readonly Role[] => grantOf(permission).roles;
export const postsWith = (permission: Permission): readonly Post[] => grantOf(permission).posts;

function hasScope(key: Key, scope: string): boolean {
  return (key.scopes as string[]).includes(scope) || key.scopes.includes("admin");
}

/** Whether someone has a permission, be it only for their own account. */
export function may(who: Who, permission: Permission): boolean {
  const grant = grantOf(permission);
  if (who.key) return grant.anyone || hasScope(who.key, grant.scope);
  return grant.anyone || byRole(grant, roleOf(who)) || byPost(grant, who.person?.posts ?? []);
}

/** Whether someone has a permission for what belongs to an account; installers for a hotspot that is assigned to them. */
export function mayFor(who: Who, permission: Permission, account: string | null | undefined, hotspot?: string): boolean {
  const own = account !== "" && account === who.user_id;
  if (who.key) return may(who, permission) && (own || who.key.scopes.includes("admin"));
  const grant = grantOf(permission);
  if (byPost(grant, who.person?.posts ?? [])) return true;
  const assigned = assignedTo(who);
  return own && byRole(grant, roleOf(who)) && (!assigned || (hotspot !== undefined && assigned.includes(hotspot)));
}

/** Whether someone may create a key with a scope: see MayGrant of package beacon. */
export function mayGrant(who: Who, scope: Scope, fresh = false): boolean {
  if (who.key) return hasScope(who.key, scope === "devices:enrol" ? "hotspots:write" : scope);
  const role = roleOf(who);
  const holds = (...all: Post[]): boolean => all.every((post) => who.person?.posts.includes(post));
  switch (scope) {
    case "hotspots:write":
    case "rewards:read":
    case "devices:enrol":
      return fresh || role === "owner" || role === "manager";
    case "keys:manage":
      return fresh || role === "owner";
    case "hotspots:verify":
      return holds("verifier", "treasurer");
    case "checkins:write":
      return holds("admin");
    case "admin":
      return holds("admin", "verifier", "treasurer");
  }
}

/** The roles that someone may give to others in an account: up to their own. */
export function rolesToGive(who: Who, account: string): readonly Role[] {
  if (who.key?.scopes.includes("admin") || who.person?.posts.includes("admin")) return ["owner", "manager", "installer", "viewer"];
  if (account !== who.user_id) return [];
  const scopes = who.key?.scopes ?? [];
  const role = who.key ? (scopes.includes("keys:manage") && scopes.includes("hotspots:write") ? (scopes.includes("rewards:read") ? "owner" : "manager") : undefined) : roleOf(who);
  if (role === "owner") return ["owner", "manager", "installer", "viewer"];
  return role === "manager" ? ["manager", "installer", "viewer"] : [];
}
