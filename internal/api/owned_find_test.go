package api_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// One's own hotspots are filtered, ordered and exported by the server, so that someone with
// very many need not read them all.
func TestOwned_Find(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, other := s.operator(t), s.operator(t)
		other.install(t, 90, "name", `"Not mine"`)
		named := func(name string) []string { s.advance(time.Second); return []string{"name", quoted(name)} }
		delta := c.install(t, 1, named("Delta")...)
		alpha := c.install(t, 2, named("alpha")...)
		c.register(t, 3, append(named("Zulu"), "type", `"business"`)...)
		echo := c.install(t, 4, named("Echo")...)
		c.register(t, 5, named("=Bravo")...)
		for _, m := range []machine{delta, alpha, echo} {
			s.verify(t, m.hotspot)
		}
		send := func(m machine, seq, bytes int) {
			t.Helper()
			m.beat(t, at(`{"boot_id":"a","seq":%d,"clients":1,"rx_bytes":%d,"tx_bytes":0}`, seq, bytes)).want(t, http.StatusOK)
		}
		send(alpha, 0, 0)
		s.advance(time.Minute)
		send(alpha, 1, 5_000_000)
		s.advance(10 * time.Minute) // alpha falls silent, Echo never spoke
		send(delta, 0, 0)
		s.advance(time.Minute)
		send(delta, 1, 9_000_000)

		for query, want := range map[string]string{
			"?order=oldest":                      "Delta, alpha, Zulu, Echo, =Bravo; 1 of 1, 5 in all",
			"?status=all":                        "Delta, alpha, Zulu, Echo, =Bravo; 1 of 1, 5 in all",
			"?order=newest":                      "=Bravo, Echo, Zulu, alpha, Delta; 1 of 1, 5 in all",
			"?order=name":                        "=Bravo, alpha, Delta, Echo, Zulu; 1 of 1, 5 in all",
			"?order=-name&per_page=2&page=2":     "Delta, alpha; 2 of 3, 5 in all",
			"?order=status":                      "alpha, Echo, =Bravo, Zulu, Delta; 1 of 1, 5 in all",
			"?order=-status&per_page=1":          "Delta; 1 of 5, 5 in all",
			"?order=-traffic&per_page=2":         "Delta, alpha; 1 of 3, 5 in all",
			"?order=traffic&per_page=3":          "=Bravo, Echo, Zulu; 1 of 2, 5 in all",
			"?order=-uptime&per_page=2":          "alpha, Delta; 1 of 3, 5 in all",
			"?order=uptime&per_page=2&page=3":    "alpha; 3 of 3, 5 in all",
			"?order=seen&status=offline":         "Echo, alpha; 1 of 1, 2 in all",
			"?order=-seen":                       "Delta, alpha, =Bravo, Echo, Zulu; 1 of 1, 5 in all",
			"?status=online":                     "Delta; 1 of 1, 1 in all",
			"?status=pending":                    "Zulu, =Bravo; 1 of 1, 2 in all",
			"?type=business":                     "Zulu; 1 of 1, 1 in all",
			"?type=business&status=online":       "; 1 of 0, 0 in all",
			"?q=E&order=name":                    "Delta, Echo; 1 of 1, 2 in all",
			"?q=l&status=pending&order=-name":    "Zulu; 1 of 1, 1 in all",
			"?status=pending&per_page=1&page=2":  "=Bravo; 2 of 2, 2 in all",
			"?order=name&per_page=100&page=1000": "; 1000 of 1, 5 in all",
		} {
			if got := names(t, c.get(t, "/v1/users/me/hotspots"+query)); got != want {
				t.Errorf("%s:\n got %s\nwant %s", query, got, want)
			}
		}
		for query, fields := range map[string][]string{
			"?order=up": {"order"}, "?order=--name": {"order"}, "?order=": {"order"}, "?order=name&order=name": {"order"}, "?status=on": {"status"}, "?type=cafe": {"type"}, "?sort=name": {"sort"},
			"?order=name&cursor=bm9uc2Vuc2U": {"cursor"}, "?order=x&status=x": {"status", "order"},
		} {
			wantFault(t, c.get(t, "/v1/users/me/hotspots"+query), http.StatusBadRequest, "invalid_request", fields...)
		}
		// A cursor goes on in the order of registration, with the same filter; another order has none.
		after := func(query string) *string {
			var page struct{ Pagination onward }
			if err := json.Unmarshal(c.get(t, "/v1/users/me/hotspots"+query).want(t, http.StatusOK).body, &page); err != nil {
				t.Fatal(err)
			}
			return page.Pagination.Next
		}
		if next := after("?status=pending&per_page=1"); next == nil || names(t, c.get(t, "/v1/users/me/hotspots?status=pending&per_page=1&cursor="+*next)) != "=Bravo; 2 of 2, 2 in all" {
			t.Errorf("the page after the first of pending ones begins at %v", next)
		} else {
			wantFault(t, c.get(t, "/v1/users/me/hotspots?order=name&cursor="+*next), http.StatusBadRequest, "invalid_request", "cursor")
		}
		if next := after("?order=name&per_page=1"); next != nil {
			t.Errorf("by name there is the cursor %s", *next)
		}

		table := c.get(t, "/v1/users/me/hotspots?order=-name&status=all&per_page=1", "Accept", "text/csv").want(t, http.StatusOK)
		if kind, file := table.Header.Get("Content-Type"), table.Header.Get("Content-Disposition"); !strings.HasPrefix(kind, "text/csv") || !strings.Contains(file, "hotspots.csv") {
			t.Errorf("a table is %s, %s", kind, file)
		}
		rows, err := csv.NewReader(strings.NewReader(string(table.body))).ReadAll()
		if err != nil || len(rows) != 6 {
			t.Fatalf("%d rows, %v; want a header and five", len(rows), err)
		}
		var cells []string
		for _, row := range rows {
			cells = append(cells, row[1]+" "+row[3]+" "+row[11])
		}
		wantEqual(t, "names, states and traffic", cells, []string{"name status traffic_24h_gb", "Zulu pending 0", "Echo offline 0", "Delta online 0.009", "alpha offline 0.005", "'=Bravo pending 0"})
		if got := fmt.Sprint(rows[3][12] != "", rows[2][12], rows[3][7:9]); got != fmt.Sprint(true, "", []string{"true", "true"}) {
			t.Errorf("seen, never seen, verified and linked are %s", got)
		}
		wantFault(t, other.get(t, "/v1/users/"+string(c.user)+"/hotspots", "Accept", "text/csv"), http.StatusForbidden, "forbidden")
		if empty := s.anyone(t).get(t, "/v1/users/me/hotspots", "Accept", "text/csv").want(t, http.StatusOK); strings.Count(string(empty.body), "\r\n") != 1 {
			t.Errorf("of nobody's hotspots the table is %q", empty.body)
		}
	})
}
