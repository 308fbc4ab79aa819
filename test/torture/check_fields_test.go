//go:build linux

package torture_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/test/harness"
)

// checkSpots holds what was seen of hotspots to what was asked of them.
func (l *load) checkHotspots(t *testing.T, hotspots []*hotspot) {
	t.Helper()
	each(hotspots, func(s *hotspot) {
		s.checkThere(t)
		s.checkFields(t)
		s.checkLinear(t)
	})
}

// checkThere: what was acknowledged is there (I1), what was refused is not (I2).
func (s *hotspot) checkThere(t *testing.T) {
	var made *op
	for _, o := range s.ops {
		switch {
		case o.kind == register:
			made = o
		case o.kind == read && made.outcome == harness.Done && o.status == http.StatusNotFound:
			t.Errorf("hotspot %d was acknowledged and is lost:\n%v\n%v", s.number, made, o)
		case o.kind == read && made.outcome == harness.Refused && o.status == http.StatusOK:
			t.Errorf("hotspot %d was refused and is there:\n%v\n%v", s.number, made, o)
		case o.client == checker && s.shown && o.status == http.StatusNotFound:
			t.Errorf("hotspot %d was on the map and is lost:\n%v\n%v", s.number, made, o)
		}
	}
	if taken := s.asksForTaken(); taken && made.outcome == harness.Done {
		t.Errorf("hotspot %d has a MAC that another has (I4): %v", s.number, made)
	} else if !taken && made.status == http.StatusConflict {
		t.Errorf("hotspot %d has a MAC of its own, and was refused: %v", s.number, made)
	}
}

// asksForTaken tells those registrations that asked for the MAC of another.
func (s *hotspot) asksForTaken() bool {
	mac, _ := s.ops[0].asked["device"].(harness.Fields)["mac_address"].(string)
	return canonical(mac) != canonical(harness.MACOf(s.number))
}

// checkFields: what nobody may change is, in every answer, what was asked for
// (I1).
func (s *hotspot) checkFields(t *testing.T) {
	asked := s.ops[0].asked
	place, device := asked["location"].(harness.Fields), asked["device"].(harness.Fields)
	want := harness.Fields{
		"type": asked["type"], "operator_id": s.owner.id, "status": "pending",
		"location": harness.Fields{"lat": place["lat"], "lng": place["lng"], "address": place["address"], "verified": false},
		"device":   harness.Fields{"ssid": device["ssid"], "mac_address": device["mac_address"], "linked": false},
	}
	for _, o := range s.ops {
		if o.got == nil || o.kind == change {
			continue
		}
		if s.born == nil { // its registration had no answer: this is when it was first seen
			s.born = o.got
		}
		want["id"], want["created_at"] = s.born["id"], s.born["created_at"]
		got := harness.Fields{}
		for name := range want {
			got[name] = o.got[name]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("hotspot %d differs (-asked +answered):\n%s%v", s.number, diff, o)
			return
		}
	}
	if id := fmt.Sprint(s.born["id"]); s.born != nil && id != s.id {
		t.Errorf("hotspot %d is %s and %s", s.number, s.id, id)
	}
}

// canonical is a MAC without its spelling.
func canonical(mac string) string { return strings.ToLower(separators.Replace(mac)) }

var separators = strings.NewReplacer(":", "", "-", "", ".", "")
