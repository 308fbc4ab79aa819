package beacon

import (
	"strings"
	"time"
)

// Kind classifies a failure by what its caller can do about it. Only the outer layers
// know which status and code a Kind becomes.
type Kind int

// There is one Kind for each row of the network document's error table, and those of
// decision N1.
const (
	Internal Kind = iota // the zero value, so that a forgotten Kind reveals nothing
	InvalidRequest
	MissingParameter
	Unauthorized
	Forbidden
	NotFound
	Conflict
	RateLimited
	TooLarge
	UnsupportedMedia
	Overloaded
)

// Error is a failure that may be shown to the client. Message and Fields are safe to
// show; Err is the cause, for logs alone.
type Error struct {
	Kind       Kind
	Message    string
	Fields     []FieldError
	RetryAfter time.Duration // with RateLimited and Overloaded
	Err        error
}

// FieldError says what is wrong with one field of a request, by its path
// ("location.lat"). Missing marks an absent required field (decision N2).
type FieldError struct {
	Field   string
	Message string
	Missing bool
}

// Error returns the text for logs: unlike Message, it includes the cause.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	for _, f := range e.Fields {
		b.WriteString("; " + f.Field + ": " + f.Message)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
