package preview

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// answer is a response that was encoded when the process started.
type answer struct {
	body []byte
	head []headerField
}

type headerField struct {
	name   string // in canonical form
	values []string
}

// Header values are shared between responses: net/http only reads them.
var (
	jsonType = []string{"application/json; charset=utf-8"}
	yamlType = []string{"application/yaml; charset=utf-8"}
	svgType  = []string{"image/svg+xml"}

	noSniff   = []string{"nosniff"}
	noContent = []string{"default-src 'none'; frame-ancestors 'none'"} // a response is data, never a page
	noStore   = []string{"no-store"}

	// The dataset is fixed, so a client may cache it. A shared cache may not, or it
	// would serve clients without a key.
	keepPrivately = []string{"private, max-age=3600"}
	keepOpenly    = []string{"public, max-age=3600"}
	varyByKey     = []string{"X-Api-Key"}

	allowOrigin   = []string{"*"}
	allowHeaders  = []string{"x-api-key, content-type"}
	allowMethods  = []string{"GET, OPTIONS"}
	exposeHeaders = []string{"ETag, X-Request-Id"}
	preflightAge  = []string{"86400"}
)

// newAnswer prepares a body with its strong entity tag.
func newAnswer(contentType, caching []string, body []byte) *answer {
	sum := sha256.Sum256(body)
	return &answer{body: body, head: []headerField{
		{"Content-Type", contentType},
		{"Cache-Control", caching},
		{"Etag", []string{`"` + hex.EncodeToString(sum[:12]) + `"`}},
	}}
}

func (a *answer) write(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for _, f := range a.head {
		h[f.name] = f.values
	}
	writeTagged(w, r, a.body)
}

// writeTagged sends the body, or 304 to a client that has it. The caller has set all
// headers.
func writeTagged(w http.ResponseWriter, r *http.Request, body []byte) {
	h := w.Header()
	if known := r.Header["If-None-Match"]; len(known) > 0 && hasTag(known, h["Etag"][0]) {
		delete(h, "Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // the client may have left; that is not our fault
}

// hasTag reports whether If-None-Match names the tag, with the weak comparison of RFC
// 9110 §13.1.2. Our tags contain no comma, so splitting at commas is exact.
func hasTag(lines []string, tag string) bool {
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

// setCommonHeaders sets the headers of every response, including errors: without the
// first three a browser would hide the error itself from its page (decision P2).
func setCommonHeaders(h http.Header) {
	h["Access-Control-Allow-Origin"] = allowOrigin
	h["Access-Control-Allow-Headers"] = allowHeaders
	h["Access-Control-Allow-Methods"] = allowMethods
	h["Access-Control-Expose-Headers"] = exposeHeaders
	h["X-Content-Type-Options"] = noSniff
	h["Content-Security-Policy"] = noContent
	h["Vary"] = varyByKey
}
