package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// object reads the fields of a JSON object, and keeps the first error. Read the known
// fields, then call done: any field left is unknown.
type object struct {
	where  string // which policy, ending in ": "; empty for the file itself
	path   string // within the policy
	fields map[string]any
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

// take removes a field and returns its value, or nil if it is absent or null.
func (o *object) take(name string) any {
	value := o.fields[name]
	delete(o.fields, name)
	return value
}

// done returns the first error, or an error for a field that was not read.
func (o *object) done() error {
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		o.failf(name, "is not a field of a policy; check its spelling")
	}
	return o.err
}

func (o *object) whole(name string) int {
	number, _ := o.take(name).(json.Number)
	n, err := number.Int64()
	if err != nil || n != int64(int32(n)) {
		o.failf(name, "must be a whole number such as 1")
	}
	return int(n)
}

func (o *object) day(name string) beacon.Day {
	text, _ := o.take(name).(string)
	day, err := beacon.ParseDay(text)
	if err != nil {
		o.failf(name, "%v", err)
	}
	return day
}

func (o *object) amount(name string, most beacon.Amount) beacon.Amount {
	text, _ := o.take(name).(string)
	a, err := beacon.ParseAmount(text)
	if err != nil || a < 0 || a > most {
		o.failf(name, `must be a text such as "0.250000": from 0 to %s, with at most six digits after the point`, most)
	}
	return a
}

func (o *object) inner(name string) *object {
	fields, ok := o.take(name).(map[string]any)
	if !ok {
		o.failf(name, "must be an object")
	}
	return &object{where: o.where, path: join(o.path, name), fields: fields, err: o.err}
}

// maxDepth is how deeply a policy file may be nested; it needs no more.
const maxDepth = 4

// readObject reads one JSON object with nothing after it. Numbers keep their
// spelling.
func readObject(data []byte) (*object, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	value, err := readValue(dec, maxDepth)
	if err != nil {
		return nil, notJSON(err)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("must be a JSON object with policies in it")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the JSON object")
	}
	return &object{fields: fields}, nil
}

func notJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON is incomplete")
	}
	if fault, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not valid JSON at byte %d: %w", fault.Offset, err)
	}
	return err
}

// readValue decodes like json.Unmarshal, but returns an error if a name appears twice
// in an object.
func readValue(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	if err != nil || token != json.Delim('{') && token != json.Delim('[') {
		return token, err
	}
	if depth == 0 {
		return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	fields, list := map[string]any{}, []any{}
	for dec.More() {
		var name string
		if token == json.Delim('{') {
			next, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name = next.(string) // the decoder allows nothing else here
			if _, twice := fields[name]; twice {
				return nil, fmt.Errorf("%.80q appears twice in an object", name)
			}
		}
		value, err := readValue(dec, depth-1)
		if err != nil {
			return nil, err
		}
		fields[name] = value
		list = append(list, value)
	}
	if _, err := dec.Token(); err != nil { // the closing bracket
		return nil, err
	}
	if token == json.Delim('[') {
		return list, nil
	}
	return fields, nil
}
