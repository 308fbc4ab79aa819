package main

import (
	"context"
	"fmt"
	"sync"
)

type outcomeKind int

const (
	isRegistered outcomeKind = iota // or, in a dry run, could be
	isThere
	differs // exists, with other values
	hasFailed
)

// outcome is the result of a row.
type outcome struct {
	kind outcomeKind
	text string // for people; may be empty
}

// registrar registers a hotspot. An error ends the import.
type registrar func(context.Context, candidate) (outcome, error)

// importer processes rows, some concurrently, and reports their outcomes in order.
type importer struct {
	register    registrar // nil in a dry run
	connections int
	seen        map[string]int // the line of each MAC address
	unused      map[string]bool
}

// job is a row being processed.
type job struct {
	row
	candidate
	outcome
	err  error
	done chan struct{}
}

// run ends with the first error that is not a row's own. It reports all rows begun by
// then, and begins no others.
func (im *importer) run(ctx context.Context, rows rowSource, tell func(row, outcome)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begun, work := make(chan *job, 4*im.connections), make(chan *job)
	var working sync.WaitGroup
	for range im.connections {
		working.Go(func() {
			for j := range work {
				j.outcome, j.err = im.register(ctx, j.candidate)
				close(j.done)
			}
		})
	}
	working.Go(func() {
		defer close(begun)
		defer close(work)
		cancelWith(cancel, im.feed(ctx, rows, begun, work))
	})
	for j := range begun {
		<-j.done
		if j.err != nil {
			cancelWith(cancel, fmt.Errorf("line %s: %w; to go on, import the file again", j.place(), j.err))
			continue
		}
		tell(j.row, j.outcome)
	}
	working.Wait()
	return context.Cause(ctx)
}

func cancelWith(cancel context.CancelCauseFunc, err error) {
	if err != nil {
		cancel(err)
	}
}

// feed reads rows, and passes those that are hotspots to the workers.
func (im *importer) feed(ctx context.Context, rows rowSource, begun, work chan<- *job) error {
	for r, err := range rows {
		if err != nil || ctx.Err() != nil {
			return err
		}
		j := &job{row: r, done: make(chan struct{})}
		im.note(r.unused)
		ready := im.examine(j)
		select {
		case begun <- j:
		case <-ctx.Done():
			return nil
		}
		if !ready {
			close(j.done)
			continue
		}
		work <- j
	}
	return nil
}

// examine reports whether there is anything left to do with a row.
func (im *importer) examine(j *job) bool {
	var err error
	if j.candidate, err = j.read(); err != nil {
		j.outcome = outcome{hasFailed, err.Error()}
		return false
	}
	mac := j.hotspot.Device.MAC.Canonical()
	if line, twice := im.seen[mac]; twice {
		j.outcome = outcome{hasFailed, fmt.Sprintf("mac_address is that of line %d too", line)}
		return false
	}
	im.seen[mac] = j.line
	return im.register != nil
}

// maxUnused limits how many unused columns are remembered.
const maxUnused = 20

func (im *importer) note(unused []string) {
	for _, name := range unused {
		if len(im.unused) < maxUnused {
			im.unused[name] = true
		}
	}
}
