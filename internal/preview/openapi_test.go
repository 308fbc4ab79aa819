package preview_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/preview"
	"github.com/beacon-wifi/beacon/test/openapi"
)

var update = flag.Bool("update", false, "rewrite openapi.json from openapi.yaml")

func TestOpenAPI_JSONIsTheYAML(t *testing.T) {
	openapi.CheckJSON(t, preview.OpenAPI(), "openapi.json", *update)
}

func TestOpenAPI_Schemas(t *testing.T) { openapi.CheckSchemas(t, preview.OpenAPI()) }

func TestOpenAPI_IsServed(t *testing.T) {
	s := start(t)
	a := s.call(t, "GET", "/api/v1/openapi.yaml") // without a key
	if string(a.body) != string(preview.OpenAPI()) || a.Header.Get("Content-Type") != "application/yaml; charset=utf-8" {
		t.Errorf("openapi.yaml answered %d, %s", a.StatusCode, a.Header.Get("Content-Type"))
	}
	document := decode[struct {
		OpenAPI string
		Info    struct{ Version string }
	}](t, s.call(t, "GET", "/api/v1/openapi.json"), http.StatusOK)
	if document.OpenAPI != "3.1.0" || document.Info.Version != "1.0.0" {
		t.Errorf("openapi.json is OpenAPI %s of the interface's version %s", document.OpenAPI, document.Info.Version)
	}
}

// Each route is in the document, and back.
func TestOpenAPI_NamesEveryRoute(t *testing.T) {
	s := start(t)
	want := s.api.Routes()
	for _, route := range s.api.Routes() {
		want = append(want, "OPTIONS"+route[len("GET"):])
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, s.document.Operations()); diff != "" {
		t.Errorf("served (-) and documented (+) routes differ:\n%s", diff)
	}
}

// Every example is what the server sends.
func TestOpenAPI_Examples(t *testing.T) {
	s := start(t)
	examples := s.document.Examples(t)
	if len(examples) < 9 {
		t.Fatalf("found %d examples; the document has at least 9", len(examples))
	}
	for _, example := range examples {
		var header []string
		if example.Request.Key != "" {
			header = []string{"x-api-key", example.Request.Key}
		}
		a := s.call(t, example.Request.Method, example.Request.Path, header...)
		var got any
		if err := json.Unmarshal(a.body, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(example.Value, got); diff != "" {
			t.Errorf("%s: document (-) and server (+) differ:\n%s", example.Name, diff)
		}
	}
}
