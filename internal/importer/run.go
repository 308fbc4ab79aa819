// Package importer registers the hotspots of a file at a server: it reads rows, checks
// each with the rules that the server applies, and registers those that are not there
// yet. It changes no hotspot that exists, so that a file can be imported again.
//
// Its one invariant: a hotspot is registered once, however often its file is imported.
//
//	rows, err := importer.Read(file, importer.Mapping{})
//	server, err := importer.Connect(ctx, url, key, 8)
//	unused, err := importer.Run(ctx, rows, server.Register, 8, func(place string, o importer.Outcome) { … })
package importer

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Kind tells what became of a row.
type Kind int

// What can become of a row.
const (
	Registered Kind = iota // or, in a dry run, could be
	Present
	Different // present, with other values
	Skipped   // it has no coordinates, so it cannot be registered
	Failed
)

// Outcome is the result of a row.
type Outcome struct {
	Kind Kind
	Text string // for people; may be empty
}

// Register registers a hotspot. An error ends the import.
type Register func(context.Context, candidate) (Outcome, error)

// importer processes rows, some concurrently, and reports their outcomes in order.
type importer struct {
	register Register       // nil in a dry run
	slots    chan struct{}  // one for each row that is being registered
	seen     map[string]int // the line of each MAC address
	unused   map[string]bool
}

// task is a row being processed.
type task struct {
	row
	candidate
	Outcome
	err  error
	done chan struct{}
}

// Run imports rows, as many at once as there are connections, and tells the place and
// the outcome of each in order. Without register it only checks them. It ends with the
// first error that is not a row's own: it tells of all rows begun by then, and begins no
// others. It returns the names of columns that are not used, because one may be misspelt.
func Run(
	ctx context.Context, rows Rows, register Register, connections int, tell func(place string, o Outcome),
) (unused []string, err error) {
	im := importer{register: register, slots: make(chan struct{}, connections), seen: map[string]int{}, unused: map[string]bool{}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begun := make(chan *task, 4*connections)
	go func() {
		defer close(begun)
		if err := im.feed(ctx, rows, begun); err != nil {
			cancel(err)
		}
	}()
	for t := range begun {
		<-t.done
		if t.err != nil {
			cancel(fmt.Errorf("line %s: %w; to go on, import the file again", t.place(), t.err))
			continue
		}
		tell(t.place(), t.Outcome)
	}
	return slices.Sorted(maps.Keys(im.unused)), context.Cause(ctx)
}

// feed reads rows, and registers those that are hotspots.
func (im *importer) feed(ctx context.Context, rows Rows, begun chan<- *task) error {
	for r, err := range rows {
		if err != nil || ctx.Err() != nil {
			return err
		}
		t := &task{row: r, done: make(chan struct{})}
		im.note(r.unused)
		ready := im.examine(t)
		select {
		case begun <- t:
		case <-ctx.Done():
			return nil
		}
		if !ready {
			close(t.done)
			continue
		}
		im.slots <- struct{}{}
		go func() {
			t.Outcome, t.err = im.register(ctx, t.candidate)
			<-im.slots
			close(t.done)
		}()
	}
	return nil
}

// examine reports whether there is anything left to do with a row.
func (im *importer) examine(t *task) bool {
	if !t.located() {
		t.Outcome = Outcome{Skipped, "no coordinates: skipped"}
		return false
	}
	var err error
	if t.candidate, err = t.read(); err != nil {
		t.Outcome = Outcome{Failed, err.Error()}
		return false
	}
	mac := t.hotspot.Device.MAC.Canonical()
	if line, twice := im.seen[mac]; twice {
		t.Outcome = Outcome{Failed, fmt.Sprintf("mac_address is that of line %d too", line)}
		return false
	}
	im.seen[mac] = t.line
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
