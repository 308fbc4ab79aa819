// What happens once a person is signed in, by whichever door.
import { ask } from "./api";
import type { Begun, Person } from "./people";
import { go, route } from "./router";
import { session } from "./session";

/** Where someone begins who came through a door. */
export function firstPage(): string {
  return (session.person?.posts.length ?? 0) > 0 || (session.who.value?.key && session.may("overview")) ? "/staff" : "/hotspots";
}

const doors = ["sign-in", "enter", "oidc"];

/** Begins the session. Who was asked to sign in on the way to a page goes on there. */
export function arrive({ person }: Begun): void {
  session.enter(person);
  if (doors.includes(route.value.page)) go(firstPage());
}

/** Takes in what became of whoever is signed in. */
export async function refresh(): Promise<void> {
  if (session.person) session.enter((await ask<Person>("/v1/people/me")).data);
}
