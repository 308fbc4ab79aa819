// Package static serves files that are part of the program: with a type, an entity tag,
// compressed if accepted, and headers that restrict what a page can do. It does not know what
// is in the files, nor where they come from. Its one invariant: the bytes and the tag of
// a file never change.
package static

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
)

// File is a file that is ready to be served.
type File struct {
	route   string
	kind    []string // Content-Type
	caching []string
	body    *coding.Once
}

// Page is the content type of an HTML page.
const Page = "text/html; charset=utf-8"

// types maps file extensions to content types.
var types = map[string]string{
	".js":      "text/javascript; charset=utf-8",
	".mjs":     "text/javascript; charset=utf-8",
	".css":     "text/css; charset=utf-8",
	".json":    "application/json; charset=utf-8",
	".geojson": "application/geo+json; charset=utf-8",
	".svg":     "image/svg+xml; charset=utf-8",
	".txt":     "text/plain; charset=utf-8",
}

// TypeOf returns the content type for a file name.
func TypeOf(name string) (kind string, known bool) {
	kind, known = types[path.Ext(name)]
	return kind, known
}

var (
	// KeepForever is for a file whose name changes with its content.
	KeepForever = []string{"public, max-age=31536000, immutable"}
	// AlwaysAsk is for a page, which names the files of the running version.
	AlwaysAsk = []string{"no-cache"}

	varyByEncoding = []string{"Accept-Encoding"}
)

// New returns a file with the given body, which must not change afterwards. The route
// names it in logs and metrics; caching is KeepForever or AlwaysAsk.
func New(route, kind string, body []byte, caching []string) *File {
	return &File{route: route, kind: []string{kind}, caching: caching, body: coding.NewOnce(body)}
}

// Route returns the name of the file in logs and metrics.
func (f *File) Route() string { return f.route }

// Write responds to a GET or HEAD with the file.
func (f *File) Write(w http.ResponseWriter, r *http.Request) {
	r.Pattern = f.route
	v, h := f.body.For(r.Header["Accept-Encoding"]), w.Header()
	h["Vary"] = append(slices.Clip(h["Vary"]), varyByEncoding...)
	h["Cache-Control"] = f.caching
	h["Etag"] = v.Tag
	if HasTag(r.Header["If-None-Match"], v.Tag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	v.SetHeader(h)
	h["Content-Type"] = f.kind
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(v.Body) // the client may have left; that is not our fault
	}
}

// HasTag reports whether If-None-Match names the tag, with the weak comparison of RFC
// 9110 §13.1.2. Our tags contain no comma, so splitting at commas is exact.
func HasTag(lines []string, tag string) bool {
	for _, line := range lines {
		for candidate := range strings.SplitSeq(line, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
				return true
			}
		}
	}
	return false
}
