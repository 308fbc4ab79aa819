package openfeeds

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

// feed is a file with all hotspots.
type feed struct {
	kind   []string                                      // Content-Type
	head   func(f *Feeds, out []byte, e *edition) []byte // what comes before the hotspots
	append func(f *Feeds, out []byte, h *hotspot) []byte // writes one
	keep   func(h *hotspot) bool                         // which hotspots it has; nil: all
}

// feedEnd is what comes after the hotspots of any feed.
const feedEnd = "]}\n"

const (
	pieceSize    = 32 << 10
	downloadTime = 10 * time.Minute // in total, as long as the reader keeps up
	readerTime   = 30 * time.Second // with a reader that does not read
	grace        = 5 * time.Second  // for downloads when the server stops

	// hotspotsARequest is how many hotspots of a download count as a request. Encoding and
	// compressing them takes some 10 ms.
	hotspotsARequest = 5_000
)

// download serves a feed. It is encoded for each request, piece by piece: kept, a feed of
// a million hotspots would take 300 MB.
func (f *Feeds) download(feed feed) endpoint {
	return func(w http.ResponseWriter, r *http.Request) error {
		e := f.editions.current()
		c := coding.Accepted(r.Header["Accept-Encoding"])
		tag := c.Tag(f.tagOf(feed, e))
		h := w.Header()
		h["Vary"] = varyEncoding
		h["Cache-Control"] = forAMinute
		h["Etag"] = []string{tag}
		if static.HasTag(r.Header["If-None-Match"], tag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
		if err := f.mayDownload(w, r, len(e.items)); err != nil {
			delete(h, "Etag")
			return err
		}
		defer f.readers.leave(r)
		h["Content-Type"] = feed.kind
		if c != coding.Identity {
			h["Content-Encoding"] = c.Header()
		}
		w.WriteHeader(http.StatusOK)
		if r.Method != http.MethodHead {
			f.send(w, r, feed, e, c)
		}
		return nil
	}
}

func (f *Feeds) mayDownload(w http.ResponseWriter, r *http.Request, hotspots int) error {
	if err := f.readers.join(r); err != nil {
		return err
	}
	more := hotspots / hotspotsARequest
	if more == 0 {
		return nil
	}
	err := f.charge(w, r, more)
	if err != nil {
		f.readers.leave(r)
	}
	return err
}

// tagOf returns the entity tag of the plain form. What the hotspots are is hashed once for
// an edition; how they are written, by a sample.
func (f *Feeds) tagOf(feed feed, e *edition) string {
	sample := feed.head(f, nil, e)
	if len(e.items) > 0 {
		var h hotspot
		f.editions.view.publish(&h, e, 0)
		sample = feed.append(f, sample, &h)
	}
	return coding.TagOf(append(append(sample, feedEnd...), e.hash[:]...))
}

// send sends the body. If it cannot be finished, the connection is aborted: the client
// would take a part for the whole.
func (f *Feeds) send(w http.ResponseWriter, r *http.Request, feed feed, e *edition, c coding.Coding) {
	ctx, cancel := context.WithTimeout(r.Context(), downloadTime)
	defer cancel()
	defer context.AfterFunc(f.stopping, func() { time.AfterFunc(grace, cancel) })()
	out := bufio.NewWriterSize(&pieces{ctx, w, http.NewResponseController(w)}, pieceSize)
	err := c.Stream(out, func(plain io.Writer) error { return f.write(plain, feed, e) })
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (f *Feeds) write(plain io.Writer, feed feed, e *edition) error {
	text := feed.head(f, make([]byte, 0, pieceSize+pieceSize/8), e)
	var h hotspot // one for all: its address is passed on
	some := false
	for i := range e.items {
		f.editions.view.publish(&h, e, i)
		if feed.keep != nil && !feed.keep(&h) {
			continue
		}
		if some {
			text = append(text, ",\n"...)
		}
		some = true
		if text = feed.append(f, text, &h); len(text) >= pieceSize {
			if _, err := plain.Write(text); err != nil {
				return err
			}
			text = text[:0]
		}
	}
	_, err := plain.Write(append(text, feedEnd...))
	return err
}

// pieces sends a response piece by piece, each with a deadline of its own.
type pieces struct {
	ctx     context.Context
	w       http.ResponseWriter
	control *http.ResponseController
}

func (p *pieces) Write(piece []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	if err := p.control.SetWriteDeadline(time.Now().Add(readerTime)); err != nil {
		return 0, err
	}
	return p.w.Write(piece)
}

// readers counts and limits downloads: each occupies a connection and an encoder, up to
// some hundred kilobytes.
type readers struct {
	mu     sync.Mutex
	all    int
	byAddr map[netip.Prefix]int
}

// join admits a download, or returns an error. Each successful join needs a leave.
func (c *readers) join(r *http.Request) error {
	from := edge.Address(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.byAddr[from] >= maxReadersAnAddress:
		return errTooMany
	case c.all >= maxReaders:
		return errFull
	}
	c.all++
	c.byAddr[from]++
	return nil
}

func (c *readers) leave(r *http.Request) {
	from := edge.Address(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.byAddr[from]--; c.byAddr[from] == 0 {
		delete(c.byAddr, from)
	}
}

const (
	maxReaders          = 64
	maxReadersAnAddress = 8
	busyTime            = 5 * time.Second
)

var (
	errTooMany = &beacon.Error{Kind: beacon.RateLimited, Message: "this address reads too many feeds at once: finish one first", RetryAfter: busyTime}
	errFull    = &beacon.Error{Kind: beacon.Overloaded, Message: "too many feeds are being read; try again", RetryAfter: busyTime}
)
