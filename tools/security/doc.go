// Package security looks at the project from outside: its tests run gosec and
// govulncheck over the sources, and search these, and all of their history, for
// keys. It is a module of its own, so that what these tools are made of stays
// apart from everything else. It is not where Beacon is kept safe: see
// docs/security.md for that.
package security
