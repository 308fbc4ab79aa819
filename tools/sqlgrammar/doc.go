// Package sqlgrammar holds the SQL of the store to CockroachDB's grammar and
// keeps out of it what distributed engines lack. It has nothing but tests, in a
// module of its own: the parser brings hundreds of modules that the server must
// not depend on.
package sqlgrammar
