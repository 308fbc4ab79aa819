package web

import (
	"net/http"
	"path"
	"strings"
)

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
