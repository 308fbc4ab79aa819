// Package access says who a request acts for: it creates API keys, verifies them, and
// lets their owners list and revoke them. It does not know HTTP, and does not check
// whether a key's scopes suffice for a route: the table of routes does that. It
// decides who owns which key, and that no key grants more than it has.
//
// Its one invariant: whatever is wrong with a key — unknown, revoked, expired,
// malformed, forged — its bearer learns only that it is not valid, and a database
// failure is never mistaken for such a key.
package access
