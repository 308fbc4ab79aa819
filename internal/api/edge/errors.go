package edge

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

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
	beacon.UsedUp:           {http.StatusForbidden, "enrolments_used_up"},
}

// Fail is the only place where an error becomes a response. The cause of an internal
// error goes only to the log.
func (e *Edge) Fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(r.Context().Err(), context.Canceled) && !isAboutBody(err) {
		// The client is gone: nobody reads the response, and nothing is wrong here.
		w.WriteHeader(statusClientGone)
		return
	}
	failure := Classify(err)
	if failure.Kind == beacon.Internal || failure.Kind == beacon.Overloaded {
		e.Log.Error("request failed", "request_id", httpserver.RequestID(w), "route", httpserver.Route(r), "err", err)
	}
	e.AnswerFailure(w, r, failure)
}

// AnswerFailure writes an error response. The caller has logged it if necessary.
func (e *Edge) AnswerFailure(w http.ResponseWriter, r *http.Request, err *beacon.Error) {
	if err.Kind == beacon.Internal {
		err = &beacon.Error{Message: "something went wrong on our side; try again, with the same Idempotency-Key if you sent one"}
	}
	h := w.Header()
	if err.Kind == beacon.Unauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if err == beacon.ErrSignInAgain {
		h.Set("Beacon-Sign-In", "fresh")
	}
	if err.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(wholeSeconds(err.RetryAfter)))
	}
	status, body := ShowFailure(err)
	e.writeFault(w, r, status, body)
}

// ShowFailure returns the status and the body of a failure.
func ShowFailure(err *beacon.Error) (status int, body client.ErrorBody) {
	body = client.ErrorBody{Code: kinds[err.Kind].code, Message: err.Message}
	for _, f := range err.Fields {
		body.Details = append(body.Details, client.FieldError{Field: f.Field, Message: f.Message})
	}
	return kinds[err.Kind].status, body
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

// Classify returns the error with its kind. A request that ran out of time is not the
// client's fault, and a retry may help.
func Classify(err error) *beacon.Error {
	if e, ok := errors.AsType[*beacon.Error](err); ok {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &beacon.Error{Kind: beacon.Overloaded, Message: "this took too long; try again", RetryAfter: time.Second, Err: err}
	}
	return &beacon.Error{Kind: beacon.Internal, Err: err}
}

func KindOf(err error) beacon.Kind { return Classify(err).Kind }

func (e *Edge) writeFault(w http.ResponseWriter, r *http.Request, status int, body client.ErrorBody) {
	h := w.Header()
	h["Cache-Control"] = NoStore
	h["Vary"] = e.VaryForm
	if Wants(r, asProblem) {
		writeProblem(w, status, body, e.Meta(w))
		return
	}
	httpserver.WriteBody(w, status, Must(EncodeJSON(client.ErrorResponse{Error: body, Meta: e.Meta(w)}))) // it holds only strings
}

// Refuse writes the errors for requests that reach no endpoint.
func (e *Edge) Refuse(w http.ResponseWriter, r *http.Request, status int) {
	httpserver.MarkAsData(w.Header())
	e.CORS.mark(w.Header(), r)
	e.Limits.ShowFailures(w.Header(), r, time.Now())
	switch status {
	case http.StatusNotFound:
		e.AnswerFailure(w, r, &beacon.Error{Kind: beacon.NotFound, Message: "there is nothing at this path"})
	case http.StatusMethodNotAllowed:
		e.writeFault(w, r, status, client.ErrorBody{Code: "method_not_allowed", Message: "use one of " + w.Header().Get("Allow")})
	case http.StatusRequestURITooLong:
		e.AnswerFailure(w, r, &beacon.Error{Kind: beacon.InvalidRequest, Message: "the URL is longer than " + strconv.Itoa(httpserver.MaxURLBytes) + " bytes"})
	case http.StatusRequestHeaderFieldsTooLarge:
		e.writeFault(w, r, status, client.ErrorBody{Code: "headers_too_large", Message: "the request line and headers are longer than " + strconv.Itoa(httpserver.MaxHeaderBytes) + " bytes"})
	case http.StatusServiceUnavailable:
		// Not logged: there are thousands while the service starts or is overloaded.
		wait := time.Second
		if IsHeartbeat(r) {
			wait = telemetry.RetryAfter()
		}
		e.AnswerFailure(w, r, &beacon.Error{Kind: beacon.Overloaded, Message: "the service is starting or overloaded; try again", RetryAfter: wait})
	default:
		e.Fail(w, r, errors.New(http.StatusText(status)))
	}
}

var (
	asProblem   = form{"application", "problem+json", nil}
	problemType = []string{"application/problem+json"}
)

// writeProblem responds with a problem. The type "about:blank" means that the status says
// what kind of problem it is.
func writeProblem(w http.ResponseWriter, status int, body client.ErrorBody, m client.Meta) {
	encoded := Must(EncodeJSON(client.Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: body.Message, Code: body.Code, Details: body.Details, Meta: m,
	}))
	WriteAs(w, status, problemType, encoded)
}
