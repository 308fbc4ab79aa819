package httpserver

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Site is a set of routes that can be listed. One table determines what it serves and
// what it lists.
type Site struct {
	table   map[string]http.Handler
	handler http.Handler
}

// NewSite serves a table of http.ServeMux patterns. If refuse is nil, errors are those of
// the mux.
func NewSite(table map[string]http.Handler, refuse ErrorWriter) *Site {
	mux := http.NewServeMux()
	for pattern, handler := range table {
		mux.Handle(pattern, handler)
	}
	s := &Site{table: table, handler: mux}
	if refuse != nil {
		s.handler = Routes(mux, refuse)
	}
	return s
}

// ServeHTTP serves a request by its route.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Routes returns the patterns, sorted.
func (s *Site) Routes() []string { return slices.Sorted(maps.Keys(s.table)) }

// Routes serves a mux but replaces the mux's own responses (404, 405 and redirects to
// cleaned paths) with refusals, since http.ServeMux writes them as text. A path that
// needs cleaning is not found: 404.
func Routes(mux *http.ServeMux, refuse ErrorWriter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own, pattern := mux.Handler(r)
		if pattern != "" && clean(r) {
			mux.ServeHTTP(w, r)
			return
		}
		verdict := probe{header: http.Header{}}
		own.ServeHTTP(&verdict, r)
		if verdict.status == http.StatusMethodNotAllowed {
			w.Header()["Allow"] = verdict.header["Allow"]
			refuse(w, r, http.StatusMethodNotAllowed)
			return
		}
		refuse(w, r, http.StatusNotFound)
	})
}

// clean reports whether the mux would accept the path as it is, without redirecting the
// client to another spelling. (A trailing slash is part of a path.)
func clean(r *http.Request) bool {
	spelled := strings.TrimSuffix(r.URL.EscapedPath(), "/")
	return spelled == "" || path.Clean(spelled) == spelled
}

// probe records the mux's own response and discards its text.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) WriteHeader(status int)      { p.status = status }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
