package beacon

import (
	"errors"
	"fmt"
)

var (
	errRequired = errors.New("is required")
	errNull     = errors.New("must not be null")
)

// Faults gathers everything that is wrong with a request, so that its sender
// learns of all of it at once (decision N1). The zero value is ready.
type Faults struct {
	list  []FieldError
	more  int  // that are not in the list
	wrong bool // one of all these is more than an absent field
}

// maxFaults is how many faults are listed. A body of a few kilobytes can have
// thousands; nobody reads them, and telling them all would be dear.
const maxFaults = 100

// Add notes what is wrong with a field, worded to follow the field's name:
// "must be 3 to 50 characters".
func (f *Faults) Add(field, message string) {
	f.Note(FieldError{Field: field, Message: message})
}

// Check notes the error as the fault of a field; nil is no fault. The text of
// the error is shown to the client.
func (f *Faults) Check(field string, err error) {
	if err != nil {
		f.Add(field, err.Error())
	}
}

// Note adds a fault that was found elsewhere.
func (f *Faults) Note(fault FieldError) {
	f.wrong = f.wrong || !fault.Missing
	if len(f.list) >= maxFaults {
		f.more++
		return
	}
	f.list = append(f.list, fault)
}

// Missing notes that a required field is absent.
func (f *Faults) Missing(field string) {
	f.Note(FieldError{Field: field, Message: errRequired.Error(), Missing: true})
}

// Any reports whether there is a fault.
func (f *Faults) Any() bool { return len(f.list) > 0 }

// Err is nil without a fault. Otherwise it is an *Error with all of them:
// MissingParameter when every one is an absent required field, else
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
		e.Message = fmt.Sprintf("%d fields are at fault; the first %d are listed", len(f.list)+f.more, len(f.list))
	default:
		e.Message = fmt.Sprintf("%d fields are at fault", len(f.list))
	}
	return e
}
