package httpserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
)

// presence ends the context of a request when its client has left. net/http ends it as
// soon as there is nothing more to read, but a client that has closed only its sending
// side is waiting for its response (decision D99). The fast path does the same in its
// reaper.
type presence struct {
	mu        sync.Mutex
	cancel    context.CancelFunc // ends the context of the current request
	ended     bool               // the client will send nothing more
	broken    bool               // the client can neither send nor receive
	withInput bool               // see EndWithInput
}

// watch returns the request with a context that ends when the client has left, or when
// stop is called.
func (p *presence) watch(r *http.Request) (watched *http.Request, stop context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cancel, p.withInput = cancel, false
	p.update()
	return r.WithContext(ctx), cancel
}

// update must be called with the lock held.
func (p *presence) update() {
	if p.cancel != nil && (p.broken || p.ended && p.withInput) {
		p.cancel()
	}
}

// set sets a flag of p.
func (p *presence) set(flag *bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*flag = true
	p.update()
}

// read takes the error of a read. A client that is slow to send has not left.
func (p *presence) read(err error) {
	switch {
	case err == nil, errors.Is(err, os.ErrDeadlineExceeded):
	case errors.Is(err, io.EOF):
		p.set(&p.ended)
	default:
		p.set(&p.broken)
	}
}

// written takes the error of a write. Whatever it is, the rest will not be read.
func (p *presence) written(err error) {
	if err != nil {
		p.set(&p.broken)
	}
}

// EndWithInput makes the context of a request end also when the client has closed only
// its sending side. It is for responses that never end: whether somebody still reads one
// would only show at the next write.
func EndWithInput(w http.ResponseWriter) {
	for {
		switch v := w.(type) {
		case interface{ EndWithInput() }:
			v.EndWithInput()
			return
		case interface{ Unwrap() http.ResponseWriter }:
			w = v.Unwrap()
		default:
			return // net/http alone: its contexts always end so
		}
	}
}
