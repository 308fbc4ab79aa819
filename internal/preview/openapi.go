package preview

import _ "embed"

// The interface's description (decision P9). The YAML is written by hand; the
// JSON is the same document, made by "go generate" and held to it by a test.
//
//go:generate go test -run TestOpenAPI_JSONIsTheYAML -update .
var (
	//go:embed openapi.yaml
	openapiYAML []byte
	//go:embed openapi.json
	openapiJSON []byte
)

// OpenAPI returns the API description as YAML, for the command line.
func OpenAPI() []byte { return openapiYAML }

// OpenAPIJSON returns the API description as JSON, for the documentation.
func OpenAPIJSON() []byte { return openapiJSON }
