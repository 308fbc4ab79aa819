package beacon

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind classifies a failure by what its caller can do about it. Only the outer layers
// know which status and code a Kind becomes.
type Kind int

// There is one Kind for each row of the network document's error table, those of decision N1,
// and UsedUp, by which a device knows that it has to be given another key. New ones go to the
// end: batches are remembered with their numbers.
const (
	Internal Kind = iota // the zero value, so that a forgotten Kind reveals nothing
	InvalidRequest
	MissingParameter
	Unauthorized
	Forbidden
	NotFound
	Conflict
	TooSlow
	RateLimited
	TooLarge
	UnsupportedMedia
	Overloaded
	UsedUp
)

// Error is a failure that may be shown to the client. Message and Fields are safe to
// show; Err is the cause, for logs alone.
type Error struct {
	Kind       Kind
	Message    string
	Fields     []FieldError
	RetryAfter time.Duration // with TooSlow, RateLimited and Overloaded
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
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of an error, or Internal if it has none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Unavailable returns the error for a database that cannot be reached, if it is certain
// that nothing was written.
func Unavailable(cause error) error {
	return &Error{
		Kind:       Overloaded,
		Message:    "the service cannot reach its database right now; nothing was changed, try again",
		RetryAfter: time.Second,
		Err:        cause,
	}
}

// Uncertain returns the error for a write that may or may not have happened. We must not
// repeat it: measured, 9 of 10 such commits had reached the disk. The client repeats it
// under its Idempotency-Key (decision N12).
func Uncertain(cause error) error {
	return &Error{
		Message: "it is not known whether the change was made; repeat it under the same Idempotency-Key",
		Err:     fmt.Errorf("outcome unknown: %w", cause),
	}
}

// Unexpected returns the error for what should never happen.
func Unexpected(cause error) error { return &Error{Message: "internal error", Err: cause} }

// NoSuch returns the error for something that does not exist.
func NoSuch(what string) error { return &Error{Kind: NotFound, Message: "no such " + what} }

// WordNoSuch adds the message of NoSuch to an error of a store.
func WordNoSuch(err error, what string) error { return Word(err, NotFound, "no such "+what) }

// Conflicting returns the error for a write that others made impossible. It has no words
// for people: a use case adds them with Word if the error can reach someone.
func Conflicting(cause error) error { return &Error{Kind: Conflict, Err: cause} }

// Word adds the message to an error of the kind that has none.
func Word(err error, kind Kind, message string) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == kind && e.Message == "" {
		return &Error{Kind: kind, Message: message, Err: err}
	}
	return err
}

// ErrDamaged reports a record that is not what was written, so that it can never be
// read. A record of a version that this program does not know is not damaged.
var ErrDamaged = errors.New("the record is damaged")

// ErrTooEarly reports that something has to wait until the time is certain, as when a
// server has just started.
var ErrTooEarly = errors.New("the time is not known yet")

var errNull = errors.New("must not be null")

// Faults collects everything that is wrong with a request, so that the client learns
// of all of it at once (decision N1). The zero value is ready to use.
type Faults struct {
	list  []FieldError
	more  int  // faults that are not in the list
	wrong bool // at least one fault is more than an absent field
}

// maxFaults is how many faults are listed. A body of a few kilobytes can have
// thousands; nobody reads them, and listing them all would be expensive.
const maxFaults = 100

// Add records what is wrong with a field, worded to follow the field's name: "must be
// 3 to 50 characters".
func (f *Faults) Add(field, message string) {
	f.Note(FieldError{Field: field, Message: message})
}

// Check records the error as a fault of the field; nil is no fault. The text of the
// error is shown to the client.
func (f *Faults) Check(field string, err error) {
	if err != nil {
		f.Add(field, err.Error())
	}
}

// Note records a fault that was found elsewhere.
func (f *Faults) Note(fault FieldError) {
	f.wrong = f.wrong || !fault.Missing
	if len(f.list) >= maxFaults {
		f.more++
		return
	}
	f.list = append(f.list, fault)
}

// Missing records that a required field is absent.
func (f *Faults) Missing(field string) {
	f.Note(FieldError{Field: field, Message: "is required", Missing: true})
}

// Any reports whether there is a fault.
func (f *Faults) Any() bool { return len(f.list) > 0 }

// Err returns nil if there is no fault. Otherwise it returns an *Error with all of
// them: MissingParameter if every one is an absent required field, else
// InvalidRequest (decision N2).
func (f *Faults) Err() error {
	if !f.Any() {
		return nil
	}
	e := &Error{Kind: MissingParameter, Fields: f.list}
	if f.wrong {
		e.Kind = InvalidRequest
	}
	switch first := f.list[0]; {
	case len(f.list) == 1:
		e.Message = first.Field + " " + first.Message
	case f.more > 0:
		e.Message = fmt.Sprintf("%d fields are not valid; the first %d are listed", len(f.list)+f.more, len(f.list))
	default:
		e.Message = fmt.Sprintf("%d fields are not valid", len(f.list))
	}
	return e
}
