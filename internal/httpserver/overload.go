package httpserver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// Overload detects that a server is overloaded, and slows down requests that can wait.
// It regularly sends itself a byte through a pipe and measures how long it takes to
// arrive: as long as a request waits to be noticed and then for a processor. Unlike
// request latency, that does not grow when a database is slow; and the runtime's own
// metrics begin only after a connection was noticed.
type Overload struct {
	level atomic.Int32 // percentage of requests turned away
	last  time.Duration
}

const (
	pressureInterval = 25 * time.Millisecond
	pressureWait     = 50 * time.Millisecond // longer twice in a row: overloaded
	pressureRise     = 5                     // of level, per measurement
	pressureFall     = 1
	pressureMost     = 95

	// pressureHold is how long a request is held before it is turned away. Nothing
	// else arrives on its connection meanwhile, so the most active clients are slowed
	// the most, at no cost.
	pressureHold = 100 * time.Millisecond
)

// Run measures until ctx ends.
func (p *Overload) Run(ctx context.Context) error {
	in, out, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("watch the load of the machine: %w", err)
	}
	defer in.Close()
	arrived := make(chan struct{})
	go func() {
		defer close(arrived)
		for {
			if _, err := in.Read(make([]byte, 1)); err != nil {
				return
			}
			arrived <- struct{}{}
		}
	}()
	defer func() {
		_ = out.Close() // ends the reader, whatever the error
		<-arrived       // the reader has ended
	}()
	ticker := time.NewTicker(pressureInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		sent := time.Now()
		if _, err := out.Write([]byte{0}); err != nil {
			return err
		}
		<-arrived
		p.adjust(time.Since(sent))
	}
}

// adjust raises the level quickly and lowers it slowly.
func (p *Overload) adjust(wait time.Duration) {
	level, both := p.level.Load(), min(wait, p.last)
	p.last = wait
	if both > pressureWait {
		p.level.Store(min(level+pressureRise, pressureMost))
	} else {
		p.level.Store(max(level-pressureFall, 0))
	}
}

// Level returns the percentage of requests that are turned away right now.
func (p *Overload) Level() int { return int(p.level.Load()) }

// Sheds reports whether a request that can wait must be turned away. It has then
// already been held; tell its client to retry.
func (p *Overload) Sheds(r *http.Request) bool {
	level := p.level.Load()
	if level == 0 || rand.Int32N(100) >= level {
		return false
	}
	hold := time.NewTimer(pressureHold)
	defer hold.Stop()
	select {
	case <-hold.C:
	case <-r.Context().Done():
	}
	return true
}
