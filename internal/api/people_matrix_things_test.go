package api_test

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// fresh makes a thing of one of the accounts, and returns its id.
func (m *matrix) fresh(t *testing.T, kind string, account int) string {
	t.Helper()
	owner := m.owners[account]
	type named struct{ ID string }
	switch kind {
	case "hotspot", "device", "deleted", "flagged", "reserved":
		m.made++
		h := data[hotspot](t, owner.send(t, "POST", "/v1/hotspots", registration(m.made)), http.StatusCreated).ID
		if account == 0 {
			m.ada.send(t, "PATCH", "/v1/users/"+owner.account+"/members/"+m.helper.me.ID, `{"hotspots":["`+h+`"]}`).want(t, http.StatusOK)
		}
		m.furnish(t, kind, owner, h)
		if kind == "reserved" {
			return mac(m.made)
		}
		return h
	case "hold":
		a := m.ada.send(t, "POST", "/v1/holds", m.body("POST /v1/holds", map[string]string{"hotspot": m.fresh(t, "hotspot", account)}))
		return data[named](t, a, http.StatusCreated).ID
	case "key":
		return data[named](t, owner.send(t, "POST", "/v1/keys", `{"scopes":[]}`), http.StatusOK).ID
	case "member":
		return owner.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "member").me.ID
	case "invitation":
		return data[named](t, owner.send(t, "POST", "/v1/users/me/invitations", `{"role":"viewer"}`), http.StatusOK).ID
	case "person":
		return m.ada.invited(t, "/v1/invitations", `{"posts":["auditor"]}`, "person").me.ID
	case "staff invitation":
		return data[named](t, m.ada.send(t, "POST", "/v1/invitations", `{"posts":["auditor"]}`), http.StatusOK).ID
	}
	t.Fatalf("there is nothing called %s", kind)
	return ""
}

// furnish brings a new hotspot to where a test of its kind begins.
func (m *matrix) furnish(t *testing.T, kind string, owner guest, h string) {
	t.Helper()
	at := "/v1/hotspots/" + h
	if kind == "device" || kind == "reserved" {
		code := data[linkCode](t, owner.send(t, "POST", at+"/link-code", ""), http.StatusOK).Code
		m.tryLink(t, code, mac(m.made)).want(t, http.StatusOK)
	}
	switch kind {
	case "reserved":
		m.ada.send(t, "POST", at+"/verification", m.body("POST /v1/hotspots/{id}/verification", nil)).want(t, http.StatusOK)
		owner.send(t, "DELETE", at, "").want(t, http.StatusNoContent)
	case "deleted":
		owner.send(t, "DELETE", at, "").want(t, http.StatusNoContent)
	case "flagged":
		m.flag(t, beacon.Flag{Hotspot: beacon.HotspotID(h), Operator: beacon.UserID(owner.account), Kind: beacon.TooRegular, Weight: 1})
	}
}

// uses says which thing a route uses up, or changes.
func uses(route string) string {
	_, path, _ := strings.Cut(route, " ")
	switch {
	case strings.HasSuffix(path, "/device"):
		return "device"
	case strings.HasSuffix(path, "/restoration"):
		return "deleted"
	case strings.HasPrefix(path, "/v1/review/"):
		return "flagged"
	case strings.HasPrefix(path, "/v1/holds/"):
		return "hold"
	case strings.HasPrefix(path, "/v1/hotspots/{id}"), path == "/v1/holds":
		return "hotspot"
	case path == "/v1/keys/{id}":
		return "key"
	case strings.Contains(path, "{person}"):
		return "member"
	case path == "/v1/invitations/{invitation}":
		return "staff invitation"
	case strings.Contains(path, "{invitation}"):
		return "invitation"
	case strings.HasPrefix(path, "/v1/people/{id}"):
		return "person"
	case path == "/v1/macs/releases":
		return "reserved"
	}
	return ""
}

// body returns what a route needs to do something.
func (m *matrix) body(route string, things map[string]string) string {
	switch route {
	case "POST /v1/hotspots":
		m.made++
		return registration(m.made)
	case "POST /v1/hotspots/batch":
		m.made++
		return batch(registration(m.made))
	case "POST /v1/holds":
		return at(`{"hotspot_id":%q,"reason":"r","evidence":"e","until":"2026-11-30T00:00:00Z"}`, things["hotspot"])
	case "POST /v1/macs/releases":
		return at(`{"mac_address":%q,"reason":"sold"}`, things["reserved"])
	case "POST /v1/keys":
		return at(`{"scopes":[],"user_id":%q}`, things["account"])
	case "PATCH /v1/users/{id}", "PATCH /v1/people/me":
		m.made++
		return at(`{"name":"Number %d"}`, m.made)
	}
	return map[string]string{
		"PATCH /v1/hotspots/{id}":                    `{"name":"Another"}`,
		"POST /v1/hotspots/{id}/offer":               `{}`,
		"POST /v1/hotspots/{id}/verification":        `{"lat":40.7,"lng":-74,"accuracy_m":5,"method":"gps"}`,
		"POST /v1/hotspots/{id}/checkins":            `{"install":"0123456789abcdef0123","works":true}`,
		"POST /v1/coverage/simulate":                 `{"bounds":{"north":41,"south":40,"east":-73,"west":-75},"add":[{"lat":40.5,"lng":-74,"radius_m":50}]}`,
		"POST /v1/rewards/estimate":                  `{"places":[{"lat":40.5,"lng":-74}]}`,
		"POST /v1/rewards/replays":                   `{"from":"2026-11-01","to":"2026-11-01"}`,
		"POST /v1/rewards/months/{month}/settlement": `{"early":true}`,
		"POST /v1/rewards/clock":                     `{"today":"2026-11-15"}`,
		"POST /v1/rewards/reopenings":                `{"from":"2026-11-15","confirm":true}`,
		"POST /v1/rewards/policies":                  `{"from":"2027-01-01","confirm":true}`,
		"POST /v1/holds/{id}/decisions":              `{"action":"release","reason":"found"}`,
		"POST /v1/holds/{id}/answer":                 `{"text":"it is on the roof"}`,
		"PUT /v1/users/{id}/quota":                   `{"hotspots":5000,"keys":5000}`,
		"PATCH /v1/settings":                         `{"home_privacy":"blur"}`,
		"PATCH /v1/users/{id}/members/{person}":      `{"role":"installer"}`,
		"POST /v1/users/{id}/invitations":            `{"role":"viewer"}`,
		"PATCH /v1/people/{id}":                      `{"suspended":true}`,
		"POST /v1/invitations":                       `{"posts":["auditor"]}`,
		"POST /v1/people/me/codes/confirmation":      `{"code":"0123-4567-89AB-CDEF"}`,
	}[route]
}

// queries are what the path of a route needs.
var queries = map[string]string{
	"GET /v1/hotspots/nearby":               "?lat=40.7&lng=-74",
	"GET /v1/coverage":                      "?north=41&south=40&east=-73&west=-75",
	"GET /v1/events":                        "?after=x",
	"DELETE /v1/review/{id}/{kind}":         "?reason=seen",
	"DELETE /v1/hotspots/{id}":              "?reason=x",
	"GET /v1/hotspots/{id}/rewards/explain": "?date=2026-11-14",
}

// path returns the path of a request about some things.
func path(route string, things map[string]string) string {
	_, path, _ := strings.Cut(route, " ")
	id := things[uses(route)]
	if about(route) == ofSelf {
		id = "ses_01kb3gzk00e9x8q6s5t4v3w2y1" // nobody's
	}
	if strings.HasPrefix(path, "/v1/users/{id}") {
		id = things["account"]
	}
	path = strings.NewReplacer("{id}", id, "{person}", things["member"], "{invitation}", things[uses(route)], "{month}", "2026-10", "{kind}", "too_regular",
		"{z}", "14", "{x}", "4823", "{tile}", "6160.mvt").Replace(path)
	query := queries[route]
	if route == "GET /v1/keys" {
		query = "?user_id=" + things["account"]
	}
	return path + query
}

// rowsOf returns a sum of the rows of each table of a database.
func rowsOf(t *testing.T, address string) map[string]string {
	t.Helper()
	list := `SELECT name FROM sqlite_master WHERE type = 'table'`
	if strings.Contains(address, "://") {
		list = `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
	}
	sums := map[string]string{}
	for _, table := range texts(t, address, list) {
		rows := texts(t, address, `SELECT * FROM `+table)
		sort.Strings(rows)
		sums[table] = fmt.Sprintf("%d rows, %x", len(rows), sha256.Sum256([]byte(strings.Join(rows, "\n"))))[:24]
	}
	if len(sums) < 20 {
		t.Fatalf("there are only the tables %v", sums)
	}
	return sums
}

// texts returns the rows of a query, each as a text.
func texts(t *testing.T, address, query string) (all []string) {
	t.Helper()
	driver, name := "sqlite", "file:"+address
	if strings.Contains(address, "://") {
		driver, name = "pgx", address
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		words := make([]string, len(values))
		for i, v := range values {
			words[i] = fmt.Sprint(*v.(*any))
		}
		all = append(all, strings.Join(words, ","))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
