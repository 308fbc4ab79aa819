package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// An operator who moves house moves the hotspot: it is pending until staff have been
// there, and keeps its id, its device and its history.
func TestPatch_Location(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, staff := s.anyone(t, "hotspots:write", "rewards:read"), s.anyone(t, "hotspots:verify")
		device := c.install(t, 1) // at 40.7, -74
		s.verify(t, device.hotspot)
		device.beat(t, `{"boot_id":"a","seq":0,"clients":1,"rx_bytes":1000000000,"tx_bytes":0}`).want(t, http.StatusOK)
		s.advance(3 * time.Minute)
		wantStatus(t, c, device.hotspot, "online")
		wantFault(t, s.operator(t).patch(t, device.hotspot, `{"location":{"lat":1}}`), http.StatusForbidden, "forbidden")
		wantFault(t, c.patch(t, device.hotspot, `{"location":{"lat":91,"lng":null,"address":7,"verified":true},"device":{"mac_address":"x","ssid":"","linked":true}}`),
			http.StatusBadRequest, "invalid_request", "location.lat", "location.lng", "location.address", "location.verified", "device.mac_address", "device.ssid", "device.linked")

		c.patch(t, device.hotspot, `{"location":{"address":"12 Elm Street"}}`).want(t, http.StatusOK) // it stands where it stood
		if got := data[hotspot](t, c.get(t, device.hotspot), http.StatusOK); got.Status != "online" || got.Location.Address == nil || *got.Location.Address != "12 Elm Street" || !got.Location.Verified {
			t.Errorf("with another address: %+v", got)
		}
		c.patch(t, device.hotspot, `{"location":{"lat":41.5,"lng":-73.5,"address":"1 Hill Road"}}`).want(t, http.StatusOK)
		wantStatus(t, c, device.hotspot, "pending")
		got := data[hotspot](t, c.get(t, device.hotspot), http.StatusOK)
		if got.Location.Lat != 41.5 || got.Location.Lng != -73.5 || got.Location.Verified || got.Location.UnverifiedReason != "its operator has moved it" || !got.Device.Linked {
			t.Errorf("moved: %+v", got)
		}
		for place, want := range map[string]int{"lat=40.7&lng=-74": 0, "lat=41.5&lng=-73.5": 1} {
			if near := data[[]hotspot](t, c.get(t, "/v1/hotspots/nearby?status=all&radius=100&"+place), http.StatusOK); len(near) != want {
				t.Errorf("%d hotspots are at %s; want %d", len(near), place, want)
			}
		}
		device.beat(t, `{"boot_id":"a","seq":1,"clients":1,"rx_bytes":1000000000,"tx_bytes":0}`).want(t, http.StatusOK) // its key is good
		wantFault(t, staff.post(t, device.hotspot+"/verification", visitHere), http.StatusConflict, "conflict")
		s.verify(t, device.hotspot)
		wantStatus(t, c, device.hotspot, "online")
		if a := c.get(t, "/v1/users/me/rewards"); !strings.Contains(string(a.body), `"utilization":0.02`) {
			t.Errorf("%s; want the traffic of before it moved", a)
		}
	})
}

// A hotspot gets new hardware: its MAC address is changed, the old device is out, and a
// new one is linked to the same hotspot.
func TestPatch_MAC(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, other := s.operator(t), s.operator(t)
		device := c.install(t, 1)
		s.verify(t, device.hotspot)
		device.beat(t, `{"boot_id":"a","seq":0,"clients":1,"rx_bytes":1,"tx_bytes":1}`).want(t, http.StatusOK)
		other.register(t, 2)
		wantFault(t, c.patch(t, device.hotspot, at(`{"device":{"mac_address":%q}}`, mac(2))), http.StatusConflict, "conflict")

		c.patch(t, device.hotspot, `{"device":{"mac_address":"0200.5E00.0001","ssid":"upstairs"}}`).want(t, http.StatusOK) // the same, written otherwise
		if got := data[hotspot](t, c.get(t, device.hotspot), http.StatusOK); got.Status != "online" || got.Device.MAC != "0200.5E00.0001" || got.Device.SSID != "upstairs" {
			t.Errorf("the same device: %+v", got)
		}
		s.advance(time.Minute)
		c.patch(t, device.hotspot, at(`{"device":{"mac_address":%q}}`, mac(3))).want(t, http.StatusOK)
		got := data[hotspot](t, c.get(t, device.hotspot), http.StatusOK)
		if got.Status != "pending" || got.Device.Linked || got.Device.MAC != mac(3) || !got.Location.Verified {
			t.Errorf("another device: %+v", got)
		}
		wantFault(t, device.beat(t, `{"boot_id":"a","seq":1,"clients":1,"rx_bytes":1,"tx_bytes":1}`), http.StatusUnauthorized, "unauthorized")
		wantFault(t, s.tryLink(t, c.newCode(t, device.hotspot), mac(1)), http.StatusForbidden, "forbidden")
		done := data[linked](t, s.tryLink(t, c.newCode(t, device.hotspot), mac(3)), http.StatusOK)
		fresh := machine{client{server: s, plain: done.DeviceKey}, device.hotspot}
		fresh.beat(t, `{"boot_id":"b","seq":0,"clients":1,"rx_bytes":1,"tx_bytes":1}`).want(t, http.StatusOK)
		wantStatus(t, c, device.hotspot, "online")
	})
}

// serves registers a hotspot, links its device and lets staff verify it: it is in service.
func (c client) serves(t *testing.T, n int) (path string) {
	t.Helper()
	path = c.install(t, n).hotspot
	c.verify(t, path)
	return path
}

// A MAC address that was in service and is free again is its last owner's for 30 days,
// after a deletion and after a change.
func TestMAC_Reserved(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, thief := s.operator(t), s.operator(t)
		first, second := c.serves(t, 1), c.serves(t, 2)
		taken := "/v1/hotspots/" + thief.register(t, 9).ID
		c.delete(t, first).want(t, http.StatusNoContent)
		c.patch(t, second, at(`{"device":{"mac_address":%q}}`, mac(3))).want(t, http.StatusOK)
		steal := func(want int) {
			t.Helper()
			for n := range 2 {
				a := thief.post(t, "/v1/hotspots", registration(1+n), "Idempotency-Key", at("%d of %v", n, s.now()))
				if a.StatusCode != want {
					t.Errorf("a stranger registers it: %s; want %d", a, want)
				}
			}
		}
		steal(http.StatusConflict)
		for n := range 2 {
			a := thief.patch(t, taken, at(`{"device":{"mac_address":%q}}`, mac(1+n)))
			wantFault(t, a, http.StatusConflict, "conflict")
		}
		if got := data[hotspot](t, thief.get(t, taken), http.StatusOK); got.Device.MAC != mac(9) || got.UpdatedAt != got.CreatedAt {
			t.Errorf("after what was refused: %+v", got)
		}
		thief.patch(t, taken, `{"name":"Still mine"}`).want(t, http.StatusOK)

		again := c.register(t, 1) // the owner may
		c.patch(t, second, at(`{"device":{"mac_address":%q}}`, mac(2))).want(t, http.StatusOK)
		s.advance(time.Hour)
		c.delete(t, "/v1/hotspots/"+again.ID).want(t, http.StatusNoContent) // it was not in service since, and stays reserved
		c.delete(t, second).want(t, http.StatusNoContent)
		s.anyone(t, "admin").delete(t, thief.serves(t, 5)).want(t, http.StatusNoContent) // by staff: it may never have been theirs
		c.register(t, 5)
		s.advance(30*24*time.Hour - time.Hour - time.Millisecond)
		steal(http.StatusConflict)
		s.advance(time.Millisecond)
		steal(http.StatusCreated)
	})
}

// A MAC address that was not in service when it was given up is free at once: else one
// hotspot could keep all addresses of a vendor from their owners.
func TestMAC_NotReserved(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		squatter, c := s.operator(t), s.operator(t)
		free := func(n int, what string) {
			t.Helper()
			if a := c.post(t, "/v1/hotspots", registration(n)); a.StatusCode != http.StatusCreated {
				t.Errorf("the address of a hotspot that was %s: %s", what, a)
			}
		}
		change := func(path string, n int) {
			t.Helper()
			squatter.patch(t, path, at(`{"device":{"mac_address":%q}}`, mac(n))).want(t, http.StatusOK)
		}
		pending := "/v1/hotspots/" + squatter.register(t, 1).ID
		for n := 2; n < 8; n++ {
			change(pending, n)
		}
		squatter.delete(t, pending).want(t, http.StatusNoContent)
		for n := 1; n < 8; n++ {
			free(n, "never in service")
		}

		linked := squatter.install(t, 11).hotspot
		change(linked, 12)
		free(11, "linked and not verified")
		s.verify(t, linked)
		change(linked, 13)
		free(12, "verified and not linked")

		served := squatter.serves(t, 21)
		change(served, 22)
		change(served, 23)
		wantFault(t, c.post(t, "/v1/hotspots", registration(21)), http.StatusConflict, "conflict")
		free(22, "changed since it was in service")
		s.anyone(t, "hotspots:verify").delete(t, served+"/verification?reason=gone").want(t, http.StatusNoContent)
		squatter.delete(t, served).want(t, http.StatusNoContent)
		free(23, "no longer verified")
	})
}

// Staff can end a reservation, for someone who bought a used device, and the audit says
// that they did. What is in use cannot be released.
func TestMAC_Released(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		seller, buyer := s.operator(t), s.operator(t)
		release := func() (beacon.UserID, error) {
			address, err := beacon.ParseMAC(mac(1))
			if err != nil {
				t.Fatal(err)
			}
			return s.db.Hotspots.ReleaseMAC(t.Context(), address, "sold", beacon.Actor{Request: "cli"}, s.now())
		}
		sold := seller.serves(t, 1)
		if _, err := release(); err == nil || !strings.Contains(err.Error(), "not reserved") {
			t.Errorf("an address in use is released: %v", err)
		}
		seller.delete(t, sold).want(t, http.StatusNoContent)
		wantFault(t, buyer.post(t, "/v1/hotspots", registration(1)), http.StatusConflict, "conflict")
		if owner, err := release(); err != nil || owner != seller.user {
			t.Errorf("released from %q, %v; want %s", owner, err, seller.user)
		}
		if _, err := release(); err == nil {
			t.Error("it is released twice")
		}
		wantEqual(t, "the audit", s.notes(t, beacon.MACReleased), []string{"02:00:5e:00:00:01: sold"})
		buyer.register(t, 1)
		wantFault(t, seller.post(t, "/v1/hotspots", registration(1)), http.StatusConflict, "conflict")
	})
}
