package edge

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// The limits of a request body (decision N7).
const (
	maxBodyBytes = 64 << 10
	maxBodyDepth = 16
)

// Object reads the members of a JSON object one by one and collects all faults, so that
// a client learns of all its mistakes at once (decision N1). Read the known members,
// then call done: every member left over is unknown, which is a fault unless the object
// ignores them.
type Object struct {
	Path    string // "" or ends in "."
	members map[string]jsontext.Value
	Faults  *beacon.Faults
	Ignored *Ignored // nil: unknown members are faults
}

// Ignored has the paths of members that were ignored, and how many there were. Clients
// choose their names, so few are kept, and of long ones the beginning.
type Ignored struct {
	Names []string
	Count int
}

const (
	maxIgnored     = 10
	maxIgnoredName = 64 // in bytes
)

func (i *Ignored) Add(name string) {
	i.Count++
	if len(i.Names) == maxIgnored {
		return
	}
	if len(name) > maxIgnoredName {
		name = strings.ToValidUTF8(name[:maxIgnoredName], "")
	}
	i.Names = append(i.Names, name)
}

// ReadBody reads the JSON object in a request body, sent as application/json or as one
// of some other media types.
func ReadBody(w http.ResponseWriter, r *http.Request, others ...string) (*Object, error) {
	return readBody(w, r, maxBodyBytes, maxBodyDepth, others...)
}

func readBody(w http.ResponseWriter, r *http.Request, maxBytes int64, maxDepth int, others ...string) (*Object, error) {
	body, err := httpserver.ReadJSONObject(w, r, maxBytes, maxDepth, others...)
	if fault, ok := errors.AsType[*httpserver.BodyError](err); ok {
		return nil, bodyFault(fault)
	}
	return newObject("", body, new(beacon.Faults), nil), err
}

// FromBody returns a decoder that reads the body of a request, sent as readBody says.
func FromBody[In any](read func(*http.Request, *Object) (In, error), others ...string) decoder[In] {
	return func(w http.ResponseWriter, r *http.Request) (in In, err error) {
		o, err := ReadBody(w, r, others...)
		if err != nil {
			return in, err
		}
		return read(r, o)
	}
}

// ReadDeviceBody is readBody for devices, which may be newer than the server: unknown
// members are ignored (decision D120).
func ReadDeviceBody(w http.ResponseWriter, r *http.Request) (*Object, error) {
	o, err := ReadBody(w, r)
	if err == nil {
		o.Ignored = new(Ignored)
	}
	return o, err
}

func bodyFault(fault *httpserver.BodyError) error {
	switch fault.Status {
	case http.StatusRequestTimeout:
		return &beacon.Error{Kind: beacon.TooSlow, Message: fault.Message, RetryAfter: time.Second, Err: fault}
	case http.StatusRequestEntityTooLarge:
		return &beacon.Error{Kind: beacon.TooLarge, Message: fault.Message}
	case http.StatusUnsupportedMediaType:
		return &beacon.Error{Kind: beacon.UnsupportedMedia, Message: fault.Message}
	}
	e := &beacon.Error{Kind: beacon.InvalidRequest, Message: fault.Message, Err: fault}
	if field := fieldOf(fault.Pointer); field != "" {
		e.Fields = []beacon.FieldError{{Field: field, Message: fault.Message}}
	}
	return e
}

// fieldOf converts a JSON pointer to our field paths: /weekly/0/open becomes
// weekly[0].open.
func fieldOf(pointer string) string {
	var field strings.Builder
	for token := range jsontext.Pointer(pointer).Tokens() {
		if _, err := strconv.Atoi(token); err == nil {
			field.WriteString("[" + token + "]")
			continue
		}
		if field.Len() > 0 {
			field.WriteByte('.')
		}
		field.WriteString(token)
	}
	return field.String()
}

// newObject splits an object that is known to be well-formed.
func newObject(path string, value jsontext.Value, faults *beacon.Faults, unknown *Ignored) *Object {
	o := &Object{Path: path, members: map[string]jsontext.Value{}, Faults: faults, Ignored: unknown}
	dec := jsontext.NewDecoder(strings.NewReader(string(value)))
	Must(dec.ReadToken()) // the opening brace
	for dec.PeekKind() != jsontext.KindEndObject {
		name := Must(dec.ReadToken()).String()
		o.members[name] = Must(dec.ReadValue()).Clone()
	}
	return o
}

// Must is for errors that cannot happen: a body was validated before.
func Must[T any](part T, err error) T {
	if err != nil {
		panic(err) // cannot happen
	}
	return part
}

// take removes a member and returns its value and kind; kind 0 means it is absent.
func (o *Object) take(name string) (jsontext.Value, jsontext.Kind) {
	value, ok := o.members[name]
	if !ok {
		return nil, 0
	}
	delete(o.members, name)
	return value, value.Kind()
}

// Member reads a member that must be of the given kind.
func Member[T any](o *Object, name string, kind jsontext.Kind, wrong string, read func(jsontext.Value) (T, error)) beacon.Opt[T] {
	value, found := o.take(name)
	switch found {
	case 0:
		return beacon.Opt[T]{}
	case jsontext.KindNull:
		return beacon.Null[T]()
	case kind:
		v, err := read(value)
		o.Faults.Check(o.Path+name, err)
		return beacon.Some(v)
	default:
		o.Faults.Add(o.Path+name, wrong)
		return beacon.Opt[T]{}
	}
}

func (o *Object) Text(name string) beacon.Opt[string] {
	return Member(o, name, jsontext.KindString, "must be a string", ReadText)
}

func ReadText(value jsontext.Value) (string, error) {
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}

// JSON reads an object that is handed on as it was sent.
func (o *Object) JSON(name string) beacon.Opt[[]byte] {
	return Member(o, name, jsontext.KindBeginObject, "must be an object", func(value jsontext.Value) ([]byte, error) { return slices.Clone([]byte(value)), nil })
}

var errNumber = errors.New("must be a number within the range of a double")

func (o *Object) Number(name string) beacon.Opt[float64] {
	return Member(o, name, jsontext.KindNumber, "must be a number", func(value jsontext.Value) (float64, error) {
		n, err := strconv.ParseFloat(string(value), 64)
		if err != nil {
			return 0, errNumber
		}
		return n, nil
	})
}

// Flag reads true or false, which are two kinds to the tokenizer.
func (o *Object) Flag(name string) beacon.Opt[bool] {
	kind := jsontext.KindTrue
	if o.members[name].Kind() == jsontext.KindFalse {
		kind = jsontext.KindFalse
	}
	return Member(o, name, kind, "must be true or false", func(value jsontext.Value) (bool, error) {
		return value.Kind() == jsontext.KindTrue, nil
	})
}

// Inner reads a nested object.
func Inner[T any](o *Object, name string, read func(*Object) T) beacon.Opt[T] {
	return Member(o, name, jsontext.KindBeginObject, "must be an object", func(value jsontext.Value) (T, error) {
		child := newObject(o.Path+name+".", value, o.Faults, o.Ignored)
		defer child.done()
		return read(child), nil
	})
}

// list reads an array. The paths of its elements are name[0], name[1], and so on.
func list[T any](o *Object, name string, kind jsontext.Kind, wrong string, read func(path string, value jsontext.Value) T) beacon.Opt[[]T] {
	return Member(o, name, jsontext.KindBeginArray, "must be an array", func(value jsontext.Value) ([]T, error) {
		return elements(value, maxElements, func(n int, element jsontext.Value) (v T) {
			path := fmt.Sprintf("%s%s[%d]", o.Path, name, n)
			if element.Kind() != kind {
				o.Faults.Add(path, wrong)
				return v
			}
			return read(path, element)
		})
	})
}

// elements reads each element of an array.
func elements[T any](value jsontext.Value, most int, read func(n int, element jsontext.Value) T) ([]T, error) {
	all := []T{}
	dec := jsontext.NewDecoder(strings.NewReader(string(value)))
	Must(dec.ReadToken()) // the opening bracket
	for dec.PeekKind() != jsontext.KindEndArray {
		element := Must(dec.ReadValue())
		if len(all) == most {
			return all, fmt.Errorf("must not have more than %d elements", most)
		}
		all = append(all, read(len(all), element.Clone()))
	}
	return all, nil
}

// maxElements is far more than any array of the API may have. The domain has stricter
// limits.
const maxElements = 1000

func (o *Object) Texts(name string) beacon.Opt[[]string] {
	return list(o, name, jsontext.KindString, "must be a string", func(path string, value jsontext.Value) string {
		text, err := ReadText(value)
		o.Faults.Check(path, err)
		return text
	})
}

func Objects[T any](o *Object, name string, read func(*Object) T) beacon.Opt[[]T] {
	return list(o, name, jsontext.KindBeginObject, "must be an object", func(path string, value jsontext.Value) T {
		child := newObject(path+".", value, o.Faults, o.Ignored)
		defer child.done()
		return read(child)
	})
}

// done handles every member that was not read: it adds a fault, or ignores it.
func (o *Object) done() {
	for _, name := range slices.Sorted(maps.Keys(o.members)) {
		if o.Ignored != nil {
			o.Ignored.Add(o.Path + name)
			continue
		}
		o.Faults.Add(o.Path+name, "is unknown or cannot be set here")
	}
}

// Finish ends the reading of a body. If there are faults, it returns them together with
// those that validate finds in the rest. A field that could not be read is not also
// reported as missing.
func (o *Object) Finish(validate func() error) error {
	o.done()
	if !o.Faults.Any() {
		return nil
	}
	known := map[string]bool{}
	read, _ := errors.AsType[*beacon.Error](o.Faults.Err())
	for _, f := range read.Fields {
		known[f.Field] = true
	}
	if found, ok := errors.AsType[*beacon.Error](validate()); ok {
		for _, f := range found.Fields {
			if !coveredBy(known, f.Field) {
				o.Faults.Note(f)
			}
		}
	}
	return o.Faults.Err()
}

// Conclude is Finish for a form that nobody validates afterwards, or not before an
// Idempotency-Key is looked up.
func (o *Object) Conclude(validate func() error) error {
	if err := o.Finish(validate); err != nil {
		return err
	}
	return validate()
}

// coveredBy reports whether known has the field, one of its parents or one of its
// parts. If a part is faulty, nothing certain can be said of the whole.
func coveredBy(known map[string]bool, field string) bool {
	for i, c := range field {
		if (c == '.' || c == '[') && known[field[:i]] {
			return true
		}
	}
	for part := range known {
		if rest, ok := strings.CutPrefix(part, field); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// ReadTime reads an RFC 3339 time.
func ReadTime(o *Object, name string) beacon.Opt[time.Time] {
	text := o.Text(name)
	out := beacon.Opt[time.Time]{Set: text.Set, Null: text.Null}
	if text.Set && !text.Null {
		t, err := time.Parse(time.RFC3339, text.V)
		if err != nil || t.UTC().Year() > maxYear {
			o.Faults.Add(o.Path+name, "must be a time such as 2027-01-31T12:00:00Z")
		}
		out.V = t
	}
	return out
}

// maxYear is the last year that RFC 3339 can express. A time in another zone may be past
// it in UTC.
const maxYear = 9999

// Needed reads a member that must be there. One of the wrong kind is not also missing.
func Needed[T any](o *Object, name string, read func(*Object, string) beacon.Opt[T]) (v T, ok bool) {
	_, given := o.members[name]
	if value := read(o, name); value.Set || !given {
		return beacon.Required(value, o.Path+name, o.Faults)
	}
	return v, false
}

// Valid is for forms whose faults were all found while they were read.
func Valid() error { return nil }
