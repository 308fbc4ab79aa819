package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Example is a response shown in a document, with the request that it answers.
type Example struct {
	Name    string
	Request ExampleRequest
	Value   any
}

// ExampleRequest is the extension x-request of an example.
type ExampleRequest struct {
	Method string            `json:"method"` // GET where absent
	Path   string            `json:"path"`
	Key    string            `json:"key"`
	Person string            `json:"person"` // who is signed in, in place of a key
	Header map[string]string `json:"header"`
	Body   any               `json:"body"`
	Server string            `json:"server"` // which of the test's servers answers it; the usual one where absent
}

// Examples lists every example of a response in the document. One that does not
// say which request it answers fails the test: nobody could check it. They are in
// the order of their names, since one may change what the next is answered.
func (d *Document) Examples(t testing.TB) []Example {
	t.Helper()
	var all []Example
	collect := func(where string, response *openapi3.Response) {
		for _, media := range slices.Sorted(maps.Keys(response.Content)) {
			for name, ref := range response.Content[media].Examples {
				request, err := requestOf(ref.Value)
				if err != nil {
					t.Errorf("%s, %s, example %s: %v", where, media, name, err)
					continue
				}
				all = append(all, Example{Name: where + " " + name, Request: request, Value: ref.Value.Value})
			}
		}
	}
	for path, item := range d.spec.Paths.Map() {
		for method, operation := range item.Operations() {
			for status, ref := range operation.Responses.Map() {
				if ref.Ref == "" {
					collect(fmt.Sprintf("%s %s %s", method, path, status), ref.Value)
				}
			}
		}
	}
	for name, ref := range d.spec.Components.Responses {
		collect("response "+name, ref.Value)
	}
	slices.SortStableFunc(all, func(a, b Example) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// RequestExample is a body shown in a document for an operation to be sent.
type RequestExample struct {
	Name         string
	Method, Path string
	Value        any
}

// RequestExamples lists every example of a request's body in the document, in the
// order of their names.
func (d *Document) RequestExamples() []RequestExample {
	var all []RequestExample
	for path, item := range d.spec.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.RequestBody == nil {
				continue
			}
			content := operation.RequestBody.Value.Content
			for _, media := range slices.Sorted(maps.Keys(content)) {
				for name, ref := range content[media].Examples {
					all = append(all, RequestExample{method + " " + path + " " + name, method, path, ref.Value.Value})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b RequestExample) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func requestOf(example *openapi3.Example) (ExampleRequest, error) {
	request := ExampleRequest{Method: http.MethodGet}
	raw, ok := example.Extensions["x-request"]
	if !ok {
		return request, errNoRequest
	}
	text, err := json.Marshal(raw)
	if err != nil {
		return request, err
	}
	return request, json.Unmarshal(text, &request)
}
