// Package preview is the read-only interface over a fixed dataset of 78
// hotspots in New York City, for app developers to try with a demo key. It
// stands alone: its own types, dataset, key check, errors and OpenAPI document,
// and nothing of the live network. Its one invariant: an answer depends on the
// request alone, since everything is loaded and encoded when the process starts
// and never changes.
package preview
