package httpserver

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Site is a few routes that belong together, and can be listed: what it serves
// and what it lists is one table.
type Site struct {
	table   map[string]http.Handler
	handler http.Handler
}

// NewSite serves a table of patterns of http.ServeMux. Without a refuse, it
// answers as the mux does.
func NewSite(table map[string]http.Handler, refuse Refuse) *Site {
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

// ServeHTTP answers a request by the route that it is for.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Routes lists what is served.
func (s *Site) Routes() []string { return slices.Sorted(maps.Keys(s.table)) }

// Routes serves a mux whose own answers (404, 405 and the redirects to cleaned
// paths) are replaced by refusals: http.ServeMux writes those as text. A path
// that needs cleaning is simply not there: 404.
func Routes(mux *http.ServeMux, refuse Refuse) http.Handler {
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

// clean reports whether the mux would take the path as it is, without sending
// the client to another spelling of it. (A trailing slash is part of a path.)
func clean(r *http.Request) bool {
	spelled := strings.TrimSuffix(r.URL.EscapedPath(), "/")
	return spelled == "" || path.Clean(spelled) == spelled
}

// probe keeps what the mux would have answered, and drops the text of it.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) WriteHeader(status int)      { p.status = status }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
