package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/client"
)

// obstacle stands between a client and a server, and lets a request through only
// after some others.
type obstacle struct {
	*httptest.Server
	refuse func(w http.ResponseWriter, r *http.Request)
	left   atomic.Int64 // how many it still refuses
	seen   atomic.Int64
}

func before(t testing.TB, s *server, refuse func(http.ResponseWriter, *http.Request)) *obstacle {
	t.Helper()
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	o := &obstacle{refuse: refuse}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, FlushInterval: -1}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.seen.Add(1)
		if o.left.Add(-1) >= 0 {
			o.refuse(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *obstacle) refuseNext(n int64) {
	o.left.Store(n)
	o.seen.Store(0)
}

func answering(status int, retryAfter string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", retryAfter)
		w.Header().Set("X-Request-Id", "req_refused")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":{"code":"overloaded","message":"later"}}`)
	}
}

// hangUp takes the request, and answers nothing.
func hangUp(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	panic(http.ErrAbortHandler)
}

// lost does what is asked, and answers nothing.
func (s *server) lost(_ http.ResponseWriter, r *http.Request) {
	target, _ := url.Parse(s.url)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	proxy.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// What may be repeated is repeated: what the server refused for now, and what got
// no answer. Everything else is sent once.
func TestRetries(t *testing.T) {
	t.Parallel()
	s := unlimited(t)
	key := s.key(t, "admin")
	direct := newClient(t, s.url, key)
	made := must(direct.RegisterHotspot(t.Context(), library(1)))(t)
	place := client.Verification{Lat: made.Location.Lat, Lng: made.Location.Lng, AccuracyM: 1, Method: "gps"}
	must(direct.VerifyHotspot(t.Context(), made.ID, place))(t)
	code := must(direct.CreateLinkCode(t.Context(), made.ID))(t)
	device := must(direct.LinkDevice(t.Context(), code.Code, made.Device.MACAddress))(t)
	spare := must(direct.RegisterHotspot(t.Context(), library(2)))(t)
	n := 2
	tries := map[string]struct {
		repeated bool
		try      func(*client.Client) error
	}{
		"get":   {true, func(c *client.Client) error { _, err := c.Hotspot(t.Context(), made.ID); return err }},
		"pages": {true, func(c *client.Client) error { _, err := c.KeysPage(t.Context(), "", client.PageQuery{}); return err }},
		"register": {true, func(c *client.Client) error {
			n++
			_, err := c.RegisterHotspot(t.Context(), library(n))
			return err
		}},
		"verify": {true, func(c *client.Client) error { _, err := c.VerifyHotspot(t.Context(), made.ID, place); return err }},
		"check in": {true, func(c *client.Client) error {
			_, err := c.CheckIn(t.Context(), made.ID, client.CheckIn{Install: "0123456789abcdef"})
			return err
		}},
		"heartbeat": {true, func(c *client.Client) error {
			_, err := c.WithKey(device.DeviceKey).SendHeartbeat(t.Context(), made.ID, client.Heartbeat{BootID: "b"})
			return err
		}},
		"download": {true, func(c *client.Client) error {
			body, err := c.Download(t.Context(), "/v1/openapi.yaml", "")
			if err == nil {
				_ = body.Close()
			}
			return err
		}},
		"change": {false, func(c *client.Client) error {
			_, err := c.ChangeHotspot(t.Context(), made.ID, client.Change{})
			return err
		}},
		"link code": {true, func(c *client.Client) error { _, err := c.CreateLinkCode(t.Context(), made.ID); return err }},
		"link": {true, func(c *client.Client) error {
			code := must(direct.CreateLinkCode(t.Context(), spare.ID))(t)
			_, err := c.LinkDevice(t.Context(), code.Code, spare.Device.MACAddress)
			return err
		}},
		"key":    {true, func(c *client.Client) error { _, err := c.CreateKey(t.Context(), client.KeyCreation{}); return err }},
		"unlink": {false, func(c *client.Client) error { return c.UnlinkDevice(t.Context(), spare.ID) }},
	}
	for trouble, refuse := range map[string]func(http.ResponseWriter, *http.Request){
		"429": answering(http.StatusTooManyRequests, "0"), "503": answering(http.StatusServiceUnavailable, ""), "hung up": hangUp, "lost": s.lost,
	} {
		o := before(t, s, refuse)
		c := newClient(t, o.URL, key, client.WithHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}))
		for name, one := range tries {
			o.refuseNext(1)
			err, want := one.try(c), int64(2)
			if !one.repeated {
				want = 1
			}
			if (err == nil) != one.repeated || o.seen.Load() != want {
				t.Errorf("%s after %s: %v, sent %d times", name, trouble, err, o.seen.Load())
			}
		}
	}
	if total := must(direct.HotspotsPage(t.Context(), "me", client.PageQuery{}))(t).Total; total != n {
		t.Errorf("%d hotspots were registered, %d are there", n, total)
	}
}

// Patience has bounds: of tries, of time, and of the context.
func TestRetries_AreBounded(t *testing.T) {
	t.Parallel()
	s := unlimited(t)
	key := s.key(t, "")
	o := before(t, s, answering(http.StatusServiceUnavailable, "0"))
	ask := func(ctx context.Context, options ...client.Option) error {
		o.refuseNext(1 << 40)
		_, err := newClient(t, o.URL, key, options...).OwnKey(ctx)
		return err
	}
	for _, tries := range []int{1, 3} {
		err := ask(t.Context(), client.WithRetries(tries, time.Second))
		if e, ok := errors.AsType[*client.Error](err); !ok || e.RequestID != "req_refused" || !errors.Is(err, client.ErrOverloaded) || o.seen.Load() != int64(tries) {
			t.Errorf("with %d tries: %v after %d", tries, err, o.seen.Load())
		}
	}
	o.refuse = answering(http.StatusTooManyRequests, "3600")
	err := ask(t.Context())
	if e, ok := errors.AsType[*client.Error](err); !ok || e.RetryAfter != time.Hour || o.seen.Load() != 1 {
		t.Errorf("asked to wait for an hour: %v after %d", err, o.seen.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.refuse = func(w http.ResponseWriter, r *http.Request) {
		answering(http.StatusTooManyRequests, "3600")(w, r)
		time.AfterFunc(20*time.Millisecond, cancel)
	}
	if err := ask(ctx, client.WithRetries(5, 2*time.Hour)); err == nil || o.seen.Load() != 1 { // it would wait for an hour
		t.Errorf("whoever gave up 20 ms after the answer got %v after %d", err, o.seen.Load())
	}
	o.refuse = answering(http.StatusServiceUnavailable, "1")
	o.refuseNext(1)
	began := time.Now()
	if _, err := newClient(t, o.URL, key).OwnKey(t.Context()); err != nil || time.Since(began) < time.Second {
		t.Errorf("asked to wait for a second: %v after %v", err, time.Since(began))
	}
	o.refuse = answering(http.StatusInternalServerError, "")
	if err := ask(t.Context()); err == nil || o.seen.Load() != 1 {
		t.Errorf("an internal error: %v after %d", err, o.seen.Load())
	}
	hung := before(t, s, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	hung.refuseNext(1)
	c := newClient(t, hung.URL, key, client.WithTimeout(time.Second), client.WithRetries(100, time.Second), client.WithHTTPClient(&http.Client{Transport: &http.Transport{}}))
	if _, err := c.OwnKey(t.Context()); err != nil || hung.seen.Load() < 2 { // on a slow machine, one that does not hang may take too long as well
		t.Errorf("a try that hangs: %v after %d", err, hung.seen.Load())
	}
}

// A server that really limits is asked as often as it likes.
func TestRetries_HonourTheServersLimit(t *testing.T) {
	t.Parallel()
	s := start(t, "", "--rate-limit", "1/s:2")
	wire := new(recorder)
	c := s.as(t, "", wire.option())
	calls := 0
	for len(wire.made()) == calls { // until one is sent twice, for it was refused
		must(c.OwnKey(t.Context()))(t)
		if calls++; calls == 1000 {
			t.Fatal("the server refuses nothing")
		}
	}
	impatient := s.as(t, "", client.WithRetries(1, 0))
	var err error
	for range 100 {
		if _, err = impatient.OwnKey(t.Context()); err != nil {
			break
		}
	}
	if e, ok := errors.AsType[*client.Error](err); !ok || !errors.Is(err, client.ErrRateLimited) || e.RetryAfter < time.Second || e.Code != "rate_limit_exceeded" {
		t.Errorf("without patience: %v", err)
	}
}

// The same key and registration give the same hotspot; another registration does
// not.
func TestRegister_IdempotencyKey(t *testing.T) {
	t.Parallel()
	c := unlimited(t).as(t, "hotspots:write")
	in := library(1)
	in.IdempotencyKey = "import 1"
	first := must(c.RegisterHotspot(t.Context(), in))(t)
	again := must(c.RegisterHotspot(t.Context(), in))(t)
	if first.Replayed || !again.Replayed || again.ID != first.ID {
		t.Errorf("registered %s (%t), and again %s (%t)", first.ID, first.Replayed, again.ID, again.Replayed)
	}
	in.Name = "Another"
	if _, err := c.RegisterHotspot(t.Context(), in); !errors.Is(err, client.ErrConflict) || !strings.Contains(err.Error(), "Idempotency-Key") {
		t.Errorf("another registration with the same key: %v", err)
	}
}

// Sequences ask for page after page, and for no more than is wanted.
func TestPages(t *testing.T) {
	t.Parallel()
	wire := new(recorder)
	c := unlimited(t).as(t, "hotspots:write,hotspots:verify", wire.option()) // whom no quota limits
	const count = 230
	for n := range count {
		must(c.RegisterHotspot(t.Context(), library(n)))(t)
	}
	asked := len(wire.made())
	names := map[string]bool{}
	for h, err := range c.Hotspots(t.Context(), "me") {
		names[must(h, err)(t).Name] = true
	}
	if len(names) != count || len(wire.made()) != asked+3 {
		t.Errorf("%d hotspots came in %d pages", len(names), len(wire.made())-asked)
	}
	for h, err := range c.Hotspots(t.Context(), "me") {
		must(h, err)(t)
		break
	}
	if len(wire.made()) != asked+4 {
		t.Errorf("for the first one, %d pages were asked for", len(wire.made())-asked-3)
	}
	p := must(c.HotspotsPage(t.Context(), "me", client.PageQuery{Page: 3, PerPage: 7}))(t)
	if p.Page != 3 || p.PerPage != 7 || p.Total != count || p.TotalPages != 33 || len(p.Items) != 7 || p.Items[0].Name != "Library 14" {
		t.Errorf("page 3 is %+v with %d items: %+v", p.Pagination, len(p.Items), p.Items)
	}
	ended := 0
	for _, err := range c.Hotspots(t.Context(), "usr_other") {
		ended++
		if !errors.Is(err, client.ErrForbidden) {
			t.Errorf("another user's hotspots: %v", err)
		}
	}
	if ended != 1 {
		t.Errorf("a sequence that failed went on %d times", ended)
	}
}
