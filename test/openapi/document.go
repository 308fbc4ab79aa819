// Package openapi holds a server to its OpenAPI document, in tests: every
// response must be one that the document promises, every example in it must be
// what the server sends, and the routes of both must be the same. It knows no
// interface of Beacon.
package openapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// Document is a valid OpenAPI document.
type Document struct {
	// Alike makes responses the same text that are all right or all wrong, such
	// as those that differ in an id alone: of these, one is checked. A check takes
	// longer than many requests. Without it, every response is checked.
	Alike func(response string) string

	spec    *openapi3.T
	bodies  *bodies  // nil: its schemas are not JSON schemas, as those before OpenAPI 3.1
	checked sync.Map // by what Alike gives
}

// Load reads a document and fails the test when it is not a valid one. The document
// lets responses have properties that it does not name; in tests they may not.
func Load(t testing.TB, data []byte) *Document {
	t.Helper()
	spec, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		t.Fatalf("the OpenAPI document does not load: %v", err)
	}
	// Examples are held to the server itself, which is held to the schemas.
	if err := spec.Validate(t.Context(), openapi3.DisableExamplesValidation()); err != nil {
		t.Fatalf("the OpenAPI document is not valid: %v", err)
	}
	closeObjects(t, spec)
	openapi3filter.RegisterBodyDecoder("image/svg+xml", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/vnd.mapbox-vector-tile", openapi3filter.FileBodyDecoder)
	d := &Document{spec: spec}
	if spec.IsOpenAPI31OrLater() {
		d.bodies = newBodies(t, spec)
	}
	return d
}

// Operations lists what the document offers, as "GET /path/{id}", sorted.
func (d *Document) Operations() []string {
	var list []string
	for path, item := range d.spec.Paths.Map() {
		for method := range item.Operations() {
			list = append(list, method+" "+path)
		}
	}
	slices.Sort(list)
	return list
}

// Needs tells what the document says that an operation asks of its caller: the
// names of the security schemes that open it, none where anyone may call it, and
// its description.
func (d *Document) Needs(t testing.TB, operation string) (schemes []string, description string) {
	t.Helper()
	method, path, _ := strings.Cut(operation, " ")
	item := d.spec.Paths.Value(path)
	if item == nil || item.GetOperation(method) == nil {
		t.Fatalf("the OpenAPI document has no operation %s", operation)
	}
	found := item.GetOperation(method)
	required := d.spec.Security
	if found.Security != nil {
		required = *found.Security
	}
	for _, alternative := range required {
		schemes = slices.AppendSeq(schemes, maps.Keys(alternative))
	}
	slices.Sort(schemes)
	return schemes, found.Description
}

// refusals names the component that describes a response where the document
// has no operation for the request: an unknown path, a method not allowed.
var refusals = map[int]string{
	http.StatusNoContent:                   "Preflight",
	http.StatusBadRequest:                  "BadRequest",
	http.StatusUnauthorized:                "Unauthorized",
	http.StatusNotFound:                    "NotFound",
	http.StatusMethodNotAllowed:            "MethodNotAllowed",
	http.StatusRequestURITooLong:           "URITooLong",
	http.StatusRequestHeaderFieldsTooLarge: "HeadersTooLarge",
	http.StatusInternalServerError:         "InternalError",
	http.StatusServiceUnavailable:          "Overloaded",
}

// Check fails the test when a response is not what the document promises for
// the request: an unknown status, a header missing, a body of another shape.
func (d *Document) Check(t testing.TB, r *http.Request, response *http.Response, body []byte) {
	t.Helper()
	if r.Method == http.MethodHead {
		return // it has no body, and the headers are those of GET
	}
	route := &routers.Route{Spec: d.spec, PathItem: &openapi3.PathItem{}, Method: r.Method}
	route.Operation = d.operation(r)
	if route.Operation == nil || response.StatusCode == http.StatusRequestHeaderFieldsTooLarge { // of no operation
		route.Operation = d.refusal(t, r, response.StatusCode)
	}
	if d.wasChecked(route.Operation, response, body) {
		return
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: route},
		Status:                 response.StatusCode,
		Header:                 response.Header,
		Options:                &openapi3filter.Options{IncludeResponseStatus: true},
	}
	input.SetBodyBytes(body)
	var schema *openapi3.SchemaRef
	if d.bodies != nil {
		schema = jsonSchema(route.Operation, response)
	}
	input.Options.ExcludeResponseBody = schema != nil
	err := openapi3filter.ValidateResponse(context.Background(), input)
	if err == nil && schema != nil {
		err = d.bodies.check(schema, body)
	}
	if err != nil {
		t.Errorf("%s %s answered %d, not as the OpenAPI document has it: %v\n%s",
			r.Method, r.URL, response.StatusCode, err, body[:min(len(body), 1000)])
	}
}

// jsonSchema is what a body must be, if the document has it as JSON with a schema.
func jsonSchema(operation *openapi3.Operation, response *http.Response) *openapi3.SchemaRef {
	described := operation.Responses.Status(response.StatusCode)
	contentType := response.Header.Get("Content-Type")
	if described == nil || described.Value == nil || !strings.Contains(contentType, "json") {
		return nil
	}
	media := described.Value.Content.Get(contentType)
	if media == nil {
		return nil
	}
	return media.Schema
}

// wasChecked reports whether a response like this one was checked before; if
// not, it counts as checked from now on.
func (d *Document) wasChecked(operation *openapi3.Operation, response *http.Response, body []byte) bool {
	if d.Alike == nil {
		return false
	}
	header := response.Header.Clone()
	header.Del("Date")
	text := fmt.Sprintf("%d %v %s", response.StatusCode, header, body)
	_, seen := d.checked.LoadOrStore(checkedKey{operation.OperationID, d.Alike(text)}, true)
	return seen
}

// checkedKey names the responses of an operation that are alike. Refusals, which
// are of no operation, differ by their status.
type checkedKey struct{ operation, response string }

// operation finds what the document says of a request's method and path; a
// path without parameters comes before one with them, and {id}.txt before {id}.
func (d *Document) operation(r *http.Request) *openapi3.Operation {
	path := r.URL.EscapedPath()
	if item := d.spec.Paths.Value(path); item != nil {
		return item.GetOperation(r.Method)
	}
	longest, found := "", &openapi3.PathItem{}
	for template, item := range d.spec.Paths.Map() {
		if matches(template, path) && len(template) > len(longest) {
			longest, found = template, item
		}
	}
	return found.GetOperation(r.Method)
}

func matches(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(want, got string) bool {
		_, ending, isParameter := strings.Cut(want, "}")                                                              // as of {y}.mvt
		return want == got || isParameter && strings.HasSuffix(got, ending) && got != "" && got != "." && got != ".." // those are no segments
	})
}

// refusal is an operation that knows one response alone.
func (d *Document) refusal(t testing.TB, r *http.Request, status int) *openapi3.Operation {
	t.Helper()
	component, ok := d.spec.Components.Responses[refusals[status]]
	if !ok {
		t.Fatalf("%s %s answered %d; the OpenAPI document has neither an operation nor a response component for it",
			r.Method, r.URL, status)
	}
	return &openapi3.Operation{Responses: openapi3.NewResponses(openapi3.WithStatus(status, component))}
}

// errNoRequest marks an example that does not say which request it answers.
var errNoRequest = errors.New("the example has no x-request")
