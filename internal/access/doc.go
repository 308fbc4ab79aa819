// Package access says who a request acts for: it mints API keys, verifies them,
// and lets their owners list and revoke them. It does not know HTTP, and it does
// not ask whether a key's scopes suffice for a route: the table of routes does
// that. Here it is decided whose keys are whose, and that no key hands on more
// than it has.
//
// Its one invariant: whatever is wrong with a key — unknown, revoked, expired,
// malformed, forged — its bearer learns only that it does not open, and a
// database that is away is never mistaken for such a key.
package access
