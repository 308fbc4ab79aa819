package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// behind is a server that takes the tests for a trusted proxy.
var behind = options{limits: ample, live: true, proxied: true}

// Where devices and phones are.
const (
	cafe  = "198.51.100.7"
	kiosk = "203.0.113.9"
	hotel = "2001:db8:1:2:3::4" // and its /64
)

type checkedIn struct {
	HotspotID string `json:"hotspot_id"`
	Day       string
	Works     bool
	Counts    bool
	Reason    string
}

type heardAt struct {
	machine
	at string
}

// shop makes a verified hotspot of a new operator whose device sends from an address.
func (s *server) shop(t testing.TB, n int, from string) (heardAt, client) {
	t.Helper()
	c := s.operator(t)
	m := heardAt{c.install(t, n, "type", `"business"`), from}
	s.verify(t, m.hotspot)
	m.hear(t)
	return m, c
}

// hear has the device send a heartbeat.
func (m heardAt) hear(t testing.TB) {
	t.Helper()
	m.beat(t, at(`{"boot_id":"a","seq":%d,"clients":1,"rx_bytes":1,"tx_bytes":1}`, m.now().UnixMilli()), "X-Forwarded-For", m.at).want(t, http.StatusOK)
}

func token(n int) string { return fmt.Sprintf("install-%016d", n) }

// checkIn sends what an install says of a hotspot, from an address.
func (c client) checkIn(t testing.TB, hotspot string, install int, works bool, from string) checkedIn {
	t.Helper()
	body := at(`{"install":%q,"works":%t}`, token(install), works)
	return data[checkedIn](t, c.post(t, hotspot+"/checkins", body, "X-Forwarded-For", from), http.StatusOK)
}

// A phone counts once it was at two other operators', and where it is.
func TestCheckIn(t *testing.T) {
	eachStoreWith(t, behind, func(t *testing.T, s *server) {
		app := s.anyone(t, "checkins:write")
		first, owner := s.shop(t, 1, cafe)
		second, _ := s.shop(t, 2, kiosk)
		third, _ := s.shop(t, 3, hotel)
		want := func(name string, got checkedIn, hotspot, reason string) {
			t.Helper()
			should := checkedIn{strings.TrimPrefix(hotspot, "/v1/hotspots/"), "2026-11-15", true, reason == "", reason}
			if got != should {
				t.Errorf("%s: %+v; want %+v", name, got, should)
			}
		}
		want("an unknown phone", app.checkIn(t, first.hotspot, 1, true, cafe), first.hotspot, "new_install")
		want("at a second", app.checkIn(t, second.hotspot, 1, true, kiosk), second.hotspot, "new_install")
		want("at a third, by its network", app.checkIn(t, third.hotspot, 1, true, "2001:db8:1:2:ffff::1"), third.hotspot, "")
		want("at the first again", app.checkIn(t, first.hotspot, 1, true, cafe), first.hotspot, "")
		want("from elsewhere", app.checkIn(t, first.hotspot, 1, true, kiosk), first.hotspot, "elsewhere")
		want("from a neighbour's network", app.checkIn(t, third.hotspot, 1, true, "2001:db8:1:3::1"), third.hotspot, "elsewhere")
		operators := s.keyOf(t, owner.user, access.Creation{Scopes: beacon.Some([]string{"checkins:write"})})
		want("by the operator's key", operators.checkIn(t, first.hotspot, 1, true, cafe), first.hotspot, "own_hotspot")
		want("another phone is unknown", app.checkIn(t, first.hotspot, 2, true, cafe), first.hotspot, "new_install")

		pending := "/v1/hotspots/" + owner.register(t, 9).ID
		want("a hotspot without a device", app.checkIn(t, pending, 1, true, cafe), pending, "not_online")
		s.advance(10 * time.Minute)
		want("an offline one", app.checkIn(t, second.hotspot, 1, true, kiosk), second.hotspot, "not_online")
		second.hear(t)
		want("it is back", app.checkIn(t, second.hotspot, 1, true, kiosk), second.hotspot, "")

		// The device moves to another line: its old address no longer counts.
		first.at = kiosk
		first.hear(t)
		want("at the old address", app.checkIn(t, first.hotspot, 1, true, cafe), first.hotspot, "elsewhere")
		want("at the new one", app.checkIn(t, first.hotspot, 1, true, kiosk), first.hotspot, "")
		if n := len(s.changes(t, beacon.HotspotVouched)); n != 0 {
			t.Errorf("%d proofs were extended, long before they end", n)
		}
		if log := s.log.String(); strings.Contains(log, token(1)) || strings.Contains(log, "elsewhere") {
			t.Error("the log shows an install")
		}
	})
}

// Two hotspots of one operator, and one that staff have not visited, are not two others.
func TestCheckIn_Others(t *testing.T) {
	eachStoreWith(t, behind, func(t *testing.T, s *server) {
		app := s.anyone(t, "checkins:write")
		first, owner := s.shop(t, 1, cafe)
		branch := heardAt{owner.install(t, 2), kiosk}
		s.verify(t, branch.hotspot)
		branch.hear(t)
		inexact := heardAt{s.operator(t).install(t, 3), kiosk}
		place := data[hotspot](t, app.get(t, inexact.hotspot), http.StatusOK).Location
		s.anyone(t, "hotspots:verify").post(t, inexact.hotspot+"/verification", at(`{"lat":%v,"lng":%v,"accuracy_m":50,"method":"gps"}`, place.Lat, place.Lng)).want(t, http.StatusOK)
		inexact.hear(t)
		target, _ := s.shop(t, 4, hotel)
		for _, m := range []heardAt{first, branch, inexact} {
			app.checkIn(t, m.hotspot, 1, true, m.at)
		}
		if got := app.checkIn(t, target.hotspot, 1, true, hotel); got.Counts || got.Reason != "new_install" {
			t.Errorf("two of one operator, and one nobody visited: %+v", got)
		}
		more, _ := s.shop(t, 5, kiosk)
		app.checkIn(t, more.hotspot, 1, false, kiosk) // that it does not work shows as well that someone was there
		if got := app.checkIn(t, target.hotspot, 1, true, hotel); !got.Counts {
			t.Errorf("two operators: %+v", got)
		}
	})
}

// What an app is told of a check-in does not tell whose a hidden home is: neither whether
// two homes have one operator, nor whether a home belongs to the operator of a shop.
func TestCheckIn_HiddenHomes(t *testing.T) {
	level.Repeats(t)
	eachStoreWith(t, behind, func(t *testing.T, s *server) {
		s.blur(t, "blur")
		app := s.anyone(t, "checkins:write")
		home := func(c client, n int) heardAt {
			m := heardAt{c.install(t, n, "type", `"home"`), kiosk}
			s.verify(t, m.hotspot)
			m.hear(t)
			return m
		}
		shop, grocer := s.shop(t, 1, cafe)
		second, _ := s.shop(t, 2, cafe)
		third, _ := s.shop(t, 3, cafe)
		one, another := s.operator(t), s.operator(t)
		first, sibling, stranger, grocers := home(one, 4), home(one, 5), home(another, 6), home(grocer, 7)

		app.checkIn(t, first.hotspot, 1, true, kiosk)
		app.checkIn(t, sibling.hotspot, 1, true, kiosk)
		app.checkIn(t, first.hotspot, 2, true, kiosk)
		app.checkIn(t, stranger.hotspot, 2, true, kiosk)
		linked, apart := app.checkIn(t, shop.hotspot, 1, true, cafe), app.checkIn(t, shop.hotspot, 2, true, cafe)
		if linked != apart {
			t.Errorf("after two homes of one operator %+v, of two operators %+v", linked, apart)
		}

		whose := func(install int, counts bool) {
			t.Helper()
			owners, others := app.checkIn(t, grocers.hotspot, install, true, kiosk), app.checkIn(t, first.hotspot, install, true, kiosk)
			if owners.Counts != counts || others.Counts != counts || owners.Reason != others.Reason {
				t.Errorf("at a home of the shop's operator %+v, at another %+v; want both to count: %t", owners, others, counts)
			}
		}
		app.checkIn(t, shop.hotspot, 3, true, cafe)
		app.checkIn(t, second.hotspot, 3, true, cafe)
		whose(3, false)
		app.checkIn(t, third.hotspot, 3, true, cafe)
		whose(3, true)
	})
}

// The quality is shown from five installs on, to everyone, and only what counts.
func TestCheckIn_Quality(t *testing.T) {
	eachStoreWith(t, behind, func(t *testing.T, s *server) {
		type shown struct {
			Quality *struct {
				CheckIns    int     `json:"checkins_30d"`
				SuccessRate float64 `json:"success_rate"`
			}
		}
		app, reader := s.anyone(t, "checkins:write"), s.anyone(t)
		first, _ := s.shop(t, 1, cafe)
		second, _ := s.shop(t, 2, kiosk)
		third, _ := s.shop(t, 3, hotel)
		known := func(n int) {
			app.checkIn(t, first.hotspot, n, true, cafe)
			app.checkIn(t, second.hotspot, n, true, kiosk)
		}
		for n := range 4 {
			known(n)
			app.checkIn(t, third.hotspot, n, n > 0, hotel)
		}
		app.checkIn(t, third.hotspot, 99, false, hotel) // does not count
		if got := data[shown](t, reader.get(t, third.hotspot), http.StatusOK); got.Quality != nil {
			t.Errorf("of four installs: %+v", got)
		}
		known(4)
		app.checkIn(t, third.hotspot, 4, false, hotel)
		app.checkIn(t, third.hotspot, 4, true, hotel) // the latest of a day
		got := data[shown](t, reader.get(t, third.hotspot), http.StatusOK).Quality
		if got == nil || got.CheckIns != 5 || got.SuccessRate != 0.8 {
			t.Errorf("of five installs: %+v", got)
		}
	})
}

// Of a hidden home strangers see the check-ins of days that are over: those of today would
// tell the minute at which someone is there.
func TestCheckIn_QualityOfHome(t *testing.T) {
	level.Repeats(t)
	eachStoreWith(t, behind, func(t *testing.T, s *server) {
		type shown struct {
			Quality *struct {
				CheckIns int `json:"checkins_30d"`
			}
		}
		app, stranger, operator := s.anyone(t, "checkins:write"), s.anyone(t), s.operator(t)
		first, _ := s.shop(t, 1, cafe)
		second, _ := s.shop(t, 2, kiosk)
		third, _ := s.shop(t, 4, kiosk)
		home := heardAt{operator.install(t, 3, "type", `"home"`), hotel}
		s.verify(t, home.hotspot)
		s.blur(t, "blur")
		day := func(installs int) {
			for _, m := range []heardAt{first, second, third, home} {
				m.hear(t)
			}
			for n := range installs {
				app.checkIn(t, first.hotspot, n, true, cafe)
				app.checkIn(t, second.hotspot, n, true, kiosk)
				app.checkIn(t, third.hotspot, n, true, kiosk)
				app.checkIn(t, home.hotspot, n, true, hotel)
			}
		}
		see := func(who string, c client, want int) {
			t.Helper()
			got := 0
			if q := data[shown](t, c.get(t, home.hotspot), http.StatusOK).Quality; q != nil {
				got = q.CheckIns
			}
			if got != want {
				t.Errorf("%s sees %d check-ins; want %d", who, got, want)
			}
		}
		day(5)
		see("the operator", operator, 5)
		see("a stranger", stranger, 0)
		s.advance(24 * time.Hour)
		day(1)
		see("the operator", operator, 6)
		see("a stranger", stranger, 5)
		s.blur(t, "off")
		see("a stranger, while homes are open,", stranger, 6)
	})
}

// Whatever is sent, the answer is a documented one, and nothing faulty is stored.
func TestCheckIn_Faults(t *testing.T) {
	eachStoreWith(t, behind, func(t *testing.T, s *server) {
		app := s.anyone(t, "checkins:write")
		m, _ := s.shop(t, 1, cafe)
		path := m.hotspot + "/checkins"
		const good = `"install":"0123456789abcdef","works":true`
		for body, fields := range map[string][]string{
			`{}`:                          {"install", "works"},
			`{"install":"","works":1}`:    {"install", "works"},
			`{"install":null,"works":{}}`: {"install", "works"},
			`{"install":"0123456789abcde","works":true}`:                               {"install"},
			at(`{"install":%q,"works":true}`, strings.Repeat("x", 65)):                 {"install"},
			`{"install":"0123456789abcde\u0000","works":true}`:                         {"install"},
			`{"install":"0123456789 abcdef","works":true}`:                             {"install"},
			`{"install":"0123456789abcdeé","works":true}`:                              {"install"},
			`{` + good + `,"speed":{"down_mbps":-1,"up_mbps":100001}}`:                 {"speed.down_mbps", "speed.up_mbps"},
			`{` + good + `,"speed":{}}`:                                                {"speed.down_mbps", "speed.up_mbps"},
			`{` + good + `,"speed":[],"rssi_dbm":1}`:                                   {"speed", "rssi_dbm"},
			`{` + good + `,"rssi_dbm":-121}`:                                           {"rssi_dbm"},
			`{` + good + `,"rssi_dbm":1e999,"user":"usr_x"}`:                           {"rssi_dbm", "user"},
			`{` + good + `,"speed":{"down_mbps":1,"up_mbps":1,"latency_ms":1}}`:        {"speed.latency_ms"},
			`{"install":"0123456789abcdef","works":true,"speed":null,"rssi_dbm":null}`: {"speed", "rssi_dbm"},
		} {
			code := "invalid_request"
			if body == `{}` || strings.HasSuffix(body, `"speed":{}}`) {
				code = "missing_parameter"
			}
			wantFault(t, app.post(t, path, body, "X-Forwarded-For", cafe), http.StatusBadRequest, code, fields...)
		}
		for _, id := range []string{"x", "hs_01kb3gzk00e9x8q6s5t4v3w2y1", "%00", "hs_%2e%2e"} {
			wantFault(t, app.post(t, "/v1/hotspots/"+id+"/checkins", `{`+good+`}`), http.StatusNotFound, "not_found")
		}
		app.post(t, path, `{`+good+`,"speed":{"down_mbps":0,"up_mbps":100000},"rssi_dbm":-120}`, "X-Forwarded-For", "not an address").want(t, http.StatusOK)
		wantFault(t, s.anyone(t, "hotspots:write").post(t, path, `{`+good+`}`), http.StatusForbidden, "forbidden")
		wantFault(t, m.post(t, path, `{`+good+`}`), http.StatusForbidden, "forbidden") // a device
	})
}

// A hotspot has so many check-ins a day, and no more. Who sends them does not learn whether
// others were there before.
func TestCheckIn_Bounded(t *testing.T) {
	level.Repeats(t)
	eachStoreWith(t, behind, func(t *testing.T, s *server) {
		app := s.anyone(t, "checkins:write")
		m, _ := s.shop(t, 1, cafe)
		first := app.checkIn(t, m.hotspot, 0, true, kiosk)
		for n := range 102 {
			if got := app.checkIn(t, m.hotspot, n+1, true, kiosk); got != first {
				t.Errorf("check-in %d is told %+v; the first %+v", n+2, got, first)
			}
		}
	})
}

// Strangers who fill the day of hotspots from elsewhere, without going there, neither keep
// people who are there from becoming known, nor those who are known from counting.
func TestCheckIn_Strangers(t *testing.T) {
	level.Repeats(t)
	eachStoreWith(t, behind, func(t *testing.T, s *server) {
		app := s.anyone(t, "checkins:write")
		var shops []heardAt
		for i, line := range []string{cafe, kiosk, hotel} {
			m, _ := s.shop(t, i+1, line)
			shops = append(shops, m)
			for n := range 100 {
				app.checkIn(t, m.hotspot, 1000*(i+1)+n, false, "198.51.100.99")
			}
		}
		app.checkIn(t, shops[0].hotspot, 999, false, "198.51.100.99") // one more, which is not kept
		for i, m := range shops {
			if got := app.checkIn(t, m.hotspot, 1, true, m.at); got.Counts != (i == 2) {
				t.Errorf("a new phone at operator %d: %+v", i+1, got)
			}
		}
	})
}

// A request with an Idempotency-Key takes effect once, however often it is sent, and is
// not tied to where the repetition comes from.
func TestCheckIn_Once(t *testing.T) {
	eachStoreWith(t, behind, func(t *testing.T, s *server) {
		app := s.anyone(t, "checkins:write")
		m, _ := s.shop(t, 1, cafe)
		send := func(body, from string) answer {
			return app.post(t, m.hotspot+"/checkins", body, "X-Forwarded-For", from, "Idempotency-Key", "k 1")
		}
		first := send(`{"install":"0123456789abcdef","works":true}`, cafe).want(t, http.StatusOK)
		sameAnswer(t, send(`{"works":true, "install":"0123456789abcdef"}`, kiosk), first)
		wantFault(t, send(`{"install":"0123456789abcdef","works":false}`, cafe), http.StatusConflict, "conflict")
	})
}
