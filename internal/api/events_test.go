package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/test/harness"
)

// event is what stands in the data of one.
type event struct {
	ID      int64  `json:"id"`
	Type    string `json:"type"`
	Hotspot string `json:"hotspot_id"`
	User    string `json:"user_id"`
	Period  string `json:"period"`
	At      string `json:"at"`
}

// listener reads a stream.
type listener struct {
	t        testing.TB
	server   *server
	response *http.Response
	lines    *bufio.Scanner
	read     strings.Builder
	hangUp   context.CancelFunc
}

// listen opens a stream that must be accepted.
func (c client) listen(t testing.TB, query string, header ...string) *listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	response := c.send(ctx, t, http.MethodGet, "/v1/events"+query, nil, header...)
	l := &listener{t: t, server: c.server, response: response, lines: bufio.NewScanner(response.Body), hangUp: cancel}
	t.Cleanup(l.close)
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" || response.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("listening is answered with %s, %v", response.Status, response.Header)
	}
	for _, want := range []string{": events of the network", "retry: 2000", ""} {
		if got := l.line(); got != want {
			t.Fatalf("the stream begins with %q; want %q", got, want)
		}
	}
	return l
}

// close hangs up, and holds what was read to the document.
func (l *listener) close() {
	openapi3filter.RegisterBodyDecoder("text/event-stream", openapi3filter.PlainBodyDecoder)
	l.server.document.Check(l.t, l.response.Request, l.response, []byte(l.read.String()))
	l.server.checkCommon(l.t, answer{l.response, nil})
	l.hangUp()
	l.response.Body.Close()
}

// line reads one, or fails when the stream ends.
func (l *listener) line() string {
	l.t.Helper()
	if !l.lines.Scan() {
		l.t.Fatalf("the stream ended after %q: %v", l.read.String(), l.lines.Err())
	}
	l.read.WriteString(l.lines.Text() + "\n")
	return l.lines.Text()
}

// next reads an event.
func (l *listener) next() event {
	l.t.Helper()
	line := l.line()
	for line == "" || strings.HasPrefix(line, ":") {
		line = l.line()
	}
	number, ok1 := strings.CutPrefix(line, "id: ")
	kind, ok2 := strings.CutPrefix(l.line(), "event: ")
	text, ok3 := strings.CutPrefix(l.line(), "data: ")
	var e event
	err := json.Unmarshal([]byte(text), &e)
	if end := l.line(); !ok1 || !ok2 || !ok3 || err != nil || end != "" || strconv.FormatInt(e.ID, 10) != number || e.Type != kind {
		l.t.Fatalf("this is no event: %s", l.read.String())
	}
	return e
}

// ended waits for the end of the stream.
func (l *listener) ended() {
	l.t.Helper()
	for l.lines.Scan() {
		if text := l.lines.Text(); text != "" && !strings.HasPrefix(text, ":") {
			l.t.Fatalf("the stream goes on: %s", text)
		}
	}
}

func TestEvents(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, reader := s.operator(t), s.anyone(t, "hotspots:verify")
		l := reader.listen(t, "")
		m := c.install(t, 1)
		s.verify(t, m.hotspot)
		c.patch(t, m.hotspot, `{"name":"Another"}`).want(t, http.StatusOK)
		m.beat(t, beat(1)).want(t, http.StatusOK)
		var last event
		for i, kind := range []string{"hotspot.registered", "hotspot.linked", "hotspot.verified", "hotspot.updated", "hotspot.online"} {
			e := l.next()
			if e.Type != kind || "/v1/hotspots/"+e.Hotspot != m.hotspot || e.At != "2026-11-15T12:00:00.000Z" || i > 0 && e.ID != last.ID+1 {
				t.Errorf("event %d is %+v; want %s", i, e, kind)
			}
			last = e
		}
		c.delete(t, m.hotspot).want(t, http.StatusNoContent)
		if e := l.next(); e.Type != "hotspot.deleted" || e.ID != last.ID+1 {
			t.Errorf("then %+v; want hotspot.deleted", e)
		}

		// Read on from any of them, in either way, at another server too.
		other := client{server: start(t, s.db, alive), plain: reader.plain}
		for _, again := range []*listener{
			reader.listen(t, at("?after=%d", last.ID)),
			reader.listen(t, "", "Last-Event-ID", strconv.FormatInt(last.ID, 10)),
			other.listen(t, "?after=0", "Last-Event-ID", strconv.FormatInt(last.ID, 10)),
		} {
			if e := again.next(); e.ID != last.ID+1 || e.Type != "hotspot.deleted" {
				t.Errorf("after %d comes %+v", last.ID, e)
			}
		}
		if e := other.listen(t, "?after=0").next(); e.ID != 1 {
			t.Errorf("from the beginning: %+v", e)
		}
	})
}

func TestEvents_Parameters(t *testing.T) {
	s := onSQLite(t, alive)
	c := s.anyone(t)
	for _, bad := range []string{"-1", "x", "", "1.0", "1e3", "0x1", "9223372036854775808", "+", "%00"} {
		wantFault(t, c.get(t, "/v1/events?after="+bad), http.StatusBadRequest, "invalid_request", "after")
	}
	wantFault(t, c.get(t, "/v1/events?after=1&after=1"), http.StatusBadRequest, "invalid_request", "after")
	wantFault(t, c.get(t, "/v1/events?after=x", "Last-Event-ID", "y"), http.StatusBadRequest, "invalid_request", "after", "Last-Event-ID")
	wantFault(t, c.get(t, "/v1/events", "Last-Event-ID", "1", "Last-Event-ID", "1"), http.StatusBadRequest, "invalid_request", "Last-Event-ID")
	wantFault(t, c.get(t, "/v1/events?after=99"), http.StatusConflict, "conflict")
	wantFault(t, s.call(t, "GET", "/v1/events", ""), http.StatusUnauthorized, "unauthorized")
}

// HEAD gets the header of a stream and no stream: its connection is free for the next
// request.
func TestEvents_Head(t *testing.T) {
	s := onSQLite(t, alive)
	c := s.anyone(t)
	head := c.do(t, "HEAD", "/v1/events", "").want(t, http.StatusOK)
	if head.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %v", head.Header)
	}
	harness.Eventually(t, "nobody listens", func() bool { return s.Hub.Listeners() == 0 })
	c.get(t, "/v1/keys/self").want(t, http.StatusOK)
}

// A stream that has nothing to say, says so.
func TestEvents_Alive(t *testing.T) {
	s := onSQLite(t, alive)
	s.api.SetPatience(10*time.Millisecond, time.Minute)
	l := s.anyone(t).listen(t, "")
	for range 3 {
		if got := l.line(); got != ": nothing new" || l.line() != "" {
			t.Errorf("the stream says %q", got)
		}
	}
}

// A stream does not outlive its key.
func TestEvents_KeyEnds(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		s.api.SetPatience(10*time.Millisecond, time.Minute)
		admin, revoked := s.anyone(t, "admin"), s.anyone(t)
		creation := accessCreation()
		creation.ExpiresAt = beacon.Some(noon.Add(time.Hour))
		expired := s.keyOf(t, "new", creation)
		first, second := revoked.listen(t, ""), expired.listen(t, "")
		admin.delete(t, "/v1/keys/"+string(revoked.key)).want(t, http.StatusNoContent)
		first.ended()
		if second.line() != ": nothing new" {
			t.Error("the other stream ended too")
		}
		s.advance(2 * time.Hour)
		second.ended()
	})
}

// When the server stops, streams end at once.
func TestEvents_Drain(t *testing.T) {
	s := onSQLite(t, alive)
	c := s.anyone(t)
	l := c.listen(t, "")
	s.Hub.Close()
	l.ended()
	a := c.get(t, "/v1/events")
	wantFault(t, a, http.StatusServiceUnavailable, "overloaded")
	if a.Header.Get("Retry-After") == "" {
		t.Errorf("%s has no Retry-After", a)
	}
}

// A stream outlives the limits of a server for answers that end.
func TestEvents_OutlivesTimeouts(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	s := onSQLite(t, options{limits: ample, live: true, timeout: timeout})
	s.api.SetPatience(50*time.Millisecond, time.Minute)
	l := s.anyone(t).listen(t, "")
	for began := time.Now(); time.Since(began) < 2*timeout; {
		l.line()
	}
}

// busy is a log in which something always happens.
type busy struct{}

func (busy) EventHead(context.Context) (oldest, newest int64, err error) { return 1, 1 << 40, nil }

func (busy) Events(_ context.Context, after int64, limit int) ([]beacon.Event, error) {
	page := make([]beacon.Event, limit)
	for i := range page {
		page[i] = beacon.Event{Seq: after + 1 + int64(i), Kind: beacon.HotspotUpdated, Target: "hs_1", At: noon}
	}
	return page, nil
}

// old is a log whose beginning is no longer kept.
type old struct{ busy }

func (old) EventHead(context.Context) (oldest, newest int64, err error) { return 100, 200, nil }

// Who comes back too late hears so, and what to do.
func TestEvents_Gone(t *testing.T) {
	s := onSQLite(t, options{limits: ample, events: old{}})
	c := s.anyone(t)
	for _, after := range []string{"1", "98", "201"} {
		a := c.get(t, "/v1/events", "Last-Event-ID", after)
		wantFault(t, a, http.StatusConflict, "conflict")
		if !strings.Contains(string(a.body), "start without a number") {
			t.Errorf("%s does not tell what to do", a)
		}
	}
	if e := c.listen(t, "?after=99").next(); e.ID != 100 {
		t.Errorf("after 99 comes %+v", e)
	}
}

// Someone who does not read is let go.
func TestEvents_SlowReader(t *testing.T) {
	s := onSQLite(t, options{limits: ample, events: busy{}})
	s.api.SetPatience(time.Minute, 50*time.Millisecond)
	c := s.anyone(t)
	conn := c.readLittle(t, "/v1/events?after=0")
	harness.Eventually(t, "it to be let go", func() bool { return s.api.Listeners() == 0 })
	read, err := io.Copy(io.Discard, conn) // what was on its way, and then the end
	if read == 0 {
		t.Errorf("read %d bytes, %v", read, err)
	}
}

// readLittle asks for something long, and reads no more than that it has begun. On a
// slow machine a server that waits for milliseconds may give up before: then it is
// asked again.
func (c client) readLittle(t *testing.T, path string) (conn net.Conn) {
	t.Helper()
	harness.Eventually(t, "the beginning", func() bool {
		var err error
		if conn, err = net.Dial("tcp", c.Listener.Addr().String()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, c.plain)
		_, err = conn.Read(make([]byte, 1))
		return err == nil
	})
	return conn
}

// A key may listen a few times at once.
func TestEvents_HowMany(t *testing.T) {
	s := onSQLite(t, alive)
	c, other := s.anyone(t), s.anyone(t)
	var all []*listener
	for range api.MaxPerKey {
		all = append(all, c.listen(t, ""))
	}
	a := c.get(t, "/v1/events")
	wantFault(t, a, http.StatusTooManyRequests, "rate_limit_exceeded")
	if a.Header.Get("Retry-After") == "" {
		t.Errorf("%s has no Retry-After", a)
	}
	s.api.Crowd(api.MaxListeners - api.MaxPerKey - 1)
	other.listen(t, "")
	a = other.get(t, "/v1/events")
	wantFault(t, a, http.StatusServiceUnavailable, "overloaded")
	if a.Header.Get("Retry-After") == "" {
		t.Errorf("%s has no Retry-After", a)
	}
	s.api.Crowd(1 + api.MaxPerKey - api.MaxListeners)
	all[0].hangUp()
	harness.Eventually(t, "the end of the stream", func() bool { return s.api.Listeners() == api.MaxPerKey })
	c.listen(t, "")
}

// An operator hears that a hotspot was verified and linked, strangers do not.
func TestEvents_AreFor(t *testing.T) {
	s := onSQLite(t, alive)
	operator, stranger, staff := s.operator(t), s.anyone(t), s.anyone(t, "hotspots:verify")
	m := operator.install(t, 1)
	s.verify(t, m.hotspot)
	operator.patch(t, m.hotspot, `{"name":"The last"}`).want(t, http.StatusOK)
	all := []string{"hotspot.registered", "hotspot.linked", "hotspot.verified", "hotspot.updated"}
	for who, test := range map[string]struct {
		client
		hears []string
	}{
		"operator": {operator, all}, "staff": {staff, all}, "stranger": {stranger, []string{"hotspot.registered", "hotspot.updated"}},
	} {
		l := test.listen(t, "?after=0")
		for _, want := range test.hears {
			if got := l.next(); got.Type != want {
				t.Errorf("the %s heard %+v; want %s", who, got, want)
			}
		}
	}
}

func TestEvents_Form(t *testing.T) {
	e := beacon.Event{Seq: 123, Kind: "hotspot.online", Target: "hs_1", User: "usr_1", At: noon}
	const want = "id: 123\nevent: hotspot.online\ndata: {\"id\":123,\"type\":\"hotspot.online\",\"hotspot_id\":\"hs_1\",\"at\":\"2026-11-15T12:00:00.000Z\"}\n\n"
	if got := string(api.AppendEvent(nil, e)); got != want {
		t.Errorf("an event is written as %q; want %q", got, want)
	}
	settled := beacon.Event{Seq: 124, Kind: "rewards.settled", Target: "2026-10", User: "usr_1", At: noon}
	const wantSettled = "id: 124\nevent: rewards.settled\ndata: {\"id\":124,\"type\":\"rewards.settled\",\"user_id\":\"usr_1\",\"period\":\"2026-10\",\"at\":\"2026-11-15T12:00:00.000Z\"}\n\n"
	if got := string(api.AppendEvent(nil, settled)); got != wantSettled {
		t.Errorf("an event is written as %q; want %q", got, wantSettled)
	}
}

func facts(radius float64) fleet.Condition {
	return fleet.Condition{Status: "online", RadiusM: float64(radius), Signal: beacon.FairSignal, Tier: beacon.Premium, Load: 2500, Uptime: 10_000}
}
