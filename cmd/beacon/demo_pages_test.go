package main

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/agent"
)

// A link signs in once, as whom it says.
func (d *demonstration) testLinks(t *testing.T) {
	for name, key := range map[string]string{"operator": d.operator, "staff": d.staff} {
		link := regexp.MustCompile(name + ` +` + d.url + `/#/sign-in/(\w{30})\n`).FindStringSubmatch(d.text)
		if link == nil {
			t.Fatalf("no link for %s in %s", name, d.text)
		}
		signIn := func() (status int, made struct{ Data struct{ Key string } }) {
			response, err := http.Post(d.url+"/console/sign-in", "application/json", strings.NewReader(`{"token":"`+link[1]+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if err := json.NewDecoder(response.Body).Decode(&made); err != nil {
				t.Fatal(err)
			}
			return response.StatusCode, made
		}
		type user struct {
			ID     string `json:"user_id"`
			Scopes []string
		}
		var is, want user
		status, made := signIn()
		d.get(t, key, "/keys/self", &want)
		d.get(t, made.Data.Key, "/keys/self", &is)
		if status != http.StatusOK || !reflect.DeepEqual(is, want) {
			t.Errorf("the link of %s signs in as %v; the key is of %v", name, is, want)
		}
		if again, _ := signIn(); again != http.StatusUnauthorized {
			t.Errorf("the second time the link of %s is answered %d", name, again)
		}
		if strings.Contains(d.log.String(), link[1]) {
			t.Error("the token is in the log")
		}
	}
}

// Staff find something on each of their pages: the flags are those of the review, which ran
// before the demo was ready.
func (d *demonstration) testStaff(t *testing.T) {
	var review struct {
		Flags []struct{ Kind string }
	}
	d.get(t, d.staff, "/review", &review)
	flagged := map[string]bool{}
	for _, f := range review.Flags {
		flagged[f.Kind] = true
	}
	for _, kind := range []string{"traffic_without_clients", "many_boots", "short_hours", "radius_grown"} {
		if !flagged[kind] {
			t.Errorf("nothing is flagged as %s: %+v", kind, review.Flags)
		}
	}
	type act struct{ Text string }
	var holds []struct {
		Status        string
		Answer, Ended *act
	}
	d.get(t, d.staff, "/holds", &holds)
	if len(holds) != 3 || holds[0].Status != "active" || holds[0].Answer != nil || holds[1].Answer == nil || holds[2].Status != "released" || holds[2].Ended == nil {
		t.Errorf("there are the holds %+v", holds)
	}
	var inventory struct {
		Linked, Reporting int
		Groups            []struct{ Agent string }
	}
	d.get(t, d.staff, "/hotspots/inventory", &inventory)
	versions := map[string]bool{}
	for _, g := range inventory.Groups {
		versions[g.Agent] = true
	}
	if inventory.Reporting < 30 || inventory.Reporting == inventory.Linked || len(versions) < 2 {
		t.Errorf("of %d devices %d report the versions %v", inventory.Linked, inventory.Reporting, versions)
	}
}

// The operator finds what needs attention: a hotspot that is off, one that was moved, one
// without a device, money that is held, an old agent, and what visitors say.
func (d *demonstration) testAttention(t *testing.T) {
	var own []demoHotspot
	d.get(t, d.operator, "/users/me/hotspots?per_page=100", &own)
	var off, moved, unlinked, old, judged int
	for _, h := range own {
		var one struct {
			Status   string
			Location struct {
				Verified bool
				Reason   string `json:"unverified_reason"`
			}
			Device struct {
				Linked bool
				Agent  struct{ Version string }
			}
			Quality struct {
				CheckIns int `json:"checkins_30d"`
			}
		}
		d.get(t, d.operator, "/hotspots/"+h.ID, &one)
		switch {
		case !one.Device.Linked:
			unlinked++
		case !one.Location.Verified:
			moved++
		case one.Status == "offline":
			off++
		}
		if v := one.Device.Agent.Version; v != "" && v != agent.Version() {
			old++
		}
		if one.Quality.CheckIns > 5 {
			judged++
		}
	}
	if off < 1 || moved != 1 || unlinked != 1 || old < 2 || judged < 5 {
		t.Errorf("%d off, %d moved, %d without a device, %d with an old agent, %d that visitors judge", off, moved, unlinked, old, judged)
	}
	var held []struct{ Status string }
	d.get(t, d.operator, "/users/me/holds", &held)
	if len(held) != 1 || held[0].Status != "active" {
		t.Errorf("the operator has the holds %+v", held)
	}
}
