//go:build !linux

package simulate

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
)

// Agents are devices that run the real agent, which needs Linux.
type Agents struct{}

// StartAgents returns an error.
func (*Client) StartAgents(context.Context, string, []*Device, *atomic.Int64) (*Agents, error) {
	return nil, errors.New("--agents needs Linux")
}

// Run does nothing.
func (*Agents) Run(context.Context, io.Writer) error { return nil }

// Outcome returns nothing.
func (*Agents) Outcome(context.Context) (online int, bytes uint64, err error) { return 0, 0, nil }
