package fleet_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/id"
)

// free takes no heed of what a list costs.
func free(int) error { return nil }

// listed spells a list: the versions of hotspots in its order.
func listed(t testing.TB, f *fleet.Fleet, in fleet.ListQuery) string {
	t.Helper()
	in.Page, in.Now, in.Charge = beacon.Page{Number: 1, Size: 100}, noon, free
	page, err := f.List(in)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range page.Items {
		all = append(all, strings.TrimSpace(s.Encoded()))
	}
	if page.Total != len(all) {
		t.Errorf("%d in all; want %d", page.Total, len(all))
	}
	return strings.Join(all, ", ")
}

// A list shows hotspots as they are: by what was done to them last, and not when
// they are gone.
func TestList_FollowsChanges(t *testing.T) {
	f := newFleet()
	mustApply(t, f, at("b", 1), at("a", 1), at("c", 1))
	renamed := at("a", 2)
	renamed.Name = "Straße"
	mustApply(t, f, renamed, deleted("c", 2))
	mustApply(t, f, at("a", 1), at("c", 1)) // which come too late
	for want, in := range map[string]fleet.ListQuery{
		"a Straße v2, b Café v1": {},
		"b Café v1, a Straße v2": {Newest: true},
		"a Straße v2":            {Text: beacon.FoldName("STRASSE")},
		"b Café v1":              {Text: beacon.FoldName("CAFÉ"), Status: beacon.Pending},
		"":                       {Status: beacon.Online, Verified: beacon.Some(false)},
	} {
		if got := listed(t, f, in); got != want {
			t.Errorf("%+v: %q; want %q", in, got, want)
		}
	}
	for want, ids := range map[string][]string{"": {}, "b Café v1": {"b", "c", "d"}, "a Straße v2, b Café v1": {"a", "b"}} {
		if got := listed(t, f, fleet.ListQuery{Among: beacon.Some(ids)}); got != want {
			t.Errorf("of %v: %q; want %q", ids, got, want)
		}
	}
}

// A hotspot that never had a device, and of which a beat turns up, is still found by
// its name and by what was done to it.
func TestList_AfterRevive(t *testing.T) {
	f := newFleet()
	h := at(id.New(beacon.HotspotPrefix, noon), 1)
	h.Location.VerifiedAt = noon.Add(-time.Hour)
	mustApply(t, f, h)
	want := listed(t, f, fleet.ListQuery{})
	if !f.Revive(h.ID) {
		t.Fatal("it is not there")
	}
	if got := listed(t, f, fleet.ListQuery{Text: "café", Status: beacon.Pending, Verified: beacon.Some(true)}); got != want || want == "" {
		t.Errorf("found %q; want %q", got, want)
	}
	hotspot, _ := f.Find(h.ID)
	page, _ := f.List(fleet.ListQuery{Page: beacon.Page{Number: 1, Size: 1}, Charge: free})
	if _, revived := f.Metrics(h.ID, noon); !slices.Equal(page.Items, []*fleet.Hotspot{hotspot}) || !revived {
		t.Error("the list shows another spot than a search")
	}
}

// What a server reads when it starts is listed like what it heard of one by one.
func TestList_AfterALoad(t *testing.T) {
	all, one := newFleet(), newFleet()
	var given []beacon.Hotspot
	for n := range 2000 {
		h := at(fmt.Sprintf("hs_%05d", n*7919%2000), 1)
		h.Name = fmt.Sprintf("Café %d", n%10)
		if n%3 == 0 {
			h.Location.VerifiedAt = noon
		}
		given = append(given, h)
		mustApply(t, one, h)
	}
	mustLoad(t, all, given...)
	for _, in := range []fleet.ListQuery{{}, {Text: "café 7"}, {Verified: beacon.Some(true), Newest: true}, {Verified: beacon.Some(false)}} {
		in.Page, in.Charge = beacon.Page{Number: 2, Size: 50}, free
		want, err := one.List(in)
		got, err2 := all.List(in)
		if err != nil || err2 != nil || got.Total != want.Total || len(want.Items) != 50 {
			t.Fatalf("%d of %d, %v; want %d of %d, %v", len(got.Items), got.Total, err2, len(want.Items), want.Total, err)
		}
		for i := range want.Items {
			if got.Items[i].Encoded() != want.Items[i].Encoded() {
				t.Fatalf("item %d is %s; want %s", i, got.Items[i].Encoded(), want.Items[i].Encoded())
			}
		}
	}
}

// Whoever is charged hears of the work before it is done, and can refuse.
func TestList_Charges(t *testing.T) {
	f := newFleet()
	mustApply(t, f, at("a", 1), at("b", 1), at("c", 1))
	busy := newFleet()
	mustApply(t, busy, serving(), serving())
	refusal := errors.New("too much")
	for _, tc := range []struct {
		in   fleet.ListQuery
		want int
	}{
		{fleet.ListQuery{}, 0},
		{fleet.ListQuery{Status: beacon.Pending}, 0},
		{fleet.ListQuery{Text: "café"}, 3},
		{fleet.ListQuery{Text: "tea"}, 0},
		{fleet.ListQuery{Status: beacon.Online}, 0}, // there are none in service
		{fleet.ListQuery{Text: "c", Verified: beacon.Some(true)}, 0},
	} {
		looked := -1
		tc.in.Page = beacon.Page{Number: 1, Size: 10}
		tc.in.Charge = func(n int) error { looked = n; return refusal }
		if page, err := f.List(tc.in); !errors.Is(err, refusal) || len(page.Items) != 0 || looked != tc.want {
			t.Errorf("%+v: %d items, %v, charged for %d; want %d", tc.in, len(page.Items), err, looked, tc.want)
		}
	}
	_, err := busy.List(fleet.ListQuery{Status: beacon.Online, Charge: func(n int) error { return fmt.Errorf("charged for %d", n) }})
	if err == nil || err.Error() != "charged for 10" {
		t.Errorf("to ask who of two is online: %v; want charged for 10", err)
	}
}
