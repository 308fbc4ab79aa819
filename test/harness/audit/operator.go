//go:build linux

package audit

import (
	"maps"
	"net/http"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// Operator is someone who is paid.
type Operator struct {
	harness.Key
	Client   *harness.Client
	Hotspots []*Rewarded
}

// Rewarded is a hotspot whose operator looks at what it earns.
type Rewarded struct{ *harness.Device }

// NewOperator makes a user with a key.
func NewOperator(t testing.TB, db string) *Operator {
	t.Helper()
	k := harness.CreateKey(t, db, "hotspots:write,rewards:read")
	return &Operator{Key: k, Client: harness.NewClient(t, k.Key)}
}

// Link registers hotspot n, has staff verify it, and links its device.
func (o *Operator) Link(t testing.TB, staff *harness.Client, s *harness.Server, n int, settings harness.Fields) *Rewarded {
	t.Helper()
	body := harness.Registration(n)
	maps.Copy(body["settings"].(harness.Fields), settings)
	d := o.Client.RegisterDevice(t, staff, s, n, body)
	code := o.Client.LinkCode(t, s, d)
	d.Key, _ = o.Client.Ask(t, http.MethodPost, s.URL+"/v1/devices/link", harness.Fields{"code": code, "mac_address": d.MAC})["device_key"].(string)
	if t.Failed() {
		t.FailNow()
	}
	h := &Rewarded{d}
	o.Hotspots = append(o.Hotspots, h)
	return h
}

// MustBeat sends the next beat, which must be taken.
func (h *Rewarded) MustBeat(t testing.TB, c *harness.Client, s *harness.Server) {
	body := h.Next()
	a := h.Send(t.Context(), c, s, body)
	if h.Hear(a, body); a.Outcome() != harness.Done {
		t.Errorf("a beat of %s was answered %d %s %v", h.SSID, a.Status, a.Code, a.Err)
	}
}

// Explain asks why a hotspot earned what it did on a day; today where none is
// given.
func (h *Rewarded) Explain(t testing.TB, c *harness.Client, s *harness.Server, date string) (Explanation, bool) {
	address := s.URL + "/v1/hotspots/" + h.Hotspot + "/rewards/explain"
	if date != "" {
		address += "?date=" + date
	}
	e, _, ok := Fetch[Explanation](t, c, address)
	if problem := e.Problem(); ok && problem != "" {
		t.Errorf("explain %s on %s: %s", h.SSID, date, problem)
	}
	return e, ok
}

// FreeLease is for tests that kill a server: nobody has to wait until its lease
// has expired.
func FreeLease(t testing.TB, db string) {
	t.Helper()
	Change(t, harness.OpenSQL(t, db), `UPDATE leases SET expires_at = 0`)
}
