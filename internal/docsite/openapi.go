package docsite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// document is the part of an OpenAPI document that the pages show. It is decoded
// strictly: unknown members are refused, so nothing is left out silently.
type document struct {
	OpenAPI string `json:"openapi"`
	Info    struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Summary     string `json:"summary"`
		Description string `json:"description"`
		License     struct {
			Name       string `json:"name"`
			Identifier string `json:"identifier"`
			URL        string `json:"url"`
		} `json:"license"`
	} `json:"info"`
	Servers []struct {
		URL         string `json:"url"`
		Description string `json:"description"`
	} `json:"servers"`
	Security   security            `json:"security"`
	Tags       []tag               `json:"tags"`
	Paths      map[string]pathItem `json:"paths"`
	Components struct {
		Headers         map[string]header         `json:"headers"`
		Parameters      map[string]parameter      `json:"parameters"`
		Responses       map[string]response       `json:"responses"`
		Schemas         map[string]*schema        `json:"schemas"`
		SecuritySchemes map[string]securityScheme `json:"securitySchemes"`
	} `json:"components"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// security lists the alternatives that permit an operation. If empty, none is needed.
type security []map[string][]string

type securityScheme struct {
	Type         string `json:"type"`
	Scheme       string `json:"scheme"`
	BearerFormat string `json:"bearerFormat"`
	In           string `json:"in"`
	Name         string `json:"name"`
	Description  string `json:"description"`
}

type pathItem struct {
	Parameters []parameter `json:"parameters"`
	Get        *operation  `json:"get"`
	Head       *operation  `json:"head"`
	Post       *operation  `json:"post"`
	Put        *operation  `json:"put"`
	Patch      *operation  `json:"patch"`
	Delete     *operation  `json:"delete"`
	Options    *operation  `json:"options"`
}

type operation struct {
	ID          string              `json:"operationId"`
	Tags        []string            `json:"tags"`
	Summary     string              `json:"summary"`
	Description string              `json:"description"`
	Security    *security           `json:"security"` // absent: as for the whole document
	Parameters  []parameter         `json:"parameters"`
	RequestBody *requestBody        `json:"requestBody"`
	Responses   map[string]response `json:"responses"`
}

type parameter struct {
	Ref         string          `json:"$ref"`
	Name        string          `json:"name"`
	In          string          `json:"in"`
	Description string          `json:"description"`
	Required    bool            `json:"required"`
	Style       string          `json:"style"`
	Explode     *bool           `json:"explode"`
	Schema      *schema         `json:"schema"`
	Example     json.RawMessage `json:"example"`
}

type requestBody struct {
	Description string               `json:"description"`
	Required    bool                 `json:"required"`
	Content     map[string]mediaType `json:"content"`
}

type response struct {
	Ref         string               `json:"$ref"`
	Description string               `json:"description"`
	Headers     map[string]header    `json:"headers"`
	Content     map[string]mediaType `json:"content"`
}

type header struct {
	Ref         string  `json:"$ref"`
	Description string  `json:"description"`
	Required    bool    `json:"required"`
	Schema      *schema `json:"schema"`
}

type mediaType struct {
	Schema   *schema            `json:"schema"`
	Examples map[string]example `json:"examples"`
}

type example struct {
	Summary     string          `json:"summary"`
	Description string          `json:"description"`
	Value       json.RawMessage `json:"value"`
	Request     json.RawMessage `json:"x-request"` // the request with which tests check the example
}

// schema is the part of JSON Schema that the documents use.
type schema struct {
	Ref                  string             `json:"$ref"`
	Type                 string             `json:"type"`
	Nullable             bool               `json:"nullable"` // OpenAPI 3.0
	Format               string             `json:"format"`
	Description          string             `json:"description"`
	Pattern              string             `json:"pattern"`
	Enum                 []json.RawMessage  `json:"enum"`
	Const                json.RawMessage    `json:"const"`
	Default              json.RawMessage    `json:"default"`
	Minimum              json.Number        `json:"minimum"`
	Maximum              json.Number        `json:"maximum"`
	ExclusiveMinimum     json.Number        `json:"exclusiveMinimum"`
	ExclusiveMaximum     json.Number        `json:"exclusiveMaximum"`
	MinLength            json.Number        `json:"minLength"`
	MaxLength            json.Number        `json:"maxLength"`
	MinItems             json.Number        `json:"minItems"`
	MaxItems             json.Number        `json:"maxItems"`
	UniqueItems          bool               `json:"uniqueItems"`
	Properties           map[string]*schema `json:"properties"`
	Required             []string           `json:"required"`
	AdditionalProperties unnamed            `json:"additionalProperties"`
	Items                *schema            `json:"items"`
	OneOf                []*schema          `json:"oneOf"`
	AnyOf                []*schema          `json:"anyOf"`
	AllOf                []*schema          `json:"allOf"`
}

// unnamed says which properties an object has that are not named.
type unnamed struct {
	none bool
	each *schema // nil: anything
}

func (o *unnamed) UnmarshalJSON(source []byte) error {
	var any bool
	if json.Unmarshal(source, &any) == nil {
		o.none = !any
		return nil
	}
	return decodeStrictly(source, &o.each)
}

// forms returns the schemas of which a value has one.
func (s *schema) forms() []*schema { return slices.Concat(s.OneOf, s.AnyOf) }

func parseDocument(source []byte) (*document, error) {
	var d document
	if err := decodeStrictly(source, &d); err != nil {
		return nil, err
	}
	d.prefixPaths()
	return &d, nil
}

func decodeStrictly(source []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(source))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one document")
	}
	return nil
}

// prefixPaths makes paths those that a client requests, if the server is not the root.
func (d *document) prefixPaths() {
	if len(d.Servers) == 0 || d.Servers[0].URL == "/" {
		return
	}
	paths := map[string]pathItem{}
	for path, item := range d.Paths {
		paths[d.Servers[0].URL+strings.TrimSuffix(path, "/")] = item
	}
	d.Paths = paths
}

// Prefixes of references, by the kind of their target.
const (
	toSchemas    = "#/components/schemas/"
	toParameters = "#/components/parameters/"
	toResponses  = "#/components/responses/"
	toHeaders    = "#/components/headers/"
)

// lookUp follows a reference. A dangling one is an error in the document, which the tests
// of its API would detect.
func lookUp[T any](kind, ref string, in map[string]T) (name string, found T) {
	name, ok := strings.CutPrefix(ref, kind)
	if !ok {
		panic(fmt.Errorf("docsite: the reference %s is not to %s", ref, kind))
	}
	found, ok = in[name]
	if !ok {
		panic(fmt.Errorf("docsite: the reference %s does not exist", ref))
	}
	return name, found
}

// operations returns the operations of a path, in the order they are shown.
func (p pathItem) operations() []methodOperation {
	all := []methodOperation{
		{"GET", p.Get}, {"HEAD", p.Head}, {"POST", p.Post}, {"PUT", p.Put}, {"PATCH", p.Patch}, {"DELETE", p.Delete}, {"OPTIONS", p.Options},
	}
	present := all[:0]
	for _, o := range all {
		if o.operation != nil {
			present = append(present, o)
		}
	}
	return present
}

type methodOperation struct {
	method    string
	operation *operation
}
