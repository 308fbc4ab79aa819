package httpserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/id"
)

// refuse is an interface's shape of errors, as plain as can be.
func refuse(w http.ResponseWriter, _ *http.Request, status int) {
	http.Error(w, "refused: "+http.StatusText(status), status)
}

// seen collects what a Front reports of its answers.
type seen struct {
	exchanges chan httpserver.RequestInfo
	log       *syncBuffer
}

func startFront(t *testing.T, handler http.HandlerFunc) (*httptest.Server, seen) {
	t.Helper()
	s := seen{exchanges: make(chan httpserver.RequestInfo, 10), log: &syncBuffer{}}
	server := httptest.NewServer(&httpserver.Handler{
		Next:    handler,
		Refuse:  refuse,
		Now:     time.Now,
		Log:     slog.New(slog.NewJSONHandler(s.log, nil)),
		Observe: func(_ *http.Request, e httpserver.RequestInfo) { s.exchanges <- e },
	})
	t.Cleanup(server.Close)
	return server, s
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestFront_GivesEachRequestAnID(t *testing.T) {
	server, s := startFront(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, httpserver.RequestID(w))
	})
	ids := map[string]bool{}
	for range 3 {
		response, body := get(t, server.URL)
		got := response.Header.Get("X-Request-Id")
		if !id.Valid("req_", got) || got != body || ids[got] {
			t.Errorf("the header has %q, the handler saw %q", got, body)
		}
		ids[got] = true
		if e := <-s.exchanges; e.RequestID != got || e.Status != 200 || e.Bytes != int64(len(body)) {
			t.Errorf("reported %+v", e)
		}
	}
}

func TestFront_TurnsAPanicIntoAnAnswer(t *testing.T) {
	server, s := startFront(t, func(http.ResponseWriter, *http.Request) { panic("a secret reason") })
	response, body := get(t, server.URL)
	if response.StatusCode != 500 || strings.Contains(body, "secret") || !strings.HasPrefix(body, "refused") {
		t.Errorf("answered %d: %s", response.StatusCode, body)
	}
	if e := <-s.exchanges; e.Status != 500 {
		t.Errorf("reported %+v", e)
	}
	logged := s.log.String()
	if !strings.Contains(logged, "a secret reason") || !strings.Contains(logged, response.Header.Get("X-Request-Id")) ||
		!strings.Contains(logged, "handler_test.go") {
		t.Errorf("the log has no cause, request id or stack: %s", logged)
	}
}

// An answer that broke off must not look complete.
func TestFront_CutsOffABrokenAnswer(t *testing.T) {
	server, s := startFront(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "the first half")
		_ = http.NewResponseController(w).Flush()
		panic("in the middle")
	})
	response, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read %q, %v; want an answer that visibly broke off", body, err)
	}
	if e := <-s.exchanges; e.Status != 200 || e.Bytes != int64(len("the first half")) {
		t.Errorf("reported %+v", e)
	}
}

func TestFront_RefusesLongURLs(t *testing.T) {
	server, _ := startFront(t, func(w http.ResponseWriter, r *http.Request) {})
	for length, want := range map[int]int{httpserver.MaxURLBytes: 200, httpserver.MaxURLBytes + 1: 414} {
		if response, _ := get(t, server.URL+"/"+strings.Repeat("x", length-1)); response.StatusCode != want {
			t.Errorf("a URL of %d bytes answered %d; want %d", length, response.StatusCode, want)
		}
	}
}

func TestAccessLog(t *testing.T) {
	var out bytes.Buffer
	began := time.Date(2026, 11, 15, 12, 0, 0, 250_000_000, time.UTC)
	request := httptest.NewRequest("FORGE", "/v1/secret-place?lat=40.7", nil)
	exchange := httpserver.RequestInfo{RequestID: "req_1", Began: began, Status: 404, Bytes: 12, Took: 1500 * time.Microsecond}
	httpserver.NewAccessLog(&out, false).Observe(request, exchange)
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v in %s", err, out.Bytes())
	}
	for name, want := range map[string]any{
		"time": "2026-11-15T12:00:00.2515Z", "msg": "request", "level": "INFO", "request_id": "req_1", "method": "other",
		"route": "none", "status": 404.0, "bytes": 12.0, "took_us": 1500.0, "remote": request.RemoteAddr,
	} {
		if line[name] != want {
			t.Errorf("%s is %v; want %v", name, line[name], want)
		}
	}
	if strings.Contains(out.String(), "secret-place") || strings.Contains(out.String(), "40.7") {
		t.Errorf("the log names the URL: %s", out.String())
	}

	out.Reset()
	request.Pattern = "GET /v1/{id}"
	request.Method = http.MethodGet
	httpserver.NewAccessLog(&out, true).Observe(request, exchange)
	want := `time="2026-11-15T12:00:00.2515Z" level="INFO" msg="request" request_id="req_1" method="GET" route="GET /v1/{id}" ` +
		`status=404 bytes=12 took_us=1500 remote="` + request.RemoteAddr + "\"\n"
	if out.String() != want {
		t.Errorf("the line is %s; want %s", out.String(), want)
	}
}
