package client

import (
	"context"
	"io"
	"net/http"
)

// Quota is how much a user may have at a time, with all keys together.
type Quota struct {
	UserID     string `json:"user_id"`
	Hotspots   int    `json:"hotspots"` // that wait to be verified
	Keys       int    `json:"keys"`     // in force
	Streams    int    `json:"streams"`  // of events
	Statements int    `json:"statements"`
}

// QuotaForm is a quota to set. What is nil becomes what everyone may have.
type QuotaForm struct {
	Hotspots   *int `json:"hotspots,omitempty"`
	Keys       *int `json:"keys,omitempty"`
	Streams    *int `json:"streams,omitempty"`
	Statements *int `json:"statements,omitempty"`
}

// Quota returns how much a user may have. Those of others need the scope admin; "me" is
// the key's user.
func (c *Client) Quota(ctx context.Context, user string) (Quota, error) {
	q, _, err := call[Quota](ctx, c, get(path("users", user, "quota"), nil))
	return q, err
}

// Export returns all that is stored of a user as a ZIP archive. The caller closes it.
// It needs the scope keys:manage; another user's data needs admin.
func (c *Client) Export(ctx context.Context, user string) (io.ReadCloser, error) {
	return c.Download(ctx, path("users", user, "export"), "application/zip")
}

// SetQuota sets how much a user may have. It needs the scope admin.
func (c *Client) SetQuota(ctx context.Context, user string, form QuotaForm) (Quota, error) {
	q, _, err := call[Quota](ctx, c, request{method: http.MethodPut, path: path("users", user, "quota"), body: form})
	return q, err
}
