package openapi_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/openapi"
)

const spec = `
openapi: 3.1.0
info: {title: things, version: 1.0.0}
paths:
  /size:
    get:
      operationId: getSize
      responses: {"200": {description: Its size., content: {application/json: {schema: {$ref: "#/components/schemas/Sized"}}}}}
  /things/{id}.txt:
    get:
      operationId: getText
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"204": {description: None.}}
  /things/{id}:
    get:
      operationId: getThing
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses:
        "200":
          description: The thing.
          headers: {X-Count: {required: true, schema: {type: integer, minimum: 1}}}
          content:
            application/json:
              schema: {$ref: "#/components/schemas/Thing"}
              examples:
                one: {x-request: {path: /things/a, server: other}, value: {id: a}}
    post:
      operationId: changeThing
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody:
        content: {application/json: {schema: {type: object}, examples: {change: {value: {id: b}}}}}
      responses: {"204": {description: Done.}}
components:
  schemas:
    Size: {type: integer, format: int32}
    Sized: {type: object, properties: {size: {$ref: "#/components/schemas/Size"}}}
    Thing: {type: object, required: [id], properties: {id: {type: string, pattern: "^[a-z]+$"}}}
  responses:
    NotFound: {description: Nothing., content: {application/json: {schema: {type: object, required: [error]}}}}
`

// verdicts records what a check says instead of failing the test.
type verdicts struct {
	testing.TB
	said []string
}

func (v *verdicts) Helper()                           {}
func (v *verdicts) Errorf(format string, args ...any) { v.said = append(v.said, format) }
func (v *verdicts) Fatalf(format string, args ...any) {
	v.said = append(v.said, format)
	runtime.Goexit()
}

// objects reports whether Check finds fault with a response.
func objects(t *testing.T, d *openapi.Document, method, path string, status int, count, body string) bool {
	t.Helper()
	response := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}}
	if count != "" {
		response.Header.Set("X-Count", count)
	}
	v := &verdicts{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Check(v, httptest.NewRequest(method, path, nil), response, []byte(body))
	}()
	<-done
	return len(v.said) > 0
}

func TestCheck(t *testing.T) {
	d := openapi.Load(t, []byte(spec))
	for _, tc := range []struct {
		method, path string
		status       int
		count, body  string
		want         bool
	}{
		{"GET", "/things/a", 200, "1", `{"id":"a"}`, false},
		{"GET", "/things/a", 200, "1", `{"id":"A"}`, true},
		{"GET", "/things/a", 200, "1", `{"id":"a","more":1}`, true},
		{"GET", "/size", 200, "", `{"size":2147483647}`, false},
		{"GET", "/size", 200, "", `{"size":2147483648}`, true},
		{"GET", "/size", 200, "", `{"size":"1"}`, true},
		{"GET", "/things/a", 200, "1", `{}`, true},
		{"GET", "/things/a", 200, "1", `not JSON`, true},
		{"GET", "/things/a", 200, "", `{"id":"a"}`, true},
		{"GET", "/things/a", 200, "0", `{"id":"a"}`, true},
		{"GET", "/things/a", 200, "x", `{"id":"a"}`, true},
		{"GET", "/things/a", 201, "1", `{"id":"a"}`, true},
		{"GET", "/things/a", 404, "", `{"error":1}`, true}, // not among what GET answers
		{"GET", "/things/a.txt", 204, "", "", false},
		{"GET", "/things/a.txt", 200, "1", `{"id":"a"}`, true}, // not among what GET answers
		{"GET", "/things/a.png", 200, "1", `{"id":"a"}`, false},
		{"GET", "/things/a/b", 404, "", `{"error":1}`, false},
		{"GET", "/things/a/b", 404, "", `{}`, true},
		{"GET", "/things/a/b", 200, "1", `{"id":"a"}`, true}, // no such path
		{"GET", "/things/..", 404, "", `{"error":1}`, false},
		{"DELETE", "/things/a", 405, "", `{"error":1}`, true}, // no component for it
		{"POST", "/things/a", 204, "", "", false},
		{"HEAD", "/things/a", 200, "", "", false},
	} {
		if got := objects(t, d, tc.method, tc.path, tc.status, tc.count, tc.body); got != tc.want {
			t.Errorf("%s %s %d %q %s: objects %t; want %t", tc.method, tc.path, tc.status, tc.count, tc.body, got, tc.want)
		}
	}
}

// Of responses that are alike the first is checked; what is not alike, is.
func TestCheck_Alike(t *testing.T) {
	d := openapi.Load(t, []byte(spec))
	d.Alike = strings.ToLower
	for _, tc := range []struct {
		count, body string
		want        bool
	}{
		{"1", `{"id":"a"}`, false}, {"1", `{"id":"A"}`, false}, // not looked at, by the test's own wish
		{"0", `{"id":"a"}`, true}, {"", `{"id":"a"}`, true}, {"1", `{"id":7}`, true}, {"2", `{"id":"A"}`, true},
	} {
		if got := objects(t, d, "GET", "/things/a", 200, tc.count, tc.body); got != tc.want {
			t.Errorf("%q %s: objects %t; want %t", tc.count, tc.body, got, tc.want)
		}
	}
}

func TestExamples(t *testing.T) {
	d := openapi.Load(t, []byte(spec))
	all := d.Examples(t)
	if len(all) != 1 || all[0].Request.Path != "/things/a" || all[0].Request.Method != "GET" || all[0].Request.Server != "other" {
		t.Errorf("Examples = %+v", all)
	}
	sent := d.RequestExamples()
	if len(sent) != 1 || sent[0].Method != "POST" || sent[0].Path != "/things/{id}" {
		t.Errorf("RequestExamples = %+v", sent)
	}
	if got := d.Operations(); !slices.Equal(got, []string{"GET /size", "GET /things/{id}", "GET /things/{id}.txt", "POST /things/{id}"}) {
		t.Errorf("Operations = %q", got)
	}
	v := &verdicts{TB: t}
	openapi.Load(t, []byte(strings.Replace(spec, "x-request", "x-other", 1))).Examples(v)
	if len(v.said) != 1 {
		t.Errorf("an example without a request passes: %q", v.said)
	}
}

// CheckSchemas finds what misleads those who generate clients, and what does not grow.
func TestCheckSchemas(t *testing.T) {
	const before, after = "{id: {type: string, pattern: \"^[a-z]+$\"}}", "schema: {type: object}, examples: {change"
	for _, tc := range []struct {
		old, new string
		want     int
	}{
		{"", "", 0},
		{before, "{id: {enum: [a]}}", 1},
		{before, "{id: {const: a}}", 1},
		{before, "{id: {type: string, enum: [a]}}", 0},
		{before, "{id: {type: number}}", 1},
		{before, "{id: {type: number, format: double}}", 0},
		{before, "{id: {type: integer, maximum: 2147483648}}", 1},
		{before, "{id: {type: integer, maximum: 2147483647}}", 0},
		{before, "{id: {type: integer, format: int64, maximum: 2147483648}}", 0},
		{before, before + ", additionalProperties: false", 1},
		{before, "{id: {type: array, items: {type: object, additionalProperties: false, properties: {a: {type: string}}}}}", 2},
		{before, "{id: {type: object, properties: {a: {type: string}}}}", 1},
		{after, "schema: {type: object, properties: {id: {type: string}}}, examples: {change", 2},
		{after, "schema: {$ref: '#/components/schemas/Thing'}, examples: {change", 1},
		{after, "schema: {type: object, additionalProperties: false, properties: {id: {type: string}}}, examples: {change", 1},
		{"  responses:\n    NotFound", "  securitySchemes: {thing: {type: http, scheme: bearer}}\n  responses:\n    NotFound", 1},
	} {
		v := &verdicts{TB: t}
		openapi.CheckSchemas(v, []byte(strings.Replace(spec, tc.old, tc.new, 1)))
		if len(v.said) != tc.want {
			t.Errorf("%s: %q; want %d faults", tc.new, v.said, tc.want)
		}
	}
}
