// Who people are, and what they have: short names for what the OpenAPI document defines, and the
// shapes of what only the console is told.
import type { components } from "../../client/typescript/src/schema";
import type { grants } from "./grants";

type Schemas = components["schemas"];

export type Permission = (typeof grants)[number]["permission"];
export type Role = Schemas["Role"];
export type Post = Schemas["Post"];
export type Person = Schemas["Person"];
export type Membership = Schemas["Membership"];
export type PersonListed = Schemas["PersonListed"];
export type Passkey = Schemas["Passkey"];
export type OpenSession = Schemas["Session"];
export type Member = Schemas["Member"];
export type Members = Schemas["Members"];
export type Invitation = Schemas["Invitation"];
export type OneTimeLink = Schemas["SignInLink"];

/** From the widest to the narrowest. */
export const roles: readonly Role[] = ["owner", "manager", "installer", "viewer"];
export const posts: readonly Post[] = ["admin", "verifier", "treasurer", "auditor"];

/** What begins a session says. */
export interface Begun {
  person: Person;
}

/** By which ways people can come in here. */
export interface Doors {
  passkeys: boolean;
  passkeys_reason?: string;
  oidc?: { name: string } | null;
  mail: boolean;
  signup: "open" | "invite" | "off";
  people: boolean; // whether there are any
}

/** What an invitation is to, for whom it was sent to. */
export interface Invited {
  network: string;
  account?: string;
  account_name?: string;
  role?: Role;
  posts?: Post[];
  invited_by?: string;
  expires_at: string;
}
