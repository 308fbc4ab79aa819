// What whoever looks would need for a page, and does not have.
import { t } from "../messages";
import type { Permission } from "../people";
import { postsWith, rolesWith, scopeOf } from "../permissions";
import { session } from "../session";

/** In place of a page. Whom to ask is told of what operators do. */
export function Lacks({ of: permission, ask = false }: { of: Permission; ask?: boolean }) {
  if (!session.person) return <p class="note">{(ask ? t.words.askForScope : t.words.needsScope)(scopeOf(permission))}</p>;
  const needed = [...rolesWith(permission).map((role) => t.roles[role]), ...postsWith(permission).map((post) => t.posts[post])];
  return <p class="note">{ask ? t.people.askForRole(needed.join(", ")) : t.people.needsRole(needed.join(", "))}</p>;
}
