// Package console serves the web pages: a map of the network, and what operators and
// staff do with it. The pages are built from src into dist, which is committed and
// embedded, so that building Beacon needs no Node.js. It has no API of its own: the
// pages use /v1 and /api/v1 like any other client.
//
// Its one invariant: a page loads scripts and styles only from this server's own
// files.
package console
