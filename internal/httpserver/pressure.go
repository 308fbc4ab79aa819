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

// Pressure tells when a server has more to do than it can, and slows down those
// who can wait. It sends itself a byte through a pipe now and then and watches how
// long it takes to arrive: as long as a request waits to be noticed and then for
// a processor. Unlike the time that requests take, that does not grow when a
// database is slow; and the runtime's own figures begin only where a connection
// was already noticed.
type Pressure struct {
	level atomic.Int32 // of a hundred requests, how many are turned away
	last  time.Duration
}

const (
	pressureInterval = 25 * time.Millisecond
	pressureWait     = 50 * time.Millisecond // longer twice in a row: too much to do
	pressureRise     = 5                     // of level, at each look
	pressureFall     = 1
	pressureMost     = 95

	// pressureHold is how long a request that is turned away waits for that. On
	// its connection nothing else comes meanwhile, so those who ask most are
	// slowed most, at no cost.
	pressureHold = 100 * time.Millisecond
)

// Run watches until ctx ends.
func (p *Pressure) Run(ctx context.Context) error {
	in, out, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("watch how busy the machine is: %w", err)
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
		_ = out.Close() // ends the reader, whatever it says
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
func (p *Pressure) adjust(wait time.Duration) {
	level, both := p.level.Load(), min(wait, p.last)
	p.last = wait
	if both > pressureWait {
		p.level.Store(min(level+pressureRise, pressureMost))
	} else {
		p.level.Store(max(level-pressureFall, 0))
	}
}

// Level is how many of a hundred requests are turned away right now.
func (p *Pressure) Level() int { return int(p.level.Load()) }

// Yields reports whether a request that can wait has to give way to others. It
// then has already waited; its client should be told to come back.
func (p *Pressure) Yields(r *http.Request) bool {
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
