package api

import (
	_ "embed"
	"net/http"
	"time"
)

// The interface's description (decision N24). The YAML is written by hand; the
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

// document serves the API description.
func (a *API) document(contentType string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		a.limits.showFailures(h, r, time.Now())
		h.Set("Content-Type", contentType)
		h.Set("Cache-Control", "public, max-age=3600")
		h["Content-Length"] = decimal(len(body))
		_, _ = w.Write(body)
	})
}
