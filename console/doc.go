// Package console serves the pages that people look at in a browser: a map of
// the network, and what operators and staff do with it. The pages are built
// from src into dist, which is committed and embedded, so that building Beacon
// needs no Node.js. It is no interface of its own: what the pages know, they
// ask of /v1 and /api/v1 like any other client. Its one invariant: a page runs
// scripts and takes styles from this server's own files and from nowhere else.
package console
