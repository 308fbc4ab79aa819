package api

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

// object reads the members of a JSON object one by one and collects all faults, so that
// a client learns of all its mistakes at once (decision N1). Read the known members,
// then call done: every member left over is unknown, which is a fault unless the object
// ignores them.
type object struct {
	path    string // "" or ends in "."
	members map[string]jsontext.Value
	faults  *beacon.Faults
	ignored *ignored // nil: unknown members are faults
}

// ignored has the paths of members that were ignored, and how many there were. Clients
// choose their names, so few are kept, and of long ones the beginning.
type ignored struct {
	names []string
	count int
}

const (
	maxIgnored     = 10
	maxIgnoredName = 64 // in bytes
)

func (i *ignored) add(name string) {
	i.count++
	if len(i.names) == maxIgnored {
		return
	}
	if len(name) > maxIgnoredName {
		name = strings.ToValidUTF8(name[:maxIgnoredName], "")
	}
	i.names = append(i.names, name)
}

// readBody reads the JSON object in a request body, sent as application/json or as one
// of some other media types. It also returns the bytes, for fingerprints.
func readBody(w http.ResponseWriter, r *http.Request, others ...string) (*object, []byte, error) {
	body, err := httpserver.ReadJSONObject(w, r, maxBodyBytes, maxBodyDepth, others...)
	if fault, ok := errors.AsType[*httpserver.BodyError](err); ok {
		return nil, nil, bodyFault(fault)
	}
	return newObject("", body, new(beacon.Faults), nil), body, err
}

// fromBody returns a decoder that reads the body of a request, sent as readBody says.
func fromBody[In any](read func(*http.Request, *object) (In, error), others ...string) decoder[In] {
	return func(w http.ResponseWriter, r *http.Request) (in In, err error) {
		o, _, err := readBody(w, r, others...)
		if err != nil {
			return in, err
		}
		return read(r, o)
	}
}

// readDeviceBody is readBody for devices, which may be newer than the server: unknown
// members are ignored (decision D120).
func readDeviceBody(w http.ResponseWriter, r *http.Request) (*object, error) {
	o, _, err := readBody(w, r)
	if err == nil {
		o.ignored = new(ignored)
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
func newObject(path string, value jsontext.Value, faults *beacon.Faults, unknown *ignored) *object {
	o := &object{path: path, members: map[string]jsontext.Value{}, faults: faults, ignored: unknown}
	dec := jsontext.NewDecoder(strings.NewReader(string(value)))
	must(dec.ReadToken()) // the opening brace
	for dec.PeekKind() != jsontext.KindEndObject {
		name := must(dec.ReadToken()).String()
		o.members[name] = must(dec.ReadValue()).Clone()
	}
	return o
}

// must returns a part of a body that was validated before.
func must[T any](part T, err error) T {
	if err != nil {
		panic(err) // cannot happen
	}
	return part
}

// take removes a member and returns its value and kind; kind 0 means it is absent.
func (o *object) take(name string) (jsontext.Value, jsontext.Kind) {
	value, ok := o.members[name]
	if !ok {
		return nil, 0
	}
	delete(o.members, name)
	return value, value.Kind()
}

// member reads a member that must be of the given kind.
func member[T any](o *object, name string, kind jsontext.Kind, wrong string, read func(jsontext.Value) (T, error)) beacon.Opt[T] {
	value, found := o.take(name)
	switch found {
	case 0:
		return beacon.Opt[T]{}
	case jsontext.KindNull:
		return beacon.Null[T]()
	case kind:
		v, err := read(value)
		o.faults.Check(o.path+name, err)
		return beacon.Some(v)
	default:
		o.faults.Add(o.path+name, wrong)
		return beacon.Opt[T]{}
	}
}

func (o *object) text(name string) beacon.Opt[string] {
	return member(o, name, jsontext.KindString, "must be a string", readText)
}

func readText(value jsontext.Value) (string, error) {
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}

var errNumber = errors.New("must be a number within the range of a double")

func (o *object) number(name string) beacon.Opt[float64] {
	return member(o, name, jsontext.KindNumber, "must be a number", func(value jsontext.Value) (float64, error) {
		n, err := strconv.ParseFloat(string(value), 64)
		if err != nil {
			return 0, errNumber
		}
		return n, nil
	})
}

// flag reads true or false, which are two kinds to the tokenizer.
func (o *object) flag(name string) beacon.Opt[bool] {
	kind := jsontext.KindTrue
	if o.members[name].Kind() == jsontext.KindFalse {
		kind = jsontext.KindFalse
	}
	return member(o, name, kind, "must be true or false", func(value jsontext.Value) (bool, error) {
		return value.Kind() == jsontext.KindTrue, nil
	})
}

// inner reads a nested object.
func inner[T any](o *object, name string, read func(*object) T) beacon.Opt[T] {
	return member(o, name, jsontext.KindBeginObject, "must be an object", func(value jsontext.Value) (T, error) {
		child := newObject(o.path+name+".", value, o.faults, o.ignored)
		defer child.done()
		return read(child), nil
	})
}

// list reads an array. The paths of its elements are name[0], name[1], and so on.
func list[T any](o *object, name string, kind jsontext.Kind, wrong string, read func(path string, value jsontext.Value) T) beacon.Opt[[]T] {
	return member(o, name, jsontext.KindBeginArray, "must be an array", func(value jsontext.Value) ([]T, error) {
		all := []T{}
		dec := jsontext.NewDecoder(strings.NewReader(string(value)))
		must(dec.ReadToken()) // the opening bracket
		for dec.PeekKind() != jsontext.KindEndArray {
			element := must(dec.ReadValue())
			if len(all) == maxElements {
				return all, errTooMany
			}
			path := fmt.Sprintf("%s%s[%d]", o.path, name, len(all))
			if element.Kind() != kind {
				o.faults.Add(path, wrong)
				all = append(all, *new(T))
				continue
			}
			all = append(all, read(path, element.Clone()))
		}
		return all, nil
	})
}

// maxElements is far more than any array of the API may have. The domain has stricter
// limits.
const maxElements = 500

var errTooMany = fmt.Errorf("must not have more than %d elements", maxElements)

func (o *object) texts(name string) beacon.Opt[[]string] {
	return list(o, name, jsontext.KindString, "must be a string", func(path string, value jsontext.Value) string {
		text, err := readText(value)
		o.faults.Check(path, err)
		return text
	})
}

func objects[T any](o *object, name string, read func(*object) T) beacon.Opt[[]T] {
	return list(o, name, jsontext.KindBeginObject, "must be an object", func(path string, value jsontext.Value) T {
		child := newObject(path+".", value, o.faults, o.ignored)
		defer child.done()
		return read(child)
	})
}

// done handles every member that was not read: it adds a fault, or ignores it.
func (o *object) done() {
	for _, name := range slices.Sorted(maps.Keys(o.members)) {
		if o.ignored != nil {
			o.ignored.add(o.path + name)
			continue
		}
		o.faults.Add(o.path+name, "is unknown or cannot be set here")
	}
}

// settle finishes reading a body. If there are faults, it returns them together with
// those that validate finds in the rest. A field that could not be read is not also
// reported as missing.
func (o *object) settle(validate func() error) error {
	o.done()
	if !o.faults.Any() {
		return nil
	}
	known := map[string]bool{}
	read, _ := errors.AsType[*beacon.Error](o.faults.Err())
	for _, f := range read.Fields {
		known[f.Field] = true
	}
	if found, ok := errors.AsType[*beacon.Error](validate()); ok {
		for _, f := range found.Fields {
			if !coveredBy(known, f.Field) {
				o.faults.Note(f)
			}
		}
	}
	return o.faults.Err()
}

// conclude is settle for a form that nobody validates afterwards.
func (o *object) conclude(validate func() error) error {
	if err := o.settle(validate); err != nil {
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
