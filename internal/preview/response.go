package preview

import (
	"fmt"
	"net/http"

	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

// fixed is a response that was encoded when the process started.
type fixed struct {
	route                string
	contentType, caching []string // header values
	body                 *coding.Once
}

// Header values are shared between responses: net/http only reads them.
var (
	jsonType = []string{"application/json; charset=utf-8"}
	yamlType = []string{"application/yaml; charset=utf-8"}
	svgType  = []string{"image/svg+xml"}

	noStore = []string{"no-store"}

	// The dataset is fixed, so a client may cache it. A shared cache may not, or it
	// would serve clients without a key.
	keepPrivately = []string{"private, max-age=3600"}
	keepOpenly    = []string{"public, max-age=3600"}
	varyByKey     = []string{"X-Api-Key, Accept-Encoding"}

	allowOrigin   = []string{"*"}
	allowHeaders  = []string{"x-api-key, content-type"}
	allowMethods  = []string{"GET, OPTIONS"}
	exposeHeaders = []string{"ETag, X-Request-Id"}
	preflightAge  = []string{"86400"}
)

// newFixed prepares a body with its strong entity tag.
func newFixed(route string, contentType, caching []string, body []byte) *fixed {
	return &fixed{route, contentType, caching, coding.NewOnce(body)}
}

func (f *fixed) write(w http.ResponseWriter, r *http.Request) {
	r.Pattern = f.route
	h := w.Header()
	h["Content-Type"] = f.contentType
	h["Cache-Control"] = f.caching
	v := f.body.For(r.Header["Accept-Encoding"])
	if h["Etag"] = v.Tag; !notModified(w, r) {
		v.SetHeader(h)
		write(w, v.Body)
	}
}

// notModified responds with 304 to a client that has the body. The caller has set all
// headers that describe more than the body.
func notModified(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	if known := r.Header["If-None-Match"]; len(known) == 0 || !static.HasTag(known, h["Etag"][0]) {
		return false
	}
	delete(h, "Content-Type")
	w.WriteHeader(http.StatusNotModified)
	return true
}

func write(w http.ResponseWriter, body []byte) {
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // the client may have left; that is not our fault
}

// setCommonHeaders sets the headers of every response, including errors: without the
// first three a browser would hide the error itself from its page (decision P2).
func setCommonHeaders(h http.Header) {
	h["Access-Control-Allow-Origin"] = allowOrigin
	h["Access-Control-Allow-Headers"] = allowHeaders
	h["Access-Control-Allow-Methods"] = allowMethods
	h["Access-Control-Expose-Headers"] = exposeHeaders
	httpserver.MarkAsData(h)
	h["Vary"] = varyByKey
}

// failure is the body of every error. On 405 the message is absent.
type failure struct {
	Error   string `json:"error"`
	Message string `json:"message,omitempty"`
}

// fail responds with an error.
func fail(w http.ResponseWriter, status int, f failure) {
	body, err := httpserver.EncodeJSON(f)
	if err != nil {
		panic(err) // cannot happen: it holds two strings
	}
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func (a *API) unauthorized(w http.ResponseWriter) {
	fail(w, http.StatusUnauthorized, failure{"Unauthorized", fmt.Sprintf(
		"The API key is invalid or missing: send the header x-api-key with a key that begins with %s or %s, followed by at least %d letters or digits.",
		a.key.test, a.key.live, minKeyLetters)})
}

func noHotspot(w http.ResponseWriter, id string) {
	fail(w, http.StatusNotFound, failure{"Not found", fmt.Sprintf("There is no hotspot with the id %s.", shown(id))})
}

func noPath(w http.ResponseWriter, path string) {
	fail(w, http.StatusNotFound, failure{"Not found", fmt.Sprintf("There is nothing at %s.", shown(path))})
}

func methodNotAllowed(w http.ResponseWriter) {
	if h := w.Header(); h["Allow"] == nil { // paths outside this API may allow other methods
		h["Allow"] = allowMethods
	}
	fail(w, http.StatusMethodNotAllowed, failure{Error: "Method not allowed"})
}

// Refuse writes the errors that are decided outside this package, in its format.
func (a *API) Refuse(w http.ResponseWriter, r *http.Request, status int) {
	setCommonHeaders(w.Header())
	switch status {
	case http.StatusNotFound:
		noPath(w, r.URL.Path)
	case http.StatusMethodNotAllowed:
		methodNotAllowed(w)
	case http.StatusRequestURITooLong:
		fail(w, status, failure{"URI too long", fmt.Sprintf("The request's URL is longer than %d bytes.", httpserver.MaxURLBytes)})
	case http.StatusRequestHeaderFieldsTooLarge:
		fail(w, status, failure{"Headers too large", fmt.Sprintf("The request line and headers are longer than %d bytes.", httpserver.MaxHeaderBytes)})
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
		fail(w, status, failure{"Overloaded", "There is more to do than the service can. Please try again in a second."})
	default:
		fail(w, status, failure{"Internal error", "Something went wrong on our side. Please try again."})
	}
}

// shown shortens a client's text to a length fit for a message.
func shown(text string) string { return httpserver.Shorten(text, 64) }
