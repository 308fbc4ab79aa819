// Package endtoend holds tests alone: they build the real binary, run it as its
// users do, on both databases, and hurt it: kill, freeze, cut off, fill up,
// flood. It is not the place for rules of an interface, which the package of
// that interface tests faster. They need Linux, for what they do to processes.
//
// Its one invariant: whatever is done to a server, what it acknowledged is
// there afterwards, what it refused is not, and its log holds no secret.
package endtoend
