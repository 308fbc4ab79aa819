// Package torture hurts real servers and looks whether they kept their
// promises: it holds tests alone. Each fault (F1–F26) has a test of its name,
// which drives load over HTTP, notes what became of every operation, does the
// damage, starts the server again and holds what is there to the invariants
// (I1–I14). docs/reliability.md lists both. Its one invariant: each fault has a
// mutant, a binary that was broken on purpose, and the test of that fault fails
// on it.
//
// "make test" runs most of it in few rounds, "make torture" all of it in many,
// and "make mutants" the tests of each fault on broken binaries.
package torture
