package api_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"testing"
)

type auditPage struct {
	Changes []struct {
		At, Kind, Target, Note string
		Version                int64
		KeyID                  string `json:"key_id"`
		UserID                 string `json:"user_id"`
		RequestID              string `json:"request_id"`
	}
	Next *string
}

// Admins read who changed what, newest first, page by page and by filter.
func TestAudit_Read(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		admin, c, staff := s.anyone(t, "admin"), s.operator(t), s.anyone(t, "hotspots:verify")
		hotspot := c.register(t, 1).ID
		renamed := c.patch(t, "/v1/hotspots/"+hotspot, `{"name":"Another"}`)
		staff.delete(t, "/v1/hotspots/"+hotspot+"/verification?reason=nothing+there").want(t, http.StatusNoContent)
		c.register(t, 2)

		read := func(query string) auditPage {
			t.Helper()
			return data[auditPage](t, admin.get(t, "/v1/audit?"+query), http.StatusOK)
		}
		kinds := func(query string) (all []string) {
			t.Helper()
			for _, row := range read(query).Changes {
				all = append(all, row.Kind)
			}
			return all
		}
		wantEqual(t, "the newest", kinds("limit=4"), []string{"hotspot.registered", "hotspot.unverified", "hotspot.updated", "hotspot.registered"})
		wantEqual(t, "of a hotspot", kinds("target="+hotspot), []string{"hotspot.unverified", "hotspot.updated", "hotspot.registered"})
		wantEqual(t, "of a user", kinds("user_id="+string(staff.user)), []string{"hotspot.unverified"})
		wantEqual(t, "of a kind", kinds("kind=hotspot.updated"), []string{"hotspot.updated"})
		wantEqual(t, "of a family", len(kinds("kind=key.")), 3)
		wantEqual(t, "of a part of a kind", len(kinds("kind=hotspot.up")), 0)
		row := read("kind=hotspot.updated").Changes[0]
		if row.Target != hotspot || row.UserID != string(c.user) || row.RequestID != renamed.Header.Get("X-Request-Id") || row.Version != 2 || row.KeyID == "" {
			t.Errorf("the row is %+v", row)
		}
		if row := read("kind=hotspot.unverified").Changes[0]; row.Note != "nothing there" {
			t.Errorf("the row is %+v", row)
		}

		// Page by page it is the whole.
		var pages []string
		for query := "limit=2"; ; {
			page := read(query)
			for _, row := range page.Changes {
				pages = append(pages, row.Kind)
			}
			if page.Next == nil {
				break
			}
			query = "limit=2&cursor=" + url.QueryEscape(*page.Next)
		}
		var all []string
		for _, change := range s.changes(t) {
			all = append(all, string(change.Kind))
		}
		slices.Reverse(all)
		wantEqual(t, "page by page", pages, all)

		for query, field := range map[string]string{"limit=0": "limit", "limit=101": "limit", "kind=": "kind", "target=": "target", "user_id=": "user_id", "cursor=x": "cursor"} {
			wantFault(t, admin.get(t, "/v1/audit?"+query), http.StatusBadRequest, "invalid_request", field)
		}
		for _, plain := range []string{"a 1 2", "a 0 1 n", "a x 1 n", "a 1 x n", "b 1 1 n"} {
			cursor := base64.RawURLEncoding.EncodeToString([]byte(plain))
			wantFault(t, admin.get(t, "/v1/audit?cursor="+cursor), http.StatusBadRequest, "invalid_request", "cursor")
		}
		for _, other := range []client{c, staff} {
			wantFault(t, other.get(t, "/v1/audit"), http.StatusForbidden, "forbidden")
		}
	})
}
