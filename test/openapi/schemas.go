package openapi

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/yaml"
)

// CheckSchemas fails the test when a document would mislead programs that generate
// clients from it, or does not let the interface grow:
//
//   - an enum or a constant without a type, for which some generate code that cannot run;
//   - a number without a format, which some read as one of 32 bits, and an integer
//     that may be beyond 32 bits without the format int64;
//   - an object of a response that forbids properties that it does not name, since
//     properties may be added;
//   - an object of a request that permits them, since the server refuses them;
//   - an object without a name, for which each generator invents another;
//   - a way to authenticate whose name differs from that of a schema in case alone: both
//     become one type.
func CheckSchemas(t testing.TB, document []byte) {
	t.Helper()
	spec, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	if objects := unnamed(t, spec); len(objects) > 0 {
		t.Errorf("objects without a name: %q; describe them in components/schemas", objects)
	}
	for scheme := range spec.Components.SecuritySchemes {
		for schema := range spec.Components.Schemas {
			if strings.EqualFold(scheme, schema) {
				t.Errorf("the security scheme %s and the schema %s differ in case alone", scheme, schema)
			}
		}
	}
	walk(t, spec.WalkSchemas, func(at string, s *openapi3.Schema) {
		if (s.Enum != nil || s.Const != nil) && s.Type == nil {
			t.Errorf("%s: an enum or a constant without a type", at)
		}
		if s.Type.Is(openapi3.TypeNumber) && s.Format != "double" {
			t.Errorf("%s: a number without the format double", at)
		}
		if s.Type.Is(openapi3.TypeInteger) && s.Max != nil && *s.Max > math.MaxInt32 && s.Format != "int64" {
			t.Errorf("%s: an integer of more than 32 bits without the format int64", at)
		}
	})
	for path, item := range spec.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.RequestBody != nil {
				checkContent(t, method+" "+path, operation.RequestBody.Value.Content, true)
			}
			for status, response := range operation.Responses.Map() {
				checkContent(t, method+" "+path+" "+status, response.Value.Content, false)
			}
		}
	}
	for name, response := range spec.Components.Responses {
		checkContent(t, name, response.Value.Content, false)
	}
}

// unnamed returns where objects with properties are described outside of components/schemas.
func unnamed(t testing.TB, spec *openapi3.T) (at []string) {
	t.Helper()
	err := spec.WalkSchemas(func(pointer string, ref *openapi3.SchemaRef) error {
		name, named := strings.CutPrefix(pointer, "/components/schemas/")
		if ref.Ref == "" && ref.Value.Properties != nil && (!named || strings.Contains(name, "/")) {
			at = append(at, pointer)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// checkContent checks that the objects in a body are closed, or open.
func checkContent(t testing.TB, name string, content openapi3.Content, closed bool) {
	t.Helper()
	for _, media := range content {
		if media.Schema == nil {
			continue
		}
		walk(t, media.Schema.WalkSubtree, func(at string, s *openapi3.Schema) {
			more := s.AdditionalProperties.Has
			if s.Properties != nil && closed != (more != nil && !*more) {
				t.Errorf("%s%s: an object that forbids other properties: %t; want %t", name, at, !closed, closed)
			}
		})
	}
}

// closeObjects makes every object forbid properties that it does not name, so that
// a test notices what the server sends and the document does not tell.
func closeObjects(t testing.TB, spec *openapi3.T) {
	t.Helper()
	walk(t, spec.WalkSchemas, func(_ string, s *openapi3.Schema) {
		if s.Properties != nil && s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil {
			s.AdditionalProperties.Has = new(bool)
		}
	})
}

func walk(t testing.TB, all func(openapi3.WalkSchemasFunc) error, visit func(at string, s *openapi3.Schema)) {
	t.Helper()
	if err := all(func(at string, ref *openapi3.SchemaRef) error {
		visit(at, ref.Value)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// CheckJSON fails the test when the file at path is not the document, written
// as YAML, in JSON; with update it rewrites the file first.
func CheckJSON(t testing.TB, document []byte, path string, update bool) {
	t.Helper()
	want, err := yaml.YAMLToJSON(document)
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not the YAML document: run make generate", path)
	}
}
