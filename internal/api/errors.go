package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// fault is the body of every error response (decision N1).
type fault struct {
	Error faultBody `json:"error"`
	Meta  meta      `json:"meta"`
}

type faultBody struct {
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Details []faultDetail `json:"details,omitempty"`
}

type faultDetail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// kinds maps each kind of error to its status and code.
var kinds = map[beacon.Kind]struct {
	status int
	code   string
}{
	beacon.Internal:         {http.StatusInternalServerError, "internal_error"},
	beacon.InvalidRequest:   {http.StatusBadRequest, "invalid_request"},
	beacon.MissingParameter: {http.StatusBadRequest, "missing_parameter"},
	beacon.Unauthorized:     {http.StatusUnauthorized, "unauthorized"},
	beacon.Forbidden:        {http.StatusForbidden, "forbidden"},
	beacon.NotFound:         {http.StatusNotFound, "not_found"},
	beacon.Conflict:         {http.StatusConflict, "conflict"},
	beacon.TooSlow:          {http.StatusRequestTimeout, "request_timeout"},
	beacon.RateLimited:      {http.StatusTooManyRequests, "rate_limit_exceeded"},
	beacon.TooLarge:         {http.StatusRequestEntityTooLarge, "payload_too_large"},
	beacon.UnsupportedMedia: {http.StatusUnsupportedMediaType, "unsupported_media_type"},
	beacon.Overloaded:       {http.StatusServiceUnavailable, "overloaded"},
}

// Fail responds with an error, in the form of this API.
func (a *API) Fail(w http.ResponseWriter, r *http.Request, err error) { a.fail(w, r, err) }

// fail is the only place where an error becomes a response. The cause of an internal
// error goes only to the log.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(r.Context().Err(), context.Canceled) && !isAboutBody(err) {
		// The client is gone: nobody reads the response, and nothing is wrong here.
		w.WriteHeader(statusClientGone)
		return
	}
	e := classify(err)
	if e.Kind == beacon.Internal || e.Kind == beacon.Overloaded {
		a.log.Error("request failed", "request_id", httpserver.RequestID(w), "route", httpserver.Route(r), "err", err)
	}
	a.answerFailure(w, r, e)
}

// answerFailure writes an error response. The caller has logged it if necessary.
func (a *API) answerFailure(w http.ResponseWriter, r *http.Request, e *beacon.Error) {
	if e.Kind == beacon.Internal {
		e = &beacon.Error{Message: "something went wrong on our side; try again, with the same Idempotency-Key if you sent one"}
	}
	h := w.Header()
	if e.Kind == beacon.Unauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(wholeSeconds(e.RetryAfter)))
	}
	body := faultBody{Code: kinds[e.Kind].code, Message: e.Message}
	for _, f := range e.Fields {
		body.Details = append(body.Details, faultDetail{f.Field, f.Message})
	}
	a.writeFault(w, r, kinds[e.Kind].status, body)
}

// isAboutBody reports whether the request body caused the error. If a body does not
// arrive in full, the client may still be waiting for a response, whatever the context
// says.
func isAboutBody(err error) bool {
	_, ok := errors.AsType[*httpserver.BodyError](err)
	return ok
}

// statusClientGone appears only in the log and the metrics.
const statusClientGone = 499

// classify returns the error with its kind. A request that ran out of time is not the
// client's fault, and a retry may help.
func classify(err error) *beacon.Error {
	if e, ok := errors.AsType[*beacon.Error](err); ok {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &beacon.Error{Kind: beacon.Overloaded, Message: "this took too long; try again", RetryAfter: time.Second, Err: err}
	}
	return &beacon.Error{Kind: beacon.Internal, Err: err}
}

func kindOf(err error) beacon.Kind { return classify(err).Kind }

func (a *API) writeFault(w http.ResponseWriter, r *http.Request, status int, body faultBody) {
	h := w.Header()
	h["Cache-Control"] = noStore
	h["Vary"] = a.varyForm
	var err error
	if wants(r, asProblem) {
		err = writeProblem(w, status, body, a.meta(w))
	} else {
		err = httpserver.WriteJSON(w, status, fault{Error: body, Meta: a.meta(w)})
	}
	if err != nil {
		panic(err) // cannot happen: it holds only strings
	}
}

// Refuse writes the errors for requests that reach no endpoint.
func (a *API) Refuse(w http.ResponseWriter, r *http.Request, status int) {
	httpserver.MarkAsData(w.Header())
	a.cors.mark(w.Header(), r)
	a.limits.showFailures(w.Header(), r, time.Now())
	switch status {
	case http.StatusNotFound:
		a.answerFailure(w, r, &beacon.Error{Kind: beacon.NotFound, Message: "there is nothing at this path"})
	case http.StatusMethodNotAllowed:
		a.writeFault(w, r, status, faultBody{Code: "method_not_allowed", Message: "use one of " + w.Header().Get("Allow")})
	case http.StatusRequestURITooLong:
		a.answerFailure(w, r, &beacon.Error{Kind: beacon.InvalidRequest, Message: "the URL is longer than " + strconv.Itoa(httpserver.MaxURLBytes) + " bytes"})
	case http.StatusRequestHeaderFieldsTooLarge:
		a.writeFault(w, r, status, faultBody{Code: "headers_too_large", Message: "the request line and headers are longer than " + strconv.Itoa(httpserver.MaxHeaderBytes) + " bytes"})
	case http.StatusServiceUnavailable:
		// Not logged: there are thousands while the service starts or is overloaded.
		wait := time.Second
		if IsHeartbeat(r) {
			wait = telemetry.RetryAfter()
		}
		a.answerFailure(w, r, &beacon.Error{Kind: beacon.Overloaded, Message: "the service is starting or overloaded; try again", RetryAfter: wait})
	default:
		a.fail(w, r, errors.New(http.StatusText(status)))
	}
}

// problem is the body of an error response for clients that prefer RFC 9457. Beside the
// standard members, it has those of a fault.
type problem struct {
	Type    string        `json:"type"`
	Title   string        `json:"title"`
	Status  int           `json:"status"`
	Detail  string        `json:"detail"`
	Code    string        `json:"code"`
	Details []faultDetail `json:"details,omitempty"`
	Meta    meta          `json:"meta"`
}

var (
	asProblem   = form{"application", "problem+json", nil}
	problemType = []string{"application/problem+json"}
)

// writeProblem responds with a problem. The type "about:blank" means that the status says
// what kind of problem it is.
func writeProblem(w http.ResponseWriter, status int, body faultBody, m meta) error {
	encoded, err := httpserver.EncodeJSON(problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: body.Message, Code: body.Code, Details: body.Details, Meta: m,
	})
	if err != nil {
		return err
	}
	writeAs(w, status, problemType, encoded)
	return nil
}
