package httpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// EncodeJSON returns v as one line of JSON. Angle brackets are not escaped: responses
// are never HTML, and say so.
func EncodeJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// Shorten returns the first letters of a client's text, for a message. Invalid UTF-8
// is replaced: JSON could not carry it.
func Shorten(text string, most int) string {
	letters := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	if len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return string(letters)
}

// WriteJSON responds with v. It encodes before it writes the status, so that a value that
// cannot be encoded is an error and never half a response.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	body, err := EncodeJSON(v)
	if err != nil {
		return err
	}
	WriteBody(w, status, body)
	return nil
}

// buffered is how much of a body net/http buffers to determine its length.
const buffered = 2 << 10

// WriteBody responds with encoded JSON. It sets the Content-Length of a long body: a
// server determines that itself only for a short one.
func WriteBody(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	if len(body) > buffered && h["Content-Length"] == nil {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have left; that is not our fault
}

// MarkAsData marks a response as data, never a page: if someone is tricked into opening
// it in a browser, nothing in it runs, loads or is shown in a frame.
func MarkAsData(h http.Header) {
	h["X-Content-Type-Options"] = noSniff
	h["Content-Security-Policy"] = noContent
}

// Header values are shared between responses: net/http only reads them.
var (
	jsonType  = []string{"application/json"} // JSON has no charset (decision D102)
	noSniff   = []string{"nosniff"}
	noContent = []string{"default-src 'none'; frame-ancestors 'none'"}
)

// BodyError says why a request's body was refused.
type BodyError struct {
	Status  int    // 400, 408, 413 or 415
	Pointer string // location in the body, as a JSON pointer; empty for the whole
	Message string // safe to show
}

func (e *BodyError) Error() string { return e.Message }

// ReadJSONObject reads a request's body. It refuses everything but a single JSON object
// in UTF-8, without duplicate names or trailing data, of at most maxBytes and nested at
// most maxDepth deep. Its media type is application/json or one of some others. The
// meaning of its members is up to the caller. The error is always a *BodyError.
func ReadJSONObject(w http.ResponseWriter, r *http.Request, maxBytes int64, maxDepth int, others ...string) ([]byte, error) {
	const usual = "application/json"
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != usual && !slices.Contains(others, media) || r.Header.Get("Content-Encoding") != "" {
		return nil, &BodyError{
			Status:  http.StatusUnsupportedMediaType,
			Message: "send the body as Content-Type: " + strings.Join(append([]string{usual}, others...), " or ") + ", without Content-Encoding",
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		// MaxBytesReader does this too, but only on net/http's own writer.
		w.Header()["Connection"] = closeConnection
		return nil, &BodyError{
			Status:  http.StatusRequestEntityTooLarge,
			Message: fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit),
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, &BodyError{Status: http.StatusRequestTimeout, Message: "the body did not arrive in time"}
	}
	if err != nil {
		return nil, badBody("", "the body could not be read to its end")
	}
	return body, checkObject(body, maxDepth)
}

// checkObject checks the tokens of a body. The tokenizer itself refuses invalid UTF-8,
// lone surrogates and duplicate names.
func checkObject(body []byte, maxDepth int) error {
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	if dec.PeekKind() != jsontext.KindBeginObject {
		return badBody("", "the body must be a JSON object")
	}
	for {
		switch _, err := dec.ReadToken(); {
		case err != nil:
			return syntaxFault(err)
		case dec.StackDepth() > maxDepth:
			return badBody(string(dec.StackPointer()), fmt.Sprintf("nested deeper than %d levels", maxDepth))
		case dec.StackDepth() == 0: // the object is complete
			if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
				return badBody("", "there is text after the JSON object")
			}
			return nil
		}
	}
}

func syntaxFault(err error) error {
	fault, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok:
		return badBody("", "the JSON is incomplete")
	case errors.Is(fault.Err, jsontext.ErrDuplicateName):
		return badBody(string(fault.JSONPointer), "duplicate name")
	default:
		return badBody(string(fault.JSONPointer), fmt.Sprintf("not valid JSON at byte %d", fault.ByteOffset))
	}
}

func badBody(pointer, message string) error {
	return &BodyError{Status: http.StatusBadRequest, Pointer: pointer, Message: message}
}
