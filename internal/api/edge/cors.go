package edge

import (
	"net/http"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// cors lets pages of other origins use the API (decision D107). The console's cookie does
// not count from there (see fromOwnPage), so a page can do nothing that its own key does not
// permit. A nil cors allows no other origin and adds no header.
type cors struct {
	allowed map[string][]string // each origin as a header value
	all     []string            // the header value for any origin; nil: only those in allowed
}

// AllOrigins stands for every origin.
const AllOrigins = "*"

// ParseOrigins reads the origins whose pages may use the API: some, AllOrigins or none.
func ParseOrigins(texts []string) (origins []string, err error) {
	for _, text := range texts {
		if text != AllOrigins {
			if text, err = beacon.ParseOrigin(text); err != nil {
				return nil, err
			}
		}
		origins = append(origins, text)
	}
	return origins, nil
}

// newCORS returns nil if no origin is allowed.
func newCORS(origins []string) *cors {
	if len(origins) == 0 {
		return nil
	}
	c := &cors{allowed: map[string][]string{}}
	for _, origin := range origins {
		c.allowed[origin] = []string{origin}
	}
	c.all = c.allowed[AllOrigins]
	return c
}

// Header values are shared between responses.
var (
	varyOrigin     = []string{"Origin"}
	exposedHeaders = []string{strings.Join([]string{
		"Content-Disposition", "ETag", "Idempotency-Replayed", "Location", "RateLimit", "RateLimit-Limit", "RateLimit-Policy",
		"RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "X-Request-Id",
	}, ", ")}
	allowedMethods = []string{"GET, HEAD, POST, PUT, PATCH, DELETE"}
	allowedHeaders = []string{strings.Join([]string{
		"Accept", "Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID", "traceparent", "tracestate",
	}, ", ")}
	preflightAge = []string{"86400"} // browsers keep it for at most a day, some for two hours
)

// varies returns a value of Vary, with Origin if responses depend on it.
func (c *cors) varies(by string) []string {
	if c == nil || c.all != nil {
		return []string{by}
	}
	return []string{by + ", Origin"}
}

// mark sets the headers of a response, including errors: without them a browser hides the
// response from its page. It reports whether the request is from an allowed origin.
func (c *cors) mark(h http.Header, r *http.Request) bool {
	if c == nil {
		return false
	}
	if c.all == nil && h["Vary"] == nil {
		h["Vary"] = varyOrigin
	}
	origin := r.Header["Origin"]
	if len(origin) != 1 {
		return false
	}
	allowed := c.all
	if allowed == nil {
		allowed = c.allowed[origin[0]]
	}
	if allowed == nil {
		return false
	}
	h["Access-Control-Allow-Origin"] = allowed
	h["Access-Control-Expose-Headers"] = exposedHeaders
	return true
}

// isPreflight reports whether a browser asks whether it may send a request.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && len(r.Header["Access-Control-Request-Method"]) == 1
}

// allowPreflight tells a browser to go ahead. It does so for every path: a page must be
// able to see that a path does not exist.
func allowPreflight(w http.ResponseWriter) {
	h := w.Header()
	h["Access-Control-Allow-Methods"] = allowedMethods
	h["Access-Control-Allow-Headers"] = allowedHeaders
	h["Access-Control-Max-Age"] = preflightAge
	h["Cache-Control"] = NoStore
	w.WriteHeader(http.StatusNoContent)
}

// Preflight sets the headers for pages of other origins. It reports whether that was all
// that a browser asked for.
func (e *Edge) Preflight(w http.ResponseWriter, r *http.Request) bool {
	if !e.CORS.mark(w.Header(), r) || !isPreflight(r) {
		return false
	}
	e.Limits.ShowFailures(w.Header(), r, time.Now())
	allowPreflight(w)
	return true
}
