package preview_test

import (
	"net/http"
	"testing"
)

// Decision P8: strong tags, 304 to those who have the answer already.
func TestETag(t *testing.T) {
	s := start(t)
	for _, path := range []string{
		"/api/v1/hotspots", "/api/v1/hotspots?search=park&limit=3", "/api/v1/hotspots?risk=none", "/api/v1/hotspots/7",
		"/api/v1/network/status", "/api/v1/openapi.yaml", "/api/v1/openapi.json", "/api/v1/images/7.svg",
	} {
		first := s.get(t, path)
		tag := first.Header.Get("ETag")
		if first.StatusCode != http.StatusOK || tag == "" || first.Header.Get("Cache-Control") == "" {
			t.Fatalf("%s answered %d, ETag %q, Cache-Control %q", path, first.StatusCode, tag, first.Header.Get("Cache-Control"))
		}
		for _, known := range []string{tag, "W/" + tag, `"other", ` + tag, "*", `"a","b",W/` + tag + `,"c"`} {
			again := s.get(t, path, "If-None-Match", known)
			if again.StatusCode != http.StatusNotModified || len(again.body) != 0 || again.Header.Get("ETag") != tag {
				t.Errorf("%s with If-None-Match %s answered %d, ETag %q", path, known, again.StatusCode, again.Header.Get("ETag"))
			}
			wantCORS(t, again)
		}
		for _, other := range []string{`"other"`, tag[1:], tag + "x", ""} {
			if again := s.get(t, path, "If-None-Match", other); again.StatusCode != http.StatusOK || string(again.body) != string(first.body) {
				t.Errorf("%s with If-None-Match %s answered %d", path, other, again.StatusCode)
			}
		}
	}
}

// Answers that differ have tags that differ, and the same answer the same tag.
func TestETag_TellsAnswersApart(t *testing.T) {
	s := start(t)
	bodies := map[string]string{} // by tag
	for _, query := range []string{
		"", "limit=20", "limit=21", "offset=1", "offset=77", "offset=78", "offset=79", "risk=low", "risk=high", "risk=none",
		"network=wifi%205", "search=park", "search=PARK", "search=library", "search=park&limit=3", "limit=3&offset=1", "limit=1&offset=3",
		"offset=9223372036854775807", "risk=high&limit=5", "risk=high&limit=6", "search=nothing+like+it",
		"limit=1", "limit=1&risk=low", "limit=1&risk=medium", "limit=1&risk=high", // one shows the record of the first, with another total
	} {
		a := s.get(t, "/api/v1/hotspots?"+query)
		tag := a.Header.Get("ETag")
		if other, seen := bodies[tag]; seen && other != string(a.body) {
			t.Errorf("?%s has the tag %s of another answer", query, tag)
		}
		bodies[tag] = string(a.body)
	}
	if len(bodies) != 22 {
		t.Errorf("%d tags; want 22: three of the queries ask for the same as others", len(bodies))
	}
}

// Where an error was, an answer may be tomorrow.
func TestErrorsAreNotKept(t *testing.T) {
	s := start(t)
	for _, a := range []answer{
		s.call(t, "GET", "/api/v1/hotspots"), s.get(t, "/api/v1/hotspots/79"), s.call(t, "POST", "/api/v1/hotspots"),
	} {
		if got := a.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%d has the Cache-Control %q", a.StatusCode, got)
		}
	}
}
