// Package preview serves the read-only preview API over a fixed dataset of 78 hotspots
// in New York City, for app developers to try with a demo key. It stands alone, with its
// own types, dataset, key check, errors and OpenAPI document, and uses nothing of the
// live network. Its one invariant: a response depends only on the request, since all
// data is loaded and encoded when the process starts and never changes.
//
//	curl -H 'x-api-key: svc_test_abc123' 'http://127.0.0.1:8080/api/v1/hotspots?limit=2'
package preview
