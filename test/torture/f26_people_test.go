//go:build linux

package torture_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// register registers the hotspot, has it verified and links its device, in any order.
func (h *yearHotspot) register(m harness.Minute) {
	h.setMAC()
	h.hours = []hoursSince{{0, h.someHours()}}
	made := h.ask(http.MethodPost, "/v1/hotspots", harness.Fields{
		"name": h.name, "type": []string{"home", "business", "public"}[h.number%3],
		"location": harness.Fields{"lat": h.lat, "lng": -74}, "device": harness.Fields{"ssid": "year", "mac_address": h.mac},
		"settings": harness.Fields{"operating_hours": h.hours[0].hours.fields()},
	})
	h.id, _ = made["id"].(string)
	h.registered = dayOf(m)
	h.url = &url.URL{Path: "/v1/hotspots/" + h.id + "/heartbeats"}
	h.note(m, "registered")
	steps := []func(harness.Minute){h.verify, h.link}
	if h.random.IntN(2) == 0 {
		steps[0], steps[1] = steps[1], steps[0]
	}
	steps[0](m)
	h.year.atAnyTime(m+harness.Minute(h.random.IntN(90)), steps[1])
}

func (h *yearHotspot) setMAC() {
	h.year.macs++
	h.mac = fmt.Sprintf("02:00:5e:%02x:%02x:%02x", h.year.macs>>16&255, h.year.macs>>8&255, h.year.macs&255)
}

// verify is a visit by staff.
func (h *yearHotspot) verify(m harness.Minute) {
	if h.verified || h.gone {
		return
	}
	h.year.ask(h.year.staff, http.MethodPost, h.path("/verification"),
		harness.Fields{"lat": h.lat, "lng": -74, "accuracy_m": 5, "method": "gps"})
	h.verified = true
	h.begins(m)
	h.note(m, "verified")
}

// link links the device, or links it again.
func (h *yearHotspot) link(m harness.Minute) {
	if h.gone {
		return
	}
	code := h.ask(http.MethodPost, h.path("/link-code"), nil)["code"]
	key, _ := h.year.ask("", http.MethodPost, "/v1/devices/link", harness.Fields{"code": code, "mac_address": h.mac})["device_key"].(string)
	h.key = key
	h.header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	h.ends(m)
	h.linked = true
	h.begins(m)
	h.reboot(m)
	h.later, h.next = nil, m
	h.note(m, "linked")
}

func (h *yearHotspot) unlink(m harness.Minute) {
	if h.gone || !h.linked {
		return
	}
	h.ask(http.MethodDelete, h.path("/device"), nil)
	h.ends(m)
	h.linked = false
	h.note(m, "unlinked")
	h.year.atAnyTime(m+1+harness.Minute(h.random.IntN(1000)), h.link)
}

// replace puts another device in its place.
func (h *yearHotspot) replace(m harness.Minute) {
	if h.gone || !h.linked {
		return
	}
	h.setMAC()
	h.ask(http.MethodPatch, h.path(""), harness.Fields{"device": harness.Fields{"mac_address": h.mac}})
	h.ends(m)
	h.linked = false
	h.note(m, "device replaced")
	h.year.atAnyTime(m+1+harness.Minute(h.random.IntN(300)), h.link)
}

// move takes it to another place, where staff must verify it again.
func (h *yearHotspot) move(m harness.Minute) {
	if h.gone || !h.verified {
		return
	}
	h.lat += 0.01
	h.ask(http.MethodPatch, h.path(""), harness.Fields{"location": harness.Fields{"lat": h.lat, "lng": -74}})
	h.ends(m)
	h.verified = false
	h.note(m, "moved")
	h.year.atAnyTime(m+1+harness.Minute(h.random.IntN(2000)), h.verify)
}

func (h *yearHotspot) relink(m harness.Minute) {
	if h.linked {
		h.link(m)
	}
}

// remove deletes it. Another one takes its place some time later.
func (h *yearHotspot) remove(m harness.Minute) {
	if h.gone {
		return
	}
	h.ask(http.MethodDelete, h.path(""), nil)
	h.ends(m)
	h.linked, h.gone = false, true
	h.note(m, "deleted")
	h.year.hotspotAt(m+60+harness.Minute(h.random.IntN(2000)), h.user)
}

// change changes the opening hours. They are in force from the minute on in which it happens.
func (h *yearHotspot) change(m harness.Minute) {
	if h.gone {
		return
	}
	hours := h.someHours()
	h.setHours(m, hours)
}

// except closes it on one of the next days, or opens it at other times.
func (h *yearHotspot) except(m harness.Minute) {
	now := h.hours[len(h.hours)-1].hours
	if h.gone || now == nil {
		return
	}
	hours := *now
	if hours.exceptions = maps.Clone(now.exceptions); len(hours.exceptions) > 50 {
		hours.exceptions = map[string][]opening{}
	}
	date := time.Unix(int64(m)*60, 0).In(now.zone).AddDate(0, 0, h.random.IntN(4)).Format(time.DateOnly)
	if hours.exceptions[date] = nil; h.random.IntN(2) == 0 {
		from := h.random.IntN(20) * 60
		hours.exceptions[date] = []opening{{from, from + 60 + h.random.IntN(1200)}}
	}
	h.setHours(m, &hours)
}

func (h *yearHotspot) setHours(m harness.Minute, hours *openHours) {
	h.ask(http.MethodPatch, h.path(""), harness.Fields{"settings": harness.Fields{"operating_hours": hours.fields()}})
	h.deeds.hours = append(h.deeds.hours, hoursSince{m, hours})
	h.note(m, "new opening hours")
}

// someHours are opening hours of any kind, or none.
func (h *yearHotspot) someHours() *openHours {
	kind := h.random.IntN(4)
	if kind == 0 {
		return nil
	}
	zones := []string{"America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"}
	zone, err := time.LoadLocation(zones[h.random.IntN(len(zones))])
	if err != nil {
		h.year.t.Fatal(err)
	}
	hours := &openHours{zone: zone, exceptions: map[string][]opening{}}
	for day := range 7 {
		from := h.random.IntN(12*4) * 15
		switch {
		case kind == 1: // a shop, in the daytime
			hours.weekly[day] = []opening{{from, from + 60 + h.random.IntN(600)}}
		case kind == 2: // a bar: past midnight, and never before noon
			hours.weekly[day] = []opening{{12*60 + from, 24*60 + h.random.IntN(11*60) + 1}}
		case h.random.IntN(7) > 0: // two openings, and closed on some days
			hours.weekly[day] = []opening{{from / 2, from/2 + 30}, {from/2 + 100, from/2 + 500}}
		}
	}
	return hours
}

func (h *yearHotspot) path(rest string) string { return "/v1/hotspots/" + h.id + rest }

func (h *yearHotspot) ask(method, path string, body any) harness.Fields {
	return h.year.ask(h.user.key, method, path, body)
}
