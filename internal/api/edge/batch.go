package edge

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// maxBatchBytes limits the body of a batch. An element of it may be as long as a body.
const maxBatchBytes = 512 << 10

var (
	errEmpty     = errors.New("must have at least 1 element")
	errNoObject  = &beacon.Error{Kind: beacon.InvalidRequest, Message: "must be a JSON object"}
	errLongEntry = &beacon.Error{Kind: beacon.TooLarge, Message: fmt.Sprintf("this is larger than %d bytes", maxBodyBytes)}
)

// ReadBatch reads the array in a request body whose elements are judged one by one, as if each
// were a body. Read gets each of them, or what is wrong with it.
func ReadBatch[T any](w http.ResponseWriter, r *http.Request, name string, most int, read func(o *Object, fault error) T) ([]T, error) {
	o, err := readBody(w, r, maxBatchBytes, maxBodyDepth+2)
	if err != nil {
		return nil, err
	}
	all, _ := Needed(o, name, func(o *Object, name string) beacon.Opt[[]T] {
		return Member(o, name, jsontext.KindBeginArray, "must be an array", func(value jsontext.Value) ([]T, error) {
			all, err := elements(value, most, func(_ int, element jsontext.Value) T {
				switch {
				case element.Kind() != jsontext.KindBeginObject:
					return read(nil, errNoObject)
				case len(element) > maxBodyBytes:
					return read(nil, errLongEntry)
				}
				return read(newObject("", element, new(beacon.Faults), nil), nil)
			})
			if err == nil && len(all) == 0 {
				err = errEmpty
			}
			return all, err
		})
	})
	return all, o.Finish(Valid)
}
