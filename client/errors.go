package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is an error response.
type Error struct {
	Status     int           // HTTP status
	Code       string        // for programs, such as "not_found"; empty if it is not a Beacon server's
	Message    string        // for people
	Details    []FieldError  // every faulty field
	RequestID  string        // the id of the request in the server's log
	RetryAfter time.Duration // how long the server asks to wait; 0: not given
}

// FieldError is what is wrong with a field of a request.
type FieldError struct {
	Field   string `json:"field"` // its path, such as "location.lat"
	Message string `json:"message"`
}

// ErrorResponse is the body of an error response.
type ErrorResponse struct {
	Error ErrorBody `json:"error"`
	Meta  Meta      `json:"meta"`
}

// ErrorBody says what is wrong.
type ErrorBody struct {
	Code    string       `json:"code"`
	Message string       `json:"message"`
	Details []FieldError `json:"details,omitempty"`
}

// Problem is an error response in the form of RFC 9457, for clients that prefer that.
type Problem struct {
	Type    string       `json:"type"`
	Title   string       `json:"title"`
	Status  int          `json:"status"`
	Detail  string       `json:"detail"`
	Code    string       `json:"code"`
	Details []FieldError `json:"details,omitempty"`
	Meta    Meta         `json:"meta"`
}

// Error returns all of it, on one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the server answers %d", e.Status)
	if e.Code != "" {
		b.WriteString(" " + e.Code)
	}
	b.WriteString(": " + e.Message)
	var rest []string // of the details: a Beacon server's message has one that is alone
	for _, d := range e.Details {
		if text := d.Field + " " + d.Message; !strings.Contains(e.Message, text) {
			rest = append(rest, text)
		}
	}
	if len(rest) > 0 {
		b.WriteString(" (" + strings.Join(rest, ", ") + ")")
	}
	if e.RequestID != "" {
		b.WriteString(" [" + e.RequestID + "]")
	}
	return b.String()
}

// Errors of the server, for [errors.Is].
var (
	ErrInvalidRequest = errors.New("invalid_request") // also missing_parameter
	ErrUnauthorized   = errors.New("unauthorized")
	ErrForbidden      = errors.New("forbidden")
	ErrNotFound       = errors.New("not_found")
	ErrConflict       = errors.New("conflict")
	ErrTimeout        = errors.New("request_timeout") // the body did not arrive in time
	ErrRateLimited    = errors.New("rate_limit_exceeded")
	ErrOverloaded     = errors.New("overloaded")
)

var statuses = map[error]int{
	ErrInvalidRequest: http.StatusBadRequest,
	ErrUnauthorized:   http.StatusUnauthorized,
	ErrForbidden:      http.StatusForbidden,
	ErrNotFound:       http.StatusNotFound,
	ErrConflict:       http.StatusConflict,
	ErrTimeout:        http.StatusRequestTimeout,
	ErrRateLimited:    http.StatusTooManyRequests,
	ErrOverloaded:     http.StatusServiceUnavailable,
}

// Is makes errors.Is(err, ErrNotFound) true for a 404, and so on.
func (e *Error) Is(target error) bool {
	status, known := statuses[target]
	return known && status == e.Status
}

// asksForPatience reports whether a later retry may succeed.
func (e *Error) asksForPatience() bool {
	return e.Status == http.StatusRequestTimeout || e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable
}

// maxFault limits how much of an error response is read; Beacon's are shorter.
const maxFault = 64 << 10

// readFault converts an error response to an error.
func readFault(response *http.Response) error {
	e := &Error{
		Status:     response.StatusCode,
		RequestID:  response.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(response.Header.Get("Retry-After"), time.Now()),
	}
	var body ErrorResponse
	// A proxy's errors have another form: the status says enough.
	if err := json.NewDecoder(io.LimitReader(response.Body, maxFault)).Decode(&body); err == nil {
		e.Code, e.Message, e.Details = body.Error.Code, body.Error.Message, body.Error.Details
	}
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(e.Status))
	}
	return e
}

// retryAfter parses a number of seconds, or a date.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
