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

// Error is an answer other than the one that was hoped for.
type Error struct {
	Status     int           // of HTTP
	Code       string        // for programs, such as "not_found"; empty when something else than a Beacon server answered
	Message    string        // for people
	Details    []FieldError  // every field at fault
	RequestID  string        // by which the server's log knows the request
	RetryAfter time.Duration // how long the server asks to wait; 0: it does not say
}

// FieldError is what is wrong with a field of a request.
type FieldError struct {
	Field   string `json:"field"` // its path, such as "location.lat"
	Message string `json:"message"`
}

// Error says all of it, on one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the server answers %d", e.Status)
	if e.Code != "" {
		b.WriteString(" " + e.Code)
	}
	b.WriteString(": " + e.Message)
	for i, d := range e.Details {
		b.WriteString([]string{" (", ", "}[min(i, 1)] + d.Field + " " + d.Message)
	}
	if len(e.Details) > 0 {
		b.WriteString(")")
	}
	if e.RequestID != "" {
		b.WriteString(" [" + e.RequestID + "]")
	}
	return b.String()
}

// What the server can refuse, for [errors.Is].
var (
	ErrInvalidRequest = errors.New("invalid_request") // missing_parameter too
	ErrUnauthorized   = errors.New("unauthorized")
	ErrForbidden      = errors.New("forbidden")
	ErrNotFound       = errors.New("not_found")
	ErrConflict       = errors.New("conflict")
	ErrRateLimited    = errors.New("rate_limit_exceeded")
	ErrOverloaded     = errors.New("overloaded")
)

var statuses = map[error]int{
	ErrInvalidRequest: http.StatusBadRequest,
	ErrUnauthorized:   http.StatusUnauthorized,
	ErrForbidden:      http.StatusForbidden,
	ErrNotFound:       http.StatusNotFound,
	ErrConflict:       http.StatusConflict,
	ErrRateLimited:    http.StatusTooManyRequests,
	ErrOverloaded:     http.StatusServiceUnavailable,
}

// Is makes errors.Is(err, ErrNotFound) true of a 404, and so on.
func (e *Error) Is(target error) bool {
	status, known := statuses[target]
	return known && status == e.Status
}

// asksForPatience tells of answers that may be others after a while.
func (e *Error) asksForPatience() bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable
}

// maxFault is how much of a refusal is read: what is longer is no error of ours.
const maxFault = 64 << 10

// readFault makes an answer that is not a success an error.
func readFault(response *http.Response) error {
	e := &Error{
		Status:     response.StatusCode,
		RequestID:  response.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(response.Header.Get("Retry-After"), time.Now()),
	}
	var body struct {
		Error struct {
			Code    string       `json:"code"`
			Message string       `json:"message"`
			Details []FieldError `json:"details"`
		} `json:"error"`
	}
	// A proxy in between has errors of another form: its status says enough.
	if err := json.NewDecoder(io.LimitReader(response.Body, maxFault)).Decode(&body); err == nil {
		e.Code, e.Message, e.Details = body.Error.Code, body.Error.Message, body.Error.Details
	}
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(e.Status))
	}
	return e
}

// retryAfter reads a number of seconds, or a date.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
