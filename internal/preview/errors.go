package preview

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/beacon-wifi/beacon/internal/httpserver"
)

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
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
		fail(w, status, failure{"Overloaded", "There is more to do than the service can. Please try again in a second."})
	default:
		fail(w, status, failure{"Internal error", "Something went wrong on our side. Please try again."})
	}
}

const maxShown = 64

// shown truncates a client's text to a length fit for a message. Invalid UTF-8 is
// replaced: JSON could not carry it.
func shown(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	count := 0
	for i := range text {
		if count == maxShown {
			return text[:i] + "…"
		}
		count++
	}
	return text
}
