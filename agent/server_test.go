//go:build linux

package agent_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// beat is a heartbeat as the agent sends it.
type beat struct {
	Boot      string  `json:"boot_id"`
	Seq       uint64  `json:"seq"`
	Clients   int     `json:"clients"`
	RxBytes   uint64  `json:"rx_bytes"`
	TxBytes   uint64  `json:"tx_bytes"`
	RSSI      *int    `json:"rssi_dbm"`
	Speedtest *speeds `json:"speedtest"`

	Agent map[string]any `json:"agent"`

	text   string
	header http.Header
	answer chan<- response
}

type speeds struct {
	Down    float64 `json:"down_mbps"`
	Up      float64 `json:"up_mbps"`
	Latency float64 `json:"latency_ms"`
}

// response is what a server in a test answers.
type response struct {
	status int
	body   string
	later  string // Retry-After
}

var accepted = response{status: http.StatusOK, body: `{"data":{"status":"online","next_in_s":60},"meta":{}}`}

// scripted is a server whose every response the test decides: a beat waits in the
// channel until it is answered.
type scripted struct {
	*httptest.Server
	beats chan *beat
}

func newScripted(t testing.TB) *scripted {
	s := &scripted{beats: make(chan *beat)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	answer := make(chan response, 1)
	b := &beat{text: string(text), header: r.Header, answer: answer}
	decoder := json.NewDecoder(strings.NewReader(b.text))
	decoder.DisallowUnknownFields()
	if err != nil || decoder.Decode(b) != nil {
		http.Error(w, "not a heartbeat: "+b.text, http.StatusBadRequest)
		return
	}
	select {
	case s.beats <- b:
	case <-r.Context().Done():
		return
	}
	select {
	case a := <-answer:
		if a.later != "" {
			w.Header().Set("Retry-After", a.later)
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	case <-r.Context().Done():
	}
}

// next waits for the next heartbeat.
func (s *scripted) next(t testing.TB) *beat {
	t.Helper()
	select {
	case b := <-s.beats:
		return b
	case <-time.After(harness.Patience):
		t.Fatal("no heartbeat came")
		return nil
	}
}

func (b *beat) respond(r response) { b.answer <- r }

// newMux serves a handler and returns its URL.
func newMux(t testing.TB, handler http.Handler) string {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}
