// Who people are, and what they have: the shapes of what the server says of them.
import type { grants } from "./grants";

export type Permission = (typeof grants)[number]["permission"];
export type Role = "owner" | "manager" | "installer" | "viewer";
export type Post = "admin" | "verifier" | "treasurer" | "auditor";

/** From the widest to the narrowest. */
export const roles: readonly Role[] = ["owner", "manager", "installer", "viewer"];
export const posts: readonly Post[] = ["admin", "verifier", "treasurer", "auditor"];

export interface Membership {
  account: string;
  account_name: string;
  role: Role;
  hotspots: string[]; // assigned to an installer
  since: string;
}

/** Whoever is signed in. */
export interface Person {
  id: string;
  name: string;
  mail: string;
  language: string;
  created_at: string;
  frozen_until?: string | null; // after a recovery
  posts: Post[];
  memberships: Membership[];
  doors: { passkeys: number; codes_left: number; oidc: boolean };
}

/** What begins a session says. */
export interface Begun {
  person: Person;
}

/** A way in that works here, or not. */
export interface Doors {
  passkeys: boolean;
  passkeys_reason?: string;
  oidc?: { name: string } | null;
  mail: boolean;
  signup: "open" | "invite" | "off";
  people: boolean; // whether there are any
}

export interface Passkey {
  id: string;
  name: string;
  created_at: string;
  last_used_at: string | null;
  synced: boolean;
}

export interface OpenSession {
  id: string;
  device: string;
  door: string;
  created_at: string;
  last_used_at: string;
  current: boolean;
}

export interface Member {
  person: string;
  name: string;
  role: Role;
  hotspots: string[];
  since: string;
  suspended: boolean;
}

export interface Members {
  account: string;
  name: string;
  items: Member[];
}

/** One that nobody has accepted yet. Its link is told once. */
export interface Invitation {
  id: string;
  role?: Role | "";
  hotspots?: string[];
  posts?: Post[];
  account?: string; // "new": of whoever accepts it
  account_name?: string;
  created_at: string;
  expires_at: string;
  invited_by: string;
}

export interface OneTimeLink {
  link: string;
  expires_at: string;
}

/** What an invitation is to, for whom it was sent to. */
export interface Invited {
  network: string;
  account?: string;
  account_name?: string;
  role?: Role | "";
  posts?: Post[];
  invited_by?: string;
  expires_at: string;
}

/** A person, for staff. */
export interface Listed {
  id: string;
  name: string;
  mail: string;
  created_at: string;
  posts: Post[];
  memberships: Membership[];
  suspended: boolean;
}
