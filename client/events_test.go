package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// Whatever happens to connections, each event comes once and in order.
func TestEvents_GoOnWhereTheyStopped(t *testing.T) {
	t.Parallel()
	s := unlimited(t)
	key := s.key(t, "hotspots:write")
	c := newClient(t, s.url, key)
	o := before(t, s, answering(http.StatusServiceUnavailable, "0"))
	listener := newClient(t, o.URL, key)
	first := must(c.RegisterHotspot(t.Context(), library(0)))(t)
	count := level.Rounds(17, 40, 40) // each eighth ends with a broken connection, and one that is refused as well
	want, got := []string{first.ID}, []string{}
	var last int64
	for event, err := range listener.Events(t.Context(), client.FromOldest) {
		event = must(event, err)(t)
		if event.Type != "hotspot.registered" || event.ID <= last || event.At.IsZero() {
			t.Fatalf("after %d comes %+v", last, event)
		}
		last = event.ID
		if got = append(got, event.HotspotID); len(got) == count {
			break
		}
		want = append(want, must(c.RegisterHotspot(t.Context(), library(len(got))))(t).ID)
		switch len(got) % 8 {
		case 0:
			o.CloseClientConnections()
		case 4:
			o.refuseNext(1)
			o.CloseClientConnections()
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("heard of %d hotspots, registered %d:\n%v\n%v", len(got), len(want), got, want)
	}
	var rest []string // whoever reads on from a number gets what is after it
	for event, err := range c.Events(t.Context(), last-1) {
		rest = append(rest, must(event, err)(t).HotspotID)
		break
	}
	if rest[0] != want[count-1] {
		t.Errorf("after the last but one comes %v", rest)
	}
}

// Who listens from now on hears what happens next.
func TestEvents_FromNow(t *testing.T) {
	t.Parallel()
	s := unlimited(t)
	wire := new(recorder)
	c := s.as(t, "hotspots:write")
	must(c.RegisterHotspot(t.Context(), library(1)))(t)
	harness.Eventually(t, "the first is told", func() bool {
		for range c.Events(t.Context(), client.FromOldest) {
			return true
		}
		return false
	})
	heard := make(chan client.Event)
	go func() {
		for event := range s.as(t, "", wire.option()).Events(t.Context(), client.FromNow) {
			heard <- event
			return
		}
	}()
	listening := func() bool { return len(wire.made()) > 0 }
	harness.Eventually(t, "someone listens", listening)
	for n, began := 2, time.Now(); ; n++ { // when the server has heard of the listener, nobody knows
		made := must(c.RegisterHotspot(t.Context(), library(n)))(t)
		select {
		case event := <-heard:
			if event.Type != "hotspot.registered" || event.HotspotID > made.ID {
				t.Errorf("heard of %+v; the newest is %s", event, made.ID)
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
		if time.Since(began) > harness.Patience {
			t.Fatal("nothing is heard")
		}
	}
}

// It ends when it makes no sense to go on, and says why.
func TestEvents_End(t *testing.T) {
	t.Parallel()
	s := unlimited(t)
	c := s.as(t, "keys:manage,hotspots:write")
	only := func(events func(yield func(client.Event, error) bool)) (err error) {
		n := 0
		for _, e := range events {
			err = e
			n++
		}
		if n != 1 {
			t.Errorf("it went on %d times", n)
		}
		return err
	}
	if err := only(c.WithKey("bcn_no").Events(t.Context(), client.FromNow)); !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("without a key: %v", err)
	}
	if err := only(c.Events(t.Context(), 1<<40)); !errors.Is(err, client.ErrConflict) {
		t.Errorf("after an event that is not there: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := only(c.Events(ctx, client.FromNow)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("when the context ends: %v", err)
	}

	// A key that is revoked while it listens.
	short := must(c.CreateKey(t.Context(), client.KeyCreation{Name: "short"}))(t)
	must(c.RegisterHotspot(t.Context(), library(1)))(t)
	n := 1
	for _, err := range c.WithKey(short.Secret).Events(t.Context(), client.FromOldest) {
		if err != nil {
			if !errors.Is(err, client.ErrUnauthorized) {
				t.Errorf("a revoked key: %v", err)
			}
			break
		}
		if n == 1 {
			if err := c.RevokeKey(t.Context(), short.ID); err != nil {
				t.Fatal(err)
			}
		}
		n++
		must(c.RegisterHotspot(t.Context(), library(n)))(t)
	}
}

// A connection that says nothing for too long counts as lost.
func TestEvents_Silence(t *testing.T) {
	t.Parallel()
	s := unlimited(t)
	key := s.key(t, "hotspots:write")
	o := before(t, s, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	o.refuseNext(1)
	c := newClient(t, o.URL, key, client.WithSilence(100*time.Millisecond), client.WithHTTPClient(&http.Client{Transport: &http.Transport{}}))
	made := must(newClient(t, s.url, key).RegisterHotspot(t.Context(), library(1)))(t)
	for event, err := range c.Events(t.Context(), client.FromOldest) {
		if must(event, err)(t).HotspotID != made.ID || o.seen.Load() < 2 {
			t.Errorf("heard of %+v, over %d connections", event, o.seen.Load())
		}
		break
	}
}

func TestEachMessage(t *testing.T) {
	for stream, want := range map[string]string{
		"":                               "",
		": hello\nretry: 2000\n\n":       "",
		"id: 1\nevent: e\ndata: {}\n\n":  "{}|",
		"data:{}\r\n\r\ndata: 2\r\n\r\n": "{}|2|",
		"data: a\ndata: b\n\n":           "a\nb|",
		"data\n\ndata:\n\ndata: x\n\n":   "x|",
		"data: cut off":                  "",
		"data: cut off\n":                "",
		"data: 1\n\n\n\n: c\n\nother: 2\n\ndatas: 3\n\n": "1|",
		"data: " + strings.Repeat("x", 2<<20) + "\n\n":   "",
	} {
		var told strings.Builder
		err := client.EachMessage(strings.NewReader(stream), func() {}, func(data []byte) error {
			told.Write(append(data, '|'))
			return nil
		})
		if told.String() != want || err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%.60q tells %q, %v; want %q", stream, told.String(), err, want)
		}
	}
}
