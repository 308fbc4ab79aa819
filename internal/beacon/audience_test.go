package beacon_test

import (
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestSees(t *testing.T) {
	const owner = beacon.UserID("usr_1")
	who := map[string]beacon.Principal{
		"owner":                {User: owner},
		"owner, in a web page": {User: owner, Restrictions: &beacon.Restrictions{Publishable: true}},
		"staff":                {User: "usr_2", Scopes: []beacon.Scope{beacon.HotspotsVerify}},
		"admin":                {User: "usr_3", Scopes: []beacon.Scope{beacon.Admin}},
		"stranger":             {User: "usr_4", Scopes: []beacon.Scope{beacon.HotspotsWrite, beacon.RewardsRead, beacon.KeysManage}},
		"nobody":               {},
	}
	for detail, sees := range map[beacon.Detail][]string{
		"Hotspot.name":           {"owner", "owner, in a web page", "staff", "admin", "stranger", "nobody"},
		"hotspot.online":         {"owner", "owner, in a web page", "staff", "admin", "stranger", "nobody"},
		beacon.HotspotPlace:      {"owner", "owner, in a web page", "staff", "admin", "stranger", "nobody"},
		"hotspot.linked":         {"owner", "staff", "admin"},
		beacon.HistoryTraffic:    {"owner", "staff", "admin"},
		beacon.HistoryClients:    {"owner", "staff", "admin"},
		beacon.UnverifiedReason:  {"owner", "staff", "admin"},
		beacon.ProvenUntil:       {"owner", "staff", "admin"},
		beacon.LastUncounted:     {"owner", "staff", "admin"},
		"rewards.settled":        {"owner", "admin"},
		"nobody decided on this": {"owner", "admin"},
	} {
		want := map[string]bool{}
		for _, name := range sees {
			want[name] = true
		}
		for name, p := range who {
			if got := p.Sees(detail, owner); got != want[name] {
				t.Errorf("%s sees %s: %v", name, detail, got)
			}
			truth := want[name] && (!detail.HiddenOfHomes() || slices.Contains([]string{"owner", "staff", "admin"}, name))
			if got := p.SeesOfHome(detail, owner); got != truth {
				t.Errorf("%s sees %s of a home: %v", name, detail, got)
			}
		}
	}
	if (beacon.Principal{}).Sees("rewards.settled", "") {
		t.Error("nobody sees what is nobody's")
	}
}

func TestDetails_Once(t *testing.T) {
	seen := map[beacon.Detail]bool{}
	for _, d := range beacon.Details() {
		if seen[d] {
			t.Errorf("%s has two audiences", d)
		}
		seen[d] = true
	}
}
