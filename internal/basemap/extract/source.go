package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Limits of a server: how long it may be silent, how often a request is tried, and how
// often it may send us elsewhere.
const (
	silence      = 30 * time.Second
	tries        = 5
	maxRedirects = 5
	leastRange   = 256 << 10 // that it must send at once, if it does not send all that is asked for
)

// firstRead is how much is read of a build to begin with: its header and first directory
// are in it.
const firstRead = 16 << 10

// source is a build on a server, read in ranges. It is the same build all the time: a
// response that is of another one is an error.
type source struct {
	ctx    context.Context // of the command: ReadAt takes none
	client *http.Client
	url    *url.URL
	pause  func(context.Context, time.Duration) bool // false: ctx ended
	quiet  time.Duration                             // how long the server may be silent

	start []byte // the first bytes
	size  int64
	tag   string // what the server says to tell builds apart
}

// An errFinal is an error that another try does not mend.
type errFinal struct{ error }

// errNotThere is returned if the server does not have the build.
var errNotThere = errors.New("the server does not have it")

// errChanged is returned if the build was replaced meanwhile.
var errChanged = errors.New("the build has changed meanwhile; run it again")

// newClient returns what sends requests. Each needs no more than one connection.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	transport.MaxResponseHeaderBytes = 64 << 10
	transport.MaxIdleConnsPerHost = connections
	return &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errFinal{errors.New("the server redirects again and again")}
		}
		if via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
			return errFinal{errors.New("the server redirects to an address without https")}
		}
		return nil
	}}
}

// open reads the first bytes of the build, and so what tells it apart. It does not try
// again: the address may be wrong.
func (s *source) open() error {
	s.start = make([]byte, firstRead)
	n, err := s.request(s.start, 0)
	s.start = s.start[:n]
	if final, ok := errors.AsType[errFinal](err); ok {
		return final.error
	}
	return err
}

// ReadAt reads a range of the build. It tries again when the connection fails.
func (s *source) ReadAt(p []byte, at int64) (n int, err error) {
	if at < 0 || at > s.size-int64(len(p)) {
		return 0, io.ErrUnexpectedEOF
	}
	if at < int64(len(s.start)) {
		n = copy(p, s.start[at:])
	}
	for n < len(p) && err == nil { // a response may have less than was asked for
		var more int
		more, err = s.retry(p[n:], at+int64(n))
		n += more
	}
	return n, err
}

func (s *source) retry(p []byte, at int64) (n int, err error) {
	for try := range tries {
		if try > 0 {
			if !s.pause(s.ctx, time.Second<<(try-1)) {
				return 0, s.ctx.Err()
			}
		}
		n, err = s.request(p, at)
		if final, ok := errors.AsType[errFinal](err); ok {
			return 0, final.error
		}
		if err == nil || s.ctx.Err() != nil {
			return n, err
		}
	}
	return 0, fmt.Errorf("%s: tried %d times: %w", s.url.Host, tries, err)
}

// request sends one request for a range that begins at a place.
func (s *source) request(p []byte, at int64) (n int, err error) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.quiet, func() { cancel(fmt.Errorf("the server was silent for %v", s.quiet)) })
	defer timer.Stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url.String(), nil)
	if err != nil {
		return 0, errFinal{err}
	}
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", at, at+int64(len(p))-1))
	r.Header.Set("Accept-Encoding", "identity")
	response, err := s.client.Do(r)
	if err != nil {
		if of, ok := errors.AsType[*url.Error](err); ok {
			err = of.Err // without the address, which may have a password
		}
		return 0, causeOf(ctx, err)
	}
	defer response.Body.Close()
	if n, err = s.check(response, at, len(p)); err != nil {
		return 0, err
	}
	if _, err := io.ReadFull(&watched{response.Body, timer, s.quiet}, p[:n]); err != nil {
		return 0, causeOf(ctx, fmt.Errorf("the response was cut: %w", err))
	}
	return n, nil
}

// causeOf returns why a request was canceled, or else the error.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// check returns how much of the range a response has.
func (s *source) check(response *http.Response, at int64, most int) (n int, err error) {
	final := func(format string, args ...any) (int, error) { return 0, errFinal{fmt.Errorf(format, args...)} }
	switch code := response.StatusCode; {
	case code == http.StatusPartialContent:
	case code == http.StatusOK:
		return final("the server does not send ranges: it would send all of the build")
	case code == http.StatusNotFound || code == http.StatusForbidden || code == http.StatusGone:
		return 0, errFinal{fmt.Errorf("%w: status %d", errNotThere, code)}
	case code == http.StatusTooManyRequests || code >= 500:
		return 0, fmt.Errorf("status %d", code)
	default:
		return final("status %d", code)
	}
	if coding := response.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return final("the server compresses ranges (%s)", coding)
	}
	from, to, size, ok := contentRange(response.Header.Get("Content-Range"))
	if !ok || from != at || to-from >= int64(most) {
		return final("the server sends another range than the one asked for: %.80q", response.Header.Get("Content-Range"))
	}
	n = int(to - from + 1)
	if n < min(most, leastRange) && to != size-1 {
		return final("the server sends only %d bytes at a time", n)
	}
	if response.ContentLength >= 0 && response.ContentLength != int64(n) {
		return final("the server says that a range of %d bytes has %d", n, response.ContentLength)
	}
	tag := response.Header.Get("ETag")
	if tag == "" {
		tag = response.Header.Get("Last-Modified")
	}
	if s.size == 0 {
		s.size, s.tag = size, tag
	} else if s.size != size || s.tag != tag {
		return 0, errFinal{errChanged}
	}
	return n, nil
}

// contentRange parses the header of that name, such as "bytes 0-99/1000".
func contentRange(text string) (from, to, size int64, ok bool) {
	text, found := strings.CutPrefix(text, "bytes ")
	span, whole, cut := strings.Cut(text, "/")
	first, last, dash := strings.Cut(span, "-")
	numbers := [3]int64{}
	for i, part := range []string{first, last, whole} {
		v, err := strconv.ParseUint(part, 10, 62)
		if err != nil {
			return 0, 0, 0, false
		}
		numbers[i] = int64(v)
	}
	from, to, size = numbers[0], numbers[1], numbers[2]
	return from, to, size, found && cut && dash && from <= to && to < size
}

// watched is a body that must not be silent for long.
type watched struct {
	io.Reader
	timer *time.Timer
	quiet time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.timer.Reset(w.quiet)
	return n, err
}
