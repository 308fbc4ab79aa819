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
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
)

// Kind is what happened to a row.
type Kind int

// What can happen to a row.
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

	err error // not the row's own: it ends the import
}

// Register registers hotspots, and returns the outcome of each.
type Register func(context.Context, []candidate) []Outcome

// importer processes rows, some concurrently, and reports their outcomes in order.
type importer struct {
	register Register       // nil in a dry run
	slots    chan struct{}  // one for each request at the same time
	seen     map[string]int // the line of each MAC address
	unused   names
}

// task is a row being processed.
type task struct {
	place string
	line  int
	candidate
	Outcome
}

const (
	// batchSize is how many rows are processed together.
	batchSize = 100
	// batchBytes is after how many bytes fewer rows are: a request has a limit.
	batchBytes = 128 << 10
)

// batch is a part of the rows.
type batch struct {
	tasks []*task
	ready []*task // to be registered
	bytes int
	done  chan struct{}
}

// Run imports rows, as many batches at once as there are connections, and tells the place and
// the outcome of each row in order. Without register it only checks them. It ends with the
// first error that is not a row's own: it still tells of the rows that were begun, and begins no
// others. It returns the names of columns that are not used, because one may be misspelt.
func Run(
	ctx context.Context, rows Rows, register Register, connections int, tell func(place string, o Outcome),
) (unused []string, err error) {
	im := importer{register: register, slots: make(chan struct{}, connections), seen: map[string]int{}, unused: names{}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begun := make(chan *batch, connections)
	var ended error // why the rows did, if not at their end
	go func() {
		defer close(begun)
		ended = im.feed(ctx, rows, begun)
	}()
	for b := range begun {
		<-b.done
		for _, t := range b.tasks {
			if t.err != nil {
				cancel(fmt.Errorf("line %s: %w; to go on, import the file again", t.place, t.err))
				continue
			}
			tell(t.place, t.Outcome)
		}
	}
	return im.unused.sorted(), cmp.Or(context.Cause(ctx), ended)
}

// feed reads rows, and registers those that are hotspots. If rows end with an error, those
// before it are processed.
func (im *importer) feed(ctx context.Context, rows Rows, begun chan<- *batch) error {
	b := &batch{done: make(chan struct{})}
	for r, err := range rows {
		if err != nil || ctx.Err() != nil {
			im.begin(ctx, b, begun)
			return err
		}
		im.unused.note(r.unused)
		t := &task{place: r.place(), line: r.line}
		if b.tasks = append(b.tasks, t); im.examine(t, r) {
			b.ready = append(b.ready, t)
		}
		for _, cell := range r.cells {
			b.bytes += len(cell)
		}
		if len(b.tasks) == batchSize || b.bytes > batchBytes {
			if !im.begin(ctx, b, begun) {
				return nil
			}
			b = &batch{done: make(chan struct{})}
		}
	}
	im.begin(ctx, b, begun)
	return nil
}

// begin registers a batch. It reports false if nobody waits for it any more.
func (im *importer) begin(ctx context.Context, b *batch, begun chan<- *batch) bool {
	select {
	case begun <- b:
	case <-ctx.Done():
		return false
	}
	im.slots <- struct{}{}
	go func() {
		defer close(b.done)
		if len(b.ready) > 0 {
			all := make([]candidate, len(b.ready))
			for i, t := range b.ready {
				all[i] = t.candidate
			}
			for i, o := range im.register(ctx, all) {
				b.ready[i].Outcome = o
			}
		}
		<-im.slots
	}()
	return true
}

// examine reports whether there is anything left to do with a row.
func (im *importer) examine(t *task, r row) bool {
	if !r.located() {
		t.Outcome = Outcome{Kind: Skipped, Text: "no coordinates: skipped"}
		return false
	}
	var err error
	if t.candidate, err = r.read(); err != nil {
		t.Outcome = Outcome{Kind: Failed, Text: err.Error()}
		return false
	}
	mac := t.hotspot.Device.MAC.Canonical()
	if line, twice := im.seen[mac]; twice {
		t.Outcome = Outcome{Kind: Failed, Text: fmt.Sprintf("mac_address is that of line %d too", line)}
		return false
	}
	im.seen[mac] = t.line
	return im.register != nil
}

// maxUnused limits how many unused columns are remembered.
const maxUnused = 20

// names are those of columns that are not used.
type names map[string]bool

func (n names) note(unused []string) {
	for _, name := range unused {
		if len(n) < maxUnused {
			n[name] = true
		}
	}
}

func (n names) sorted() []string { return slices.Sorted(maps.Keys(n)) }
