//go:build linux

package agent_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// With a real server: a key links a device to the hotspot that was registered for it, and
// brings it online; another device registers its own, and then the key is used up.
func TestEnrol_Server(t *testing.T) {
	server := harness.Start(t, harness.NewDatabase(t, "sqlite"))
	admin := harness.NewClient(t, harness.CreateKey(t, server.DB, "admin").Key)
	newKey := func(most int, register bool) string {
		made := admin.Ask(t, http.MethodPost, server.URL+"/v1/keys", harness.Fields{
			"name": "the move", "scopes": []string{"devices:enrol"}, "max_enrolments": most, "may_register": register, "expires_at": time.Now().Add(24 * time.Hour),
		})
		return made["key"].(string)
	}
	id := admin.MustRegister(t, server, 1)
	lat, lng := harness.PlaceOf(1)
	admin.Ask(t, http.MethodPost, server.URL+"/v1/hotspots/"+id+"/verification", harness.Fields{"lat": lat, "lng": lng, "accuracy_m": 5, "method": "gps"})
	key := newKey(2, true)
	enrol := func(mac, key, want string, code int, settings ...string) *box {
		t.Helper()
		b := joining(t, "busybox ash", "curl", server.URL, append(settings, "mac="+mac)...)
		printed, exit := b.do("enrol", key)
		printed = regexp.MustCompile(`hs_[0-9a-z]{26}`).ReplaceAllString(strings.ReplaceAll(printed, server.URL, "URL"), "hs_…")
		if exit != code || printed != want {
			t.Errorf("%s exits with %d and says %s; want %d and %s", mac, exit, printed, code, want)
		}
		return b
	}
	first := enrol(harness.MACOf(1), key, "linked to hs_… at URL\n", 0)
	first.run()
	harness.Eventually(t, "the hotspot is online", func() bool {
		return harness.ReadingOf(admin.Ask(t, http.MethodGet, server.URL+"/v1/hotspots/"+id, nil)).Status == "online"
	})
	const refused = "beacon-agent: refused: "
	enrol(harness.MACOf(1), key, refused+"the hotspot of "+harness.MACOf(1)+" has a linked device. If this one is meant to be it, unlink the other in the console "+
		"(409, this hotspot has a linked device: unlink that one first, if it was replaced or reset)\n", 2)
	enrol(harness.MACOf(2), newKey(1, false), refused+"the key has no hotspot with the MAC address "+harness.MACOf(2)+" (see -m), and may not register it "+
		"(404, no hotspot with this MAC address can be enrolled with this key: check the address, or register the hotspot first)\n", 2)
	enrol(harness.MACOf(2), key, refused+"the server refuses this (400, location is required, since no hotspot has this MAC address yet: send latitude and longitude)\n", 2)
	enrol(harness.MACOf(2), key, "linked to hs_… at URL\nThe hotspot is registered now, and waits for a visit of the staff.\n", 0, "latitude=40.7", "longitude=-73.9", "name=Boathouse")
	enrol(harness.MACOf(3), key, refused+"the key is used up or over, or not for this device, or not from its address "+
		"(403, this key has enrolled as many devices as it may: create another)\n", 2)
	enrol(harness.MACOf(3), enrolKey, refused+"the server does not know this key. It may be revoked, or over (401, a valid API key is required)\n", 2)
}
