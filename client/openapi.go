package client

import (
	"context"
	"io"
	"net/http"
)

// OpenAPIYAML returns the OpenAPI document of the API, as YAML. It needs no key.
func (c *Client) OpenAPIYAML(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "openapi.yaml")
}

// OpenAPIJSON returns the same document as JSON.
func (c *Client) OpenAPIJSON(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "openapi.json")
}

func (c *Client) document(ctx context.Context, name string) (text []byte, err error) {
	r := get(path(name), nil)
	r.open = true
	err = c.do(ctx, r, func(response *http.Response) (err error) {
		text, err = io.ReadAll(response.Body)
		return err
	})
	return text, err
}
