package policy

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// object reads the fields of a JSON object, and keeps the first error. Read the known
// fields, then call done: any field left is unknown.
type object struct {
	where  string // which policy, ending in ": "; empty for the file itself
	path   string // within the policy
	fields map[string]jsontext.Value
	err    error
}

func (o *object) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

func (o *object) failf(name, format string, args ...any) {
	o.fail(fmt.Errorf("%s%s: %s", o.where, join(o.path, name), fmt.Sprintf(format, args...)))
}

// join returns the path of a field within a policy, such as performance.premium.
func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// take removes a field and returns its value, or nil if it is absent.
func (o *object) take(name string) jsontext.Value {
	value := o.fields[name]
	delete(o.fields, name)
	return value
}

// text removes a field and returns its text, or "" if it is not a string.
func (o *object) text(name string) (text string) {
	if value := o.take(name); value.Kind() == jsontext.KindString {
		_ = json.Unmarshal(value, &text) // cannot fail: it was checked when it was read
	}
	return text
}

// done returns the first error, or an error for a field that was not read.
func (o *object) done() error {
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		o.failf(name, "is not a field of a policy; check its spelling")
	}
	return o.err
}

func (o *object) whole(name string) int {
	n, err := strconv.ParseInt(string(o.take(name)), 10, 32)
	if err != nil {
		o.failf(name, "must be a whole number such as 1")
	}
	return int(n)
}

func (o *object) day(name string) beacon.Day {
	day, err := beacon.ParseDay(o.text(name))
	if err != nil {
		o.failf(name, "%v", err)
	}
	return day
}

func (o *object) amount(name string, most beacon.Amount) beacon.Amount {
	a, err := beacon.ParseAmount(o.text(name))
	if err != nil || a < 0 || a > most {
		o.failf(name, `must be a text such as "0.250000": from 0 to %s, with at most six digits after the point`, most)
	}
	return a
}

func (o *object) inner(name string) *object {
	inner := &object{where: o.where, path: join(o.path, name), err: o.err}
	if err := json.Unmarshal(o.take(name), &inner.fields); err != nil || inner.fields == nil {
		o.failf(name, "must be an object")
		inner.err = o.err
	}
	return inner
}

// readObject reads one JSON object with nothing after it, and no name twice in an
// object. Numbers keep their spelling.
func readObject(data string) (*object, error) {
	dec, o := jsontext.NewDecoder(strings.NewReader(data)), &object{}
	err := json.UnmarshalDecode(dec, &o.fields)
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the JSON ends too early")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return nil, fmt.Errorf("%.80q appears twice in an object", syntax.JSONPointer.LastToken())
	case isSyntax:
		return nil, fmt.Errorf("not valid JSON at byte %d: %w", syntax.ByteOffset, err)
	case err != nil || o.fields == nil:
		return nil, errors.New("must be a JSON object with policies in it")
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	return o, nil
}
