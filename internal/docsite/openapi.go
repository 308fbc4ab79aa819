package docsite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
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
	None bool
	each *schema // nil: anything
}

func (o *unnamed) UnmarshalJSON(source []byte) error {
	var any bool
	if json.Unmarshal(source, &any) == nil {
		o.None = !any
		return nil
	}
	return decodeStrictly(source, &o.each)
}

// forms returns the schemas of which a value has one.
func (s *schema) forms() []*schema { return slices.Concat(s.OneOf, s.AnyOf) }

func parseDocument(source []byte) (*document, error) {
	var d document
	return &d, decodeStrictly(source, &d)
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

// lookUp follows a reference to a component. A dangling one is an error in the document,
// which the tests of its API would detect.
func lookUp[T any](ref string, in map[string]T) T {
	found, ok := in[path.Base(ref)]
	if !ok {
		panic(fmt.Errorf("docsite: the reference %s does not exist", ref))
	}
	return found
}

// endpoint is an operation, with what the document says elsewhere filled in.
type endpoint struct {
	Method, Path string // the path that a client requests
	*operation
	Parameters []parameter // also those of the path, with references resolved
}

// endpoints returns all operations, in the order they are shown.
func (d *document) endpoints() []endpoint {
	var all []endpoint
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		item := d.Paths[path]
		if len(d.Servers) > 0 && d.Servers[0].URL != "/" {
			path = d.Servers[0].URL + strings.TrimSuffix(path, "/")
		}
		for _, e := range []endpoint{
			{"GET", path, item.Get, nil},
			{"HEAD", path, item.Head, nil},
			{"POST", path, item.Post, nil},
			{"PUT", path, item.Put, nil},
			{"PATCH", path, item.Patch, nil},
			{"DELETE", path, item.Delete, nil},
			{"OPTIONS", path, item.Options, nil},
		} {
			if e.operation == nil {
				continue
			}
			if e.Security == nil {
				e.Security = &d.Security
			}
			e.Parameters = slices.Concat(item.Parameters, e.operation.Parameters)
			for i, p := range e.Parameters {
				if p.Ref != "" {
					e.Parameters[i] = lookUp(p.Ref, d.Components.Parameters)
				}
			}
			all = append(all, e)
		}
	}
	return all
}

// Keys returns the names of the security schemes, any of which permits the operation. If
// there are none, it is open to all.
func (o *operation) Keys() []string {
	var names []string
	for _, one := range *o.Security {
		names = append(names, slices.Sorted(maps.Keys(one))...)
	}
	return names
}

// Scopes are in the text of an operation: OpenAPI has them only for OAuth.
var scopeText = regexp.MustCompile("Needs\\s+the\\s+scope\\s+`([^`]+)`")

// Scope returns the scope that a key must have, or nothing.
func (o *operation) Scope() string {
	if found := scopeText.FindStringSubmatch(o.Description); found != nil {
		return found[1]
	}
	return ""
}

// format is a body in one format.
type format struct {
	Media string
	mediaType
}

// formats returns the formats of a body, JSON first: it is the default.
func formats(content map[string]mediaType) []format {
	var all []format
	for _, kind := range slices.Sorted(maps.Keys(content)) {
		all = append(all, format{kind, content[kind]})
	}
	slices.SortStableFunc(all, func(a, b format) int { return first(a.Media == "application/json", b.Media == "application/json") })
	return all
}

// first compares two values for sorting, of which one may have to come first.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
