package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// File is a file that is ready to be served.
type File struct {
	route   string
	kind    []string // Content-Type
	caching []string
	plain   variant
	zipped  func() variant // made once, on first use
}

// variant is a file in one encoding.
type variant struct {
	body   []byte
	tag    string
	length []string
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

	gzipped        = []string{"gzip"}
	varyByEncoding = []string{"Accept-Encoding"}
)

// New returns a file with the given body, which must not change afterwards. The route
// names it in logs and metrics; caching is KeepForever or AlwaysAsk.
func New(route, kind string, body []byte, caching []string) *File {
	sum := sha256.Sum256(body)
	name := hex.EncodeToString(sum[:12])
	return &File{
		route: route, kind: []string{kind}, caching: caching,
		plain:  newVariant(body, `"`+name+`"`),
		zipped: sync.OnceValue(func() variant { return newVariant(compress(body), `"`+name+`-gzip"`) }),
	}
}

// Route returns the name of the file in logs and metrics.
func (f *File) Route() string { return f.route }

func newVariant(body []byte, tag string) variant {
	return variant{body, tag, []string{strconv.Itoa(len(body))}}
}

// compress cannot fail: it writes to memory, at a valid level.
func compress(body []byte) []byte {
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	_, _ = z.Write(body)
	_ = z.Close()
	return buf.Bytes()
}

// Write responds to a GET or HEAD with the file.
func (f *File) Write(w http.ResponseWriter, r *http.Request) {
	r.Pattern = f.route
	v, h := f.plain, w.Header()
	h["Vary"] = varyByEncoding
	h["Cache-Control"] = f.caching
	zipped := takesGzip(r.Header["Accept-Encoding"])
	if zipped {
		v = f.zipped()
	}
	h["Etag"] = []string{v.tag}
	if HasTag(r.Header["If-None-Match"], v.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if zipped {
		h["Content-Encoding"] = gzipped
	}
	h["Content-Type"] = f.kind
	h["Content-Length"] = v.length
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(v.body) // the client may have left; that is not our fault
	}
}

// takesGzip reports whether Accept-Encoding names gzip and does not refuse it.
func takesGzip(lines []string) bool {
	for _, line := range lines {
		for coding := range strings.SplitSeq(line, ",") {
			name, quality, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";q=")
			if strings.EqualFold(name, "gzip") {
				q, err := strconv.ParseFloat(quality, 64)
				return quality == "" || err == nil && q > 0
			}
		}
	}
	return false
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
