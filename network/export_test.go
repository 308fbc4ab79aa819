package network

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/beacon"
)

// ReadBodies decodes a body in each of the ways that the interface knows, and
// gives what was wrong each time.
func ReadBodies(body string) []error {
	request := func() (http.ResponseWriter, *http.Request) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		return httptest.NewRecorder(), r
	}
	a := &API{now: func() time.Time { return time.Unix(0, 0) }}
	registration, err1 := decodeRegistration(request())
	if err1 == nil {
		_, err1 = registration.Form.Validate("hs_1", "usr_1", time.Time{})
	}
	change, err2 := decodeChange(request())
	if err2 == nil {
		err2 = change.Patch.Validate()
	}
	_, err3 := a.decodeCreation(request())
	return []error{err1, err2, err3}
}

// ParseNumber reads a query parameter between two bounds.
func ParseNumber(text string, least, most float64) (n float64, fields []beacon.FieldError) {
	q, err := newQuery(&http.Request{URL: &url.URL{RawQuery: url.Values{"n": {text}}.Encode()}})
	if err != nil {
		panic(err) // it was encoded just now
	}
	n = q.number("n", least, most, -1)
	if e, ok := q.faults.Err().(*beacon.Error); ok {
		return 0, e.Fields
	}
	return n, nil
}

// Versions reads If-Match headers.
func Versions(lines ...string) []int64 {
	return ifMatch(&http.Request{Header: http.Header{"If-Match": lines}})
}

// TagOf gives the entity tag of a version.
var TagOf = tagOf
