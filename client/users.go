package client

import (
	"context"
	"io"
	"net/http"
	"time"
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
	return call[Quota](ctx, c, get(path("users", user, "quota"), nil))
}

// SetQuota sets how much a user may have. It needs the scope admin.
func (c *Client) SetQuota(ctx context.Context, user string, form QuotaForm) (Quota, error) {
	return call[Quota](ctx, c, request{method: http.MethodPut, path: path("users", user, "quota"), body: form})
}

// Export returns all that is stored of a user as a ZIP archive. The caller closes it.
// It needs the scope keys:manage; another user's data needs admin.
func (c *Client) Export(ctx context.Context, user string) (io.ReadCloser, error) {
	return c.Download(ctx, path("users", user, "export"), "application/zip")
}

// ErasureStatus says how far an erasure is.
type ErasureStatus string

// The statuses of an erasure.
const (
	NoErasure     ErasureStatus = "none"    // nobody has asked
	ErasureWaits  ErasureStatus = "waiting" // it can be taken back
	ErasureRuns   ErasureStatus = "erasing" // what open months need is still there
	ErasureIsDone ErasureStatus = "erased"
)

// Erasure is the wish that what is stored of a user be erased.
type Erasure struct {
	UserID   string        `json:"user_id"`
	Status   ErasureStatus `json:"status"`
	AskedAt  *time.Time    `json:"asked_at"` // nil: nobody has asked
	DueAt    *time.Time    `json:"due_at"`
	ErasedAt *time.Time    `json:"erased_at"` // nil: not yet
}

// AskErasure asks to erase what is stored of a user, 30 days from now; "me" is the key's
// user. It needs the scope keys:manage, and admin for another user. Asked again, it changes
// nothing.
func (c *Client) AskErasure(ctx context.Context, user string) (Erasure, error) {
	return call[Erasure](ctx, c, request{method: http.MethodPost, path: path("users", user, "erasure"), again: true})
}

// Erasure returns how far the erasure of a user is.
func (c *Client) Erasure(ctx context.Context, user string) (Erasure, error) {
	return call[Erasure](ctx, c, get(path("users", user, "erasure"), nil))
}

// WithdrawErasure takes the wish back, which is possible until it is due.
func (c *Client) WithdrawErasure(ctx context.Context, user string) error {
	return c.silent(ctx, request{method: http.MethodDelete, path: path("users", user, "erasure")})
}
