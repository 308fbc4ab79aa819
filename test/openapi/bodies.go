package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documentURL is what schemas call the document that they are part of.
const documentURL = "https://document.invalid/openapi.json"

// bodies holds JSON to the schemas of a document. Each is compiled once, which takes much
// longer than a check: package openapi3filter compiles one for each response.
type bodies struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[*openapi3.Schema]*jsonschema.Schema
}

func newBodies(t testing.TB, spec *openapi3.T) *bodies {
	t.Helper()
	text, err := spec.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	b := &bodies{compiler: jsonschema.NewCompiler(), compiled: map[*openapi3.Schema]*jsonschema.Schema{}}
	b.compiler.DefaultDraft(jsonschema.Draft2020)
	b.compiler.RegisterFormat(&jsonschema.Format{Name: "int32", Validate: whole(math.MinInt32, math.MaxInt32)})
	b.compiler.RegisterFormat(&jsonschema.Format{Name: "int64", Validate: whole(math.MinInt64, math.MaxInt64)})
	b.compiler.AssertFormat()
	if err := b.add(documentURL, text); err != nil {
		t.Fatalf("the OpenAPI document as a JSON schema: %v", err)
	}
	return b
}

// whole checks that a number is a whole one in a range.
func whole(least, most int64) func(any) error {
	return func(v any) error {
		number, ok := v.(json.Number)
		if !ok {
			return nil // for the type to say
		}
		if n, err := number.Int64(); err != nil || n < least || n > most {
			return fmt.Errorf("%s is not a whole number from %d to %d", number, least, most)
		}
		return nil
	}
}

func (b *bodies) add(url string, text []byte) error {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return b.compiler.AddResource(url, parsed)
}

// check returns what is wrong with a body.
func (b *bodies) check(of *openapi3.SchemaRef, body []byte) error {
	schema, err := b.compile(of)
	if err != nil {
		return fmt.Errorf("the schema does not compile: %w", err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(parsed)
}

func (b *bodies) compile(of *openapi3.SchemaRef) (*jsonschema.Schema, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if schema := b.compiled[of.Value]; schema != nil {
		return schema, nil
	}
	url := documentURL + of.Ref
	if of.Ref == "" { // it stands in a response
		text, err := json.Marshal(of.Value)
		if err != nil {
			return nil, err
		}
		url = fmt.Sprintf("https://document.invalid/%d.json", len(b.compiled))
		if err := b.add(url, []byte(strings.ReplaceAll(string(text), `"$ref":"#`, `"$ref":"`+documentURL+"#"))); err != nil {
			return nil, err
		}
	}
	schema, err := b.compiler.Compile(url)
	if err == nil {
		b.compiled[of.Value] = schema
	}
	return schema, err
}
