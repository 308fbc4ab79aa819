package beacon_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Rules that need two people count people: two accounts or keys of one are one, and two
// people of one account are two.
func TestHoldAct_MayBeOf(t *testing.T) {
	at := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	key := func(user beacon.UserID, people []beacon.PersonID, accounts ...beacon.UserID) beacon.Behind {
		return beacon.Behind{User: user, People: people, Accounts: append(accounts, user)}
	}
	person := func(id beacon.PersonID, user beacon.UserID, accounts ...beacon.UserID) beacon.Behind {
		return beacon.Behind{User: user, Person: id, People: []beacon.PersonID{id}, Accounts: accounts}
	}
	for name, tc := range map[string]struct {
		first, second beacon.Behind
		want          bool
	}{
		"two keys of one account":                   {key("a", nil), key("a", nil), true},
		"keys of two accounts":                      {key("a", nil), key("b", nil), false},
		"keys of two accounts with a common member": {key("a", []beacon.PersonID{"ann"}), key("b", []beacon.PersonID{"ann", "ben"}), true},
		"keys of accounts of two people":            {key("a", []beacon.PersonID{"ann"}), key("b", []beacon.PersonID{"ben"}), false},
		"one person":                                {person("ann", ""), person("ann", "b"), true},
		"two people of one account":                 {person("ann", "a", "a"), person("ben", "a", "a"), false},
		"a key, then a person of its account":       {key("a", nil), person("ann", "", "a"), true},
		"a key, then its member for another":        {key("a", []beacon.PersonID{"ann"}), person("ann", "b", "b"), true},
		"a key, then someone else":                  {key("a", []beacon.PersonID{"ann"}), person("ben", "b", "b"), false},
		"a person, then a key of their account":     {person("ann", "", "a"), key("a", []beacon.PersonID{"ann"}), true},
		"a person for an account, then its key":     {person("ann", "a", "a"), key("a", nil), true},
		"a person, then a key of others":            {person("ann", "a", "a"), key("b", []beacon.PersonID{"ben"}), false},
	} {
		first, second := tc.first.Act(at, ""), tc.second.Act(at.Add(time.Minute), "")
		if got := second.MayBeOf(&first); got != tc.want {
			t.Errorf("%s: %t; want %t", name, got, tc.want)
		}
		h := beacon.Hold{ID: "hld_1", State: beacon.HoldIsActive, Placed: first, Until: at.Add(time.Hour)}
		if err := h.Extend(second, at.Add(2*time.Hour)); (err != nil) != tc.want {
			t.Errorf("%s: an extension: %v", name, err)
		}
		h = beacon.Hold{ID: "hld_1", State: beacon.HoldIsActive, Until: at.Add(time.Hour)}
		if _, err := h.FailVisit(first); err != nil {
			t.Fatal(err)
		}
		if void, err := h.FailVisit(second); void == tc.want || (err != nil) != tc.want {
			t.Errorf("%s: a failed visit: void %t, %v", name, void, err)
		}
	}
}

// Whose hotspot it is, is asked of all accounts of those who may be behind a request.
func TestBehind_Owns(t *testing.T) {
	b := beacon.Behind{User: "usr_a", Accounts: []beacon.UserID{"usr_a", "usr_b"}}
	for account, want := range map[beacon.UserID]bool{"usr_a": true, "usr_b": true, "usr_c": false, "": false} {
		if b.Owns(account) != want {
			t.Errorf("Owns(%q) = %t", account, !want)
		}
	}
	if (beacon.Behind{Person: "per_1"}).Owns("") {
		t.Error("a person without accounts owns what belongs to nobody")
	}
}
