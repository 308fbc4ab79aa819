package httpserver

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A body that stops arriving is 408, which clients may repeat, from the fast path and
// from net/http.
func TestServe_StalledBody(t *testing.T) {
	addrs := serveBoth(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := ReadJSONObject(w, r, 1024, 4)
		if fault, ok := errors.AsType[*BodyError](err); ok {
			http.Error(w, fault.Message, fault.Status)
		}
	}, Times{Read: 100 * time.Millisecond}) // only what never arrives is sent to these servers
	for server, addr := range addrs {
		for name, request := range map[string]string{
			"plain":         inLines("POST /a HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 20") + "{",
			"nothing of it": inLines("POST /a HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 20"),
			"large":         inLines("POST /a HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 900") + `{"a":"` + strings.Repeat("b", 700),
			"chunked":       inLines("PATCH /a HTTP/1.1", "Host: x", "Content-Type: application/json", "Transfer-Encoding: chunked") + "3\r\n{",
		} {
			got := talk(t, addr, false, request)
			for _, want := range []string{"HTTP/1.1 408 ", "\r\nRetry-After: 1\r\n", "\r\nConnection: close\r\n", "the body did not arrive in time"} {
				if !strings.Contains(got, want) {
					t.Errorf("%s, %s: %q; want %q", server, name, got, want)
				}
			}
		}
	}
}

// A response that tells the client to try again later tells it when.
func TestServe_RetryAfter(t *testing.T) {
	addrs := serveBoth(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			w.Header().Set("Retry-After", r.URL.RawQuery)
		}
		status, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		w.WriteHeader(status)
	})
	for server, addr := range addrs {
		for target, want := range map[string]string{
			"/408": "1", "/429": "1", "/503": "1", "/503?7": "7", "/429?7": "7",
			"/200": "", "/400": "", "/404": "", "/500": "",
		} {
			c := call(t, addr)
			c.Say(t, inLines("GET "+target+" HTTP/1.1", "Host: x"))
			if response, _ := c.Hear(t); response.Header.Get("Retry-After") != want {
				t.Errorf("%s: %s has Retry-After %q; want %q", server, target, response.Header.Get("Retry-After"), want)
			}
		}
	}
}
