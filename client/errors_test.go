package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/client"
)

func TestNew_RefusesWhatIsNoAddress(t *testing.T) {
	for _, address := range []string{"", "wifi.example.org", "ftp://wifi.example.org", "http://", "http://a b", "http://x/?q", "http://u:p@x", "http://x/#f"} {
		if c, err := client.New(address, ""); err == nil {
			t.Errorf("%q makes %+v", address, c)
		}
	}
	for _, address := range []string{"http://127.0.0.1:8080", "https://wifi.example.org/", "https://example.org/wifi"} {
		if _, err := client.New(address, ""); err != nil {
			t.Error(err)
		}
	}
}

// An address may end as that of the documents does, which includes the version.
func TestNew_WithVersion(t *testing.T) {
	t.Parallel()
	s := unlimited(t)
	key := s.key(t, "hotspots:write")
	for _, end := range []string{"/v1", "/v1/", "/", "//", ""} {
		if _, err := newClient(t, s.url+end, key).OwnKey(t.Context()); err != nil {
			t.Errorf("%s: %v", end, err)
		}
	}
}

// What the message says already is not said again.
func TestError_SaysItOnce(t *testing.T) {
	alone := client.Error{Status: 400, Code: "invalid_request", Message: "name must be 3 to 50 characters", RequestID: "req_1", Details: []client.FieldError{{Field: "name", Message: "must be 3 to 50 characters"}}}
	if got, want := alone.Error(), "the server answers 400 invalid_request: name must be 3 to 50 characters [req_1]"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	several := client.Error{Status: 400, Message: "2 fields are wrong", Details: []client.FieldError{{Field: "a", Message: "must be b"}, {Field: "c", Message: "must be d"}}}
	if got, want := several.Error(), "the server answers 400: 2 fields are wrong (a must be b, c must be d)"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}

// Every refusal tells its code, its status, the request, and all faulty fields.
func TestError(t *testing.T) {
	t.Parallel()
	s := unlimited(t)
	operator := s.as(t, "hotspots:write")
	bad := library(1)
	bad.Name, bad.Location.Lat, bad.Device.MACAddress = "x", 91, "none"
	_, err := operator.RegisterHotspot(t.Context(), bad)
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.Status != http.StatusBadRequest || e.Code != "invalid_request" || !strings.HasPrefix(e.RequestID, "req_") || e.Message == "" || !errors.Is(err, client.ErrInvalidRequest) {
		t.Fatalf("a bad registration: %#v", err)
	}
	var fields []string
	for _, d := range e.Details {
		fields = append(fields, d.Field)
		if d.Message == "" || !strings.Contains(err.Error(), d.Field+" "+d.Message) {
			t.Errorf("%q does not tell of %+v", err, d)
		}
	}
	if got := strings.Join(fields, " "); got != "name location.lat device.mac_address" {
		t.Errorf("the faulty fields are %s", got)
	}
	if !strings.HasSuffix(err.Error(), "["+e.RequestID+"]") || strings.Contains(err.Error(), "\n") {
		t.Errorf("it is told as %q", err)
	}

	made := must(operator.RegisterHotspot(t.Context(), library(2)))(t)
	other := s.as(t, "hotspots:write")
	for want, try := range map[error]func() error{
		client.ErrNotFound:  func() error { _, err := operator.Hotspot(t.Context(), "nearby?lat=1&lng=2"); return err },
		client.ErrForbidden: func() error { return other.DeleteHotspot(t.Context(), made.ID, "") },
		client.ErrConflict:  func() error { _, err := other.RegisterHotspot(t.Context(), library(2)); return err },
		client.ErrUnauthorized: func() error {
			_, err := operator.WithKey("bcn_nonsense").OwnKey(t.Context())
			return err
		},
	} {
		err := try()
		for other := range map[error]bool{client.ErrNotFound: true, client.ErrForbidden: true, client.ErrConflict: true, client.ErrUnauthorized: true, client.ErrRateLimited: true} {
			if errors.Is(err, other) != (other == want) {
				t.Errorf("%v is %v: %t", err, other, errors.Is(err, other))
			}
		}
	}
}

// Something else than a Beacon server answers: a proxy, or the wrong address.
func TestError_OfSomethingElse(t *testing.T) {
	status, body := http.StatusBadGateway, "<html>no</html>"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	defer s.Close()
	c := newClient(t, s.URL, "k", client.WithRetries(1, 0))
	_, err := c.OwnKey(t.Context())
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != status || e.Code != "" || e.Message != "bad gateway" {
		t.Errorf("a proxy's refusal: %#v", err)
	}
	status = http.StatusOK
	for _, body = range []string{"<html>yes</html>", `{"ok":true}`, `{"data":null}`, `{"data":`, ""} {
		if key, err := c.OwnKey(t.Context()); err == nil {
			t.Errorf("%s is the key %+v", body, key)
		}
		for hotspot, err := range c.Hotspots(t.Context(), "me") {
			if err == nil {
				t.Errorf("%s has the hotspot %+v", body, hotspot)
			}
		}
		for event, err := range c.Events(t.Context(), client.FromNow) {
			if err == nil {
				t.Errorf("%s tells of %+v", body, event)
			}
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, "-1": 0, "1.5": 0, "soon": 0, "99999999999999999999": 0,
		"Sun, 15 Nov 2026 12:00:30 GMT": 30 * time.Second, "Sun, 15 Nov 2026 11:00:00 GMT": 0,
	} {
		if got := client.RetryAfter(header, now); got != want {
			t.Errorf("%q is %v; want %v", header, got, want)
		}
	}
}
