package extract

import (
	"context"
	"time"
)

// WithoutWaiting makes tries follow each other at once. A server may be silent for that long.
func WithoutWaiting(o Order, quiet time.Duration) Order {
	o.pause, o.quiet = func(ctx context.Context, _ time.Duration) bool { return ctx.Err() == nil }, quiet
	return o
}
