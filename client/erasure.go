package client

import (
	"context"
	"net/http"
	"time"
)

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
	e, _, err := call[Erasure](ctx, c, request{method: http.MethodPost, path: path("users", user, "erasure"), again: true})
	return e, err
}

// Erasure returns how far the erasure of a user is.
func (c *Client) Erasure(ctx context.Context, user string) (Erasure, error) {
	e, _, err := call[Erasure](ctx, c, get(path("users", user, "erasure"), nil))
	return e, err
}

// WithdrawErasure takes the wish back, which is possible until it is due.
func (c *Client) WithdrawErasure(ctx context.Context, user string) error {
	return c.silent(ctx, request{method: http.MethodDelete, path: path("users", user, "erasure")})
}
