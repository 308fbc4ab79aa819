package api_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// listed is a hotspot in the list of all.
type listed struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	Location struct {
		Lat, Lng float64
		Address  string
		Verified bool
	} `json:"location"`
	Device    struct{ Linked bool } `json:"device"`
	CreatedAt string                `json:"created_at"`
	Status    string                `json:"status"`
	RadiusM   float64               `json:"coverage_radius_m"`
	Tier      string                `json:"performance_tier"`
	Signal    string                `json:"signal_quality"`
	Load      json.Number           `json:"current_load"`
	Uptime    json.Number           `json:"uptime_30d"`
}

// names spells a page: which names, in their order, and where in the list it is.
func names(t testing.TB, a answer) string {
	t.Helper()
	page := whole[[]struct{ Name string }](t, a, http.StatusOK)
	var all []string
	for _, h := range page.Data {
		all = append(all, h.Name)
	}
	p := *page.Pagination
	return fmt.Sprintf("%s; %d of %d, %d in all", strings.Join(all, ", "), p.Page, p.TotalPages, p.Total)
}

// settle registers hotspots of two operators in every state, one a second.
func (s *server) settle(t testing.TB) (first, second client) {
	t.Helper()
	first, second = s.operator(t), s.operator(t)
	named := func(name string) []string { s.advance(time.Second); return []string{"name", quoted(name)} }
	first.register(t, 1, named("Straße 1")...)
	second.register(t, 2, append(named("Café Zoë"), "type", `"business"`)...)
	linked := first.install(t, 3, named("CAFE STRASSE")...)
	verified := second.register(t, 4, named("İstanbul büfe")...)
	s.verify(t, "/v1/hotspots/"+verified.ID)
	online := first.install(t, 5, named("日本橋 Wi-Fi")...)
	s.verify(t, online.hotspot)
	silent := second.install(t, 6, named("Κάφε ΤΗΣ ΟΔΟΣ")...)
	s.verify(t, silent.hotspot)
	first.delete(t, "/v1/hotspots/"+first.register(t, 7, named("Straße 2")...).ID).want(t, http.StatusNoContent)
	online.beat(t, `{"boot_id":"a","seq":0,"clients":8,"rx_bytes":1,"tx_bytes":1,"rssi_dbm":-50}`).want(t, http.StatusOK)
	linked.beat(t, `{"boot_id":"a","seq":0,"clients":1,"rx_bytes":1,"tx_bytes":1}`).want(t, http.StatusOK)
	return first, second
}

func TestList(t *testing.T) {
	level.Repeats(t)
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		first, second := s.settle(t)
		staff, admin := s.anyone(t, "hotspots:verify"), s.anyone(t, "admin")
		first.patch(t, "/v1/hotspots/"+data[[]hotspot](t, first.get(t, "/v1/users/me/hotspots"), 200)[0].ID, `{"name":"Neue Straße"}`).want(t, http.StatusOK)
		rejected := data[[]listed](t, staff.get(t, "/v1/hotspots?q=cafe+strasse"), http.StatusOK)[0].ID
		staff.delete(t, "/v1/hotspots/"+rejected+"/verification?reason=no+radio").want(t, http.StatusNoContent)
		for query, want := range map[string]string{
			"":                                "Neue Straße, Café Zoë, CAFE STRASSE, İstanbul büfe, 日本橋 Wi-Fi, Κάφε ΤΗΣ ΟΔΟΣ; 1 of 1, 6 in all",
			"?status=all":                     "Neue Straße, Café Zoë, CAFE STRASSE, İstanbul büfe, 日本橋 Wi-Fi, Κάφε ΤΗΣ ΟΔΟΣ; 1 of 1, 6 in all",
			"?status=pending":                 "Neue Straße, Café Zoë, CAFE STRASSE, İstanbul büfe; 1 of 1, 4 in all",
			"?verified=false":                 "Neue Straße, Café Zoë, CAFE STRASSE; 1 of 1, 3 in all",
			"?verified=true":                  "İstanbul büfe, 日本橋 Wi-Fi, Κάφε ΤΗΣ ΟΔΟΣ; 1 of 1, 3 in all",
			"?rejected=true":                  "CAFE STRASSE; 1 of 1, 1 in all",
			"?verified=false&rejected=false":  "Neue Straße, Café Zoë; 1 of 1, 2 in all",
			"?type=business&order=newest":     "Café Zoë; 1 of 1, 1 in all",
			"?status=online":                  "日本橋 Wi-Fi; 1 of 1, 1 in all",
			"?status=offline":                 "Κάφε ΤΗΣ ΟΔΟΣ; 1 of 1, 1 in all",
			"?order=oldest":                   "Neue Straße, Café Zoë, CAFE STRASSE, İstanbul büfe, 日本橋 Wi-Fi, Κάφε ΤΗΣ ΟΔΟΣ; 1 of 1, 6 in all",
			"?order=seen":                     "Neue Straße, Café Zoë, İstanbul büfe, Κάφε ΤΗΣ ΟΔΟΣ, CAFE STRASSE, 日本橋 Wi-Fi; 1 of 1, 6 in all",
			"?order=-seen&per_page=2":         "CAFE STRASSE, 日本橋 Wi-Fi; 1 of 3, 6 in all",
			"?order=-uptime&per_page=1":       "日本橋 Wi-Fi; 1 of 6, 6 in all",
			"?order=uptime&per_page=1&page=6": "日本橋 Wi-Fi; 6 of 6, 6 in all",
			"?order=uptime&status=offline":    "Κάφε ΤΗΣ ΟΔΟΣ; 1 of 1, 1 in all",
			"?order=seen&q=caf&page=2":        "; 2 of 1, 2 in all",
			"?order=-seen&operator_id=" + string(second.user): "Café Zoë, İstanbul büfe, Κάφε ΤΗΣ ΟΔΟΣ; 1 of 1, 3 in all",
			"?q=street":                       "; 1 of 0, 0 in all",
			"?q=STRASSE":                      "Neue Straße, CAFE STRASSE; 1 of 1, 2 in all",
			"?q=stra%C3%9Fe":                  "Neue Straße, CAFE STRASSE; 1 of 1, 2 in all",
			"?q=%20CAF%C3%89+":                "Café Zoë; 1 of 1, 1 in all",
			"?q=e%CC%81":                      "Café Zoë; 1 of 1, 1 in all", // another spelling of é
			"?q=istanbul":                     "; 1 of 0, 0 in all",         // which an İ begins, with its dot
			"?q=stanbul+B%C3%9CF":             "İstanbul büfe; 1 of 1, 1 in all",
			"?q=%CE%BF%CE%B4%CE%BF%CF%83":     "Κάφε ΤΗΣ ΟΔΟΣ; 1 of 1, 1 in all", // οδοσ, with a sigma as inside a word
			"?q=%E6%9C%AC":                    "日本橋 Wi-Fi; 1 of 1, 1 in all",
			"?q=%25":                          "; 1 of 0, 0 in all", // no pattern, as a database would take it for
			"?q=_":                            "; 1 of 0, 0 in all",
			"?q=stra%C3%9Fe+2":                "; 1 of 0, 0 in all", // which is deleted
			"?per_page=2&page=2":              "CAFE STRASSE, İstanbul büfe; 2 of 3, 6 in all",
			"?page=9&per_page=5":              "; 9 of 2, 6 in all",
			"?order=newest&per_page=4&page=1": "Κάφε ΤΗΣ ΟΔΟΣ, 日本橋 Wi-Fi, İstanbul büfe, CAFE STRASSE; 1 of 2, 6 in all",
			"?order=newest&per_page=4&page=2": "Café Zoë, Neue Straße; 2 of 2, 6 in all",
			"?status=pending&verified=true":   "İstanbul büfe; 1 of 1, 1 in all",
			"?status=pending&verified=false&q=e&order=newest":                   "CAFE STRASSE, Neue Straße; 1 of 1, 2 in all",
			"?status=online&verified=false":                                     "; 1 of 0, 0 in all",
			"?status=online&q=%E6%9C%AC":                                        "日本橋 Wi-Fi; 1 of 1, 1 in all",
			"?status=offline&q=%E6%9C%AC":                                       "; 1 of 0, 0 in all",
			"?operator_id=" + string(first.user):                                "Neue Straße, CAFE STRASSE, 日本橋 Wi-Fi; 1 of 1, 3 in all",
			"?order=newest&per_page=2&page=2&operator_id=" + string(first.user): "Neue Straße; 2 of 2, 3 in all",
			"?q=caf&operator_id=" + string(second.user):                         "Café Zoë; 1 of 1, 1 in all",
			"?status=online&operator_id=" + string(first.user):                  "日本橋 Wi-Fi; 1 of 1, 1 in all",
			"?status=pending&verified=true&operator_id=" + string(second.user):  "İstanbul büfe; 1 of 1, 1 in all",
			"?operator_id=" + string(staff.user):                                "; 1 of 0, 0 in all",
			fmt.Sprintf("?page=%d&per_page=100", math.MaxInt):                   fmt.Sprintf("; %d of 1, 6 in all", math.MaxInt),
		} {
			if got := names(t, staff.get(t, "/v1/hotspots"+query)); got != want {
				t.Errorf("%s:\n got %s\nwant %s", query, got, want)
			}
			if got := names(t, admin.get(t, "/v1/hotspots"+query)); got != want {
				t.Errorf("%s to an admin:\n got %s\nwant %s", query, got, want)
			}
		}
	})
}

// The list is a table for those who ask for one: all that is found, whatever the page.
func TestList_Table(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		s.settle(t)
		staff := s.anyone(t, "hotspots:verify")
		table := staff.get(t, "/v1/hotspots?order=-seen&verified=true&per_page=1", "Accept", "text/csv").want(t, http.StatusOK)
		rows, err := csv.NewReader(strings.NewReader(string(table.body))).ReadAll()
		if err != nil || len(rows) != 4 {
			t.Fatalf("%d rows, %v; want a header and three:\n%s", len(rows), err, table.body)
		}
		listed := data[[]listed](t, staff.get(t, "/v1/hotspots?order=-seen&verified=true"), http.StatusOK)
		for i, h := range listed {
			want := []string{h.ID, h.Name, h.Type, h.Status, h.Location.Address, fmt.Sprint(h.Location.Lat), fmt.Sprint(h.Location.Lng), "true", fmt.Sprint(h.Device.Linked), h.Uptime.String(), rows[i+1][10], h.CreatedAt}
			wantEqual(t, h.Name, rows[i+1], want)
		}
		if rows[1][10] == "" || rows[2][10] != "" || rows[1][1] != "日本橋 Wi-Fi" {
			t.Errorf("last seen are %q and %q", rows[1], rows[2])
		}
		for query, field := range map[string]string{"?order=name": "order", "?order=seen&cursor=bm9uc2Vuc2U": "cursor", "?order=-newest": "order"} {
			wantFault(t, staff.get(t, "/v1/hotspots"+query), http.StatusBadRequest, "invalid_request", field)
		}
		wantFault(t, s.operator(t).get(t, "/v1/hotspots", "Accept", "text/csv"), http.StatusForbidden, "forbidden")
	})
}

// What the list says of a hotspot is what its own address and nearby say.
func TestList_AgreesWithTheRest(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		s.settle(t)
		s.advance(time.Minute)
		staff := s.anyone(t, "hotspots:verify")
		all := data[[]listed](t, staff.get(t, "/v1/hotspots"), http.StatusOK)
		near := staff.nearby(t, 40.7, -74, "&radius=10000&status=all&limit=100")
		slices.SortFunc(near, func(a, b summary) int { return strings.Compare(a.ID, b.ID) })
		if len(all) != 6 || len(near) != len(all) {
			t.Fatalf("%d in the list, %d nearby; want 6", len(all), len(near))
		}
		for i, h := range all {
			full, n := data[hotspot](t, staff.get(t, "/v1/hotspots/"+h.ID), http.StatusOK), near[i]
			for what, pair := range map[string][2]any{
				"id": {h.ID, n.ID}, "name": {h.Name, full.Name}, "type": {h.Type, full.Type}, "status": {h.Status, full.Status}, "created_at": {h.CreatedAt, full.CreatedAt},
				"lat": {h.Location.Lat, full.Location.Lat}, "lng": {h.Location.Lng, full.Location.Lng}, "address": {h.Location.Address, n.Location.Address},
				"verified": {h.Location.Verified, full.Location.Verified}, "linked": {h.Device.Linked, full.Device.Linked}, "radius": {h.RadiusM, full.RadiusM},
				"tier": {h.Tier, n.Tier}, "signal": {h.Signal, n.Signal}, "load": {h.Load, n.Load}, "uptime": {h.Uptime, json.Number(fmt.Sprint(full.Metrics["uptime_30d"]))},
			} {
				wantEqual(t, h.Name+": "+what, pair[0], pair[1])
			}
		}
		// Who falls silent is offline by the clock alone.
		s.advance(beacon.OfflineAfter)
		wantEqual(t, "online", names(t, staff.get(t, "/v1/hotspots?status=online")), "; 1 of 0, 0 in all")
		wantEqual(t, "offline", names(t, staff.get(t, "/v1/hotspots?status=offline")), "日本橋 Wi-Fi, Κάφε ΤΗΣ ΟΔΟΣ; 1 of 1, 2 in all")
	})
}

// badSearches are texts that no name is searched for.
var badSearches = []string{"", " ", "\u00a0\u3000", "\x00", "a\nb", "\xff", "a\u202eb", strings.Repeat("x", 51), strings.Repeat("é", 51), "\uffff"}

func TestList_Refused(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		staff := s.anyone(t, "hotspots:verify")
		for query, fields := range map[string][]string{
			"page=0": {"page"}, "page=1.5": {"page"}, "page=9007199254740993.0": {"page"}, "page=": {"page"}, "page=9223372036854775808": {"page"}, "per_page=0": {"per_page"}, "per_page=101": {"per_page"},
			"status=": {"status"}, "status=PENDING": {"status"}, "status=waiting": {"status"}, "status=all&status=all": {"status"},
			"verified=": {"verified"}, "verified=1": {"verified"}, "verified=True": {"verified"}, "verified=true&verified=true": {"verified"},
			"operator_id=": {"operator_id"}, "operator_id=me": {"operator_id"}, "operator_id=hs_01kb3gzk00e9x8q6s5t4v3w2y1": {"operator_id"}, "operator_id=a&operator_id=b": {"operator_id"},
			"order=": {"order"}, "order=asc": {"order"}, "order=newest&order=oldest": {"order"}, "q=a&q=b": {"q"},
			"q=&status=x&verified=x&order=x&page=x&per_page=x": {"q", "status", "verified", "order", "page", "per_page"},
		} {
			wantFault(t, staff.get(t, "/v1/hotspots?"+query), http.StatusBadRequest, "invalid_request", fields...)
		}
		for _, text := range badSearches {
			wantFault(t, staff.get(t, "/v1/hotspots?q="+url.QueryEscape(text)), http.StatusBadRequest, "invalid_request", "q")
		}
		staff.get(t, "/v1/hotspots?q="+strings.Repeat("%C3%A9", 50)).want(t, http.StatusOK)
		wantFault(t, staff.get(t, "/v1/hotspots?unknown=1&unknown=2&Status=x"), http.StatusBadRequest, "invalid_request", "unknown", "Status")
		for _, broken := range []string{"q=%zz", "q=a;b", "%"} {
			wantFault(t, staff.get(t, "/v1/hotspots?"+broken), http.StatusBadRequest, "invalid_request")
		}
		// The whole network is for staff: nobody else may carry it off.
		for _, c := range []client{s.anyone(t), s.operator(t), s.anyone(t, "rewards:read", "keys:manage")} {
			wantFault(t, c.get(t, "/v1/hotspots"), http.StatusForbidden, "forbidden")
			wantFault(t, c.get(t, "/v1/hotspots?page=0"), http.StatusForbidden, "forbidden")
		}
		wantFault(t, s.call(t, "GET", "/v1/hotspots", ""), http.StatusUnauthorized, "unauthorized")
	})
}

// To look at many hotspots is as much work as some requests; to count them is not.
func TestLimits_List(t *testing.T) {
	level.Repeats(t)
	s := onSQLite(t, options{limits: hourly(20, 100)})
	all := make([]beacon.Hotspot, 120_000)
	for i := range all {
		all[i] = beacon.Hotspot{ID: beacon.HotspotID(id.New(beacon.HotspotPrefix, noon)), Name: fmt.Sprintf("Kiosk %d", i), Type: beacon.Public, Version: 1}
		if i%2 == 0 {
			all[i].Location.VerifiedAt, all[i].Device.LinkedAt = noon, noon
		}
	}
	if err := s.Fleet.Apply(all...); err != nil {
		t.Fatal(err)
	}
	staff := s.anyone(t, "hotspots:verify")
	wantRate(t, staff.get(t, "/v1/hotspots?page=600&per_page=100&verified=true").want(t, http.StatusOK), 20, 19)
	wantRate(t, staff.get(t, "/v1/hotspots?q=kiosk").want(t, http.StatusOK), 20, 16)
	wantRate(t, staff.get(t, "/v1/hotspots?q=no+such+name").want(t, http.StatusOK), 20, 15) // which no part of the roll can have
	wantRate(t, staff.get(t, "/v1/hotspots?status=online").want(t, http.StatusOK), 20, 2)
	a := staff.get(t, "/v1/hotspots?q=kiosk") // three are needed, and there are two
	wantFault(t, a, http.StatusTooManyRequests, "rate_limit_exceeded")
	wantRate(t, a, 20, 1) // what is refused costs no more than any request
	// No request counts for more than a key may send at once: it could never be answered.
	small := start(t, s.db, options{limits: hourly(5, 100)})
	if err := small.Fleet.Apply(all...); err != nil {
		t.Fatal(err)
	}
	wantRate(t, client{server: small, plain: staff.plain}.get(t, "/v1/hotspots?status=online").want(t, http.StatusOK), 5, 0)
	if after, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || after > 3600 || after < 3540 {
		t.Errorf("Retry-After %s; want about 3600", a.Header.Get("Retry-After"))
	}
}
