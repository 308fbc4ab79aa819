package bench

import "testing"

const demoKey = "X-Api-Key: svc_test_demo01"

// A list answer of the preview. The target is 1.15 × the bare handler.
func BenchmarkPreviewList(b *testing.B) {
	for _, tc := range []struct{ name, path string }{
		{"default", "/api/v1/hotspots"},
		{"filtered", "/api/v1/hotspots?risk=low&network=WiFi%206&limit=20"},
		{"search", "/api/v1/hotspots?search=library&limit=20"},
	} {
		b.Run(tc.name, func(b *testing.B) {
			compare(b, serveBeacon(b), []string{get(tc.path, demoKey)})
		})
	}
}
