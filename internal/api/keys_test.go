package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Decision X5: a key made over the interface opens what it says, is listed, and
// ends when it is revoked.
func TestKeys(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "keys:manage", "hotspots:write")
		s.advance(time.Minute)
		made := data[apiKey](t, c.post(t, "/v1/keys", `{"name":" ci ","scopes":["hotspots:write","hotspots:write"],"expires_at":"2026-11-16T13:00:00+01:00"}`), http.StatusOK)
		expires := "2026-11-16T12:00:00.000Z"
		want := apiKey{
			ID: made.ID, Key: made.Key, UserID: string(c.user), Name: "ci", Scopes: []string{"hotspots:write"},
			CreatedAt: "2026-11-15T12:01:00.000Z", ExpiresAt: &expires,
		}
		wantEqual(t, "the created key", made, want)
		holder := client{server: s, plain: made.Key, key: beacon.KeyID(made.ID), user: c.user}
		want.Key = "" // shown once
		used := want
		used.LastUsedAt = &want.CreatedAt // just now, by asking
		wantEqual(t, "the key itself", data[apiKey](t, holder.get(t, "/v1/keys/self"), http.StatusOK), used)
		holder.register(t, 1)
		wantFault(t, holder.get(t, "/v1/keys"), http.StatusForbidden, "forbidden")

		list := data[[]apiKey](t, c.get(t, "/v1/keys"), http.StatusOK)
		if len(list) != 2 || list[1].ID != string(c.key) {
			t.Fatalf("listed %+v; want the new key before the old one", list)
		}
		wantEqual(t, "the key in the list", list[0], want)

		s.advance(time.Minute)
		if a := c.delete(t, "/v1/keys/"+made.ID).want(t, http.StatusNoContent); len(a.body) != 0 {
			t.Errorf("%s has a body", a)
		}
		wantFault(t, holder.get(t, "/v1/keys/self"), http.StatusUnauthorized, "unauthorized")
		revoked := "2026-11-15T12:02:00.000Z"
		want.RevokedAt = &revoked
		if got := data[[]apiKey](t, c.get(t, "/v1/keys"), http.StatusOK); len(got) != 2 || got[0].RevokedAt == nil || *got[0].RevokedAt != revoked {
			t.Errorf("listed %+v; want it revoked at %s", got, revoked)
		}
		s.advance(time.Minute)
		c.delete(t, "/v1/keys/"+made.ID) // again: it stays revoked since the first time
		if got := data[[]apiKey](t, c.get(t, "/v1/keys"), http.StatusOK); *got[0].RevokedAt != revoked {
			t.Errorf("revoked at %s; want %s", *got[0].RevokedAt, revoked)
		}
	})
}

// A list of keys comes in pages, like every list.
func TestKeys_Pages(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "keys:manage")
		for range 4 {
			s.advance(time.Second)
			c.post(t, "/v1/keys", `{"scopes":[]}`).want(t, http.StatusOK)
		}
		var walked []string
		for page := 1; page <= 4; page++ {
			a := c.get(t, fmt.Sprintf("/v1/keys?per_page=2&page=%d", page))
			for _, k := range data[[]apiKey](t, a, http.StatusOK) {
				walked = append(walked, k.ID)
			}
			wantEqual(t, "the pagination", decode[struct{ Pagination pagination }](t, a).Pagination, pagination{page, 2, 5, 3})
		}
		var whole []string
		for _, k := range data[[]apiKey](t, c.get(t, "/v1/keys"), http.StatusOK) {
			whole = append(whole, k.ID)
		}
		wantEqual(t, "the pages together", walked, whole)
		for _, bad := range []string{"page=0", "per_page=0", "per_page=101", "page=x"} {
			wantFault(t, c.get(t, "/v1/keys?"+bad), http.StatusBadRequest, "invalid_request", strings.Split(bad, "=")[0])
		}
	})
}

// Decision N23: nobody grants what they lack, nor to others; an admin may.
func TestKeys_WhoMayGrantWhat(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, other, admin := s.anyone(t, "keys:manage", "rewards:read"), s.operator(t), s.anyone(t, "admin")
		for _, tc := range []struct {
			by   client
			body string
			want int
		}{
			{c, `{"scopes":[]}`, 200},
			{c, `{"scopes":["rewards:read","keys:manage"]}`, 200},
			{c, `{"scopes":[],"user_id":"` + string(c.user) + `"}`, 200},
			{c, `{"scopes":["hotspots:write"]}`, 403},
			{c, `{"scopes":["rewards:read","admin"]}`, 403},
			{c, `{"scopes":["hotspots:verify"]}`, 403},
			{c, `{"scopes":[],"user_id":"` + string(other.user) + `"}`, 403},
			{c, `{"scopes":[],"user_id":"usr_01kb3gzk00a1b2c3d4e5f6g7h8"}`, 403},
			{c, `{"scopes":[],"user_id":"new"}`, 403},
			{other, `{"scopes":[]}`, 403},
			{s.anyone(t), `{"scopes":[]}`, 403},
			{admin, `{"scopes":["admin","keys:manage","rewards:read","hotspots:verify","hotspots:write"],"user_id":"new"}`, 200},
			{admin, `{"scopes":["hotspots:write"],"user_id":"` + string(other.user) + `"}`, 200},
			{admin, `{"scopes":["hotspots:write"]}`, 200},
		} {
			a := tc.by.post(t, "/v1/keys", tc.body)
			if tc.want == http.StatusForbidden {
				wantFault(t, a, tc.want, "forbidden")
				continue
			}
			got := data[apiKey](t, a, tc.want)
			self := data[apiKey](t, client{server: s, plain: got.Key}.get(t, "/v1/keys/self"), http.StatusOK)
			wantEqual(t, tc.body, self.Scopes, got.Scopes)
			switch {
			case strings.Contains(tc.body, `"new"`):
				if got.UserID == string(admin.user) {
					t.Error("a new user is the old one")
				}
			case strings.Contains(tc.body, string(other.user)):
				wantEqual(t, tc.body, got.UserID, string(other.user))
			default:
				wantEqual(t, tc.body, got.UserID, string(tc.by.user))
			}
		}
		wantEqual(t, "in their usual order", data[apiKey](t, admin.post(t, "/v1/keys", `{"scopes":["admin","hotspots:write"]}`), 200).Scopes, []string{"hotspots:write", "admin"})
	})
}

func TestKeys_Creation_Refused(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "admin")
		for _, tc := range []struct {
			body, code string
			fields     []string
		}{
			{`{}`, "missing_parameter", []string{"scopes"}},
			{`{"scopes":null}`, "invalid_request", []string{"scopes"}},
			{`{"scopes":"admin"}`, "invalid_request", []string{"scopes"}},
			{`{"scopes":{}}`, "invalid_request", []string{"scopes"}},
			{`{"scopes":["nope"]}`, "invalid_request", []string{"scopes"}},
			{`{"scopes":["Admin"]}`, "invalid_request", []string{"scopes"}},
			{`{"scopes":[5,"admin",null]}`, "invalid_request", []string{"scopes[0]", "scopes[2]"}},
			{`{"scopes":[],"name":null,"user_id":null,"expires_at":null}`, "invalid_request", []string{"name", "user_id", "expires_at"}},
			{`{"scopes":[],"name":"` + strings.Repeat("é", 51) + `"}`, "invalid_request", []string{"name"}},
			{`{"scopes":[],"name":"a\u0000b"}`, "invalid_request", []string{"name"}},
			{`{"scopes":[],"user_id":"me"}`, "invalid_request", []string{"user_id"}},
			{`{"scopes":[],"user_id":""}`, "invalid_request", []string{"user_id"}},
			{`{"scopes":[],"user_id":"usr_1"}`, "invalid_request", []string{"user_id"}},
			{`{"scopes":[],"user_id":7}`, "invalid_request", []string{"user_id"}},
			{`{"scopes":[],"expires_at":"2026-11-15T12:00:00Z"}`, "invalid_request", []string{"expires_at"}},
			{`{"scopes":[],"expires_at":"2026-11-15"}`, "invalid_request", []string{"expires_at"}},
			{`{"scopes":[],"expires_at":1800000000}`, "invalid_request", []string{"expires_at"}},
			{`{"scopes":[],"expires_at":"9999-12-31T23:59:59-01:00"}`, "invalid_request", []string{"expires_at"}},
			{`{"scopes":[],"expires_at":""}`, "invalid_request", []string{"expires_at"}},
			{`{"scopes":[],"id":"key_1","key":"x","created_at":1,"secret":1}`, "invalid_request", []string{"id", "key", "created_at", "secret"}},
			{`{"expires_at":"x","name":5}`, "invalid_request", []string{"scopes", "expires_at", "name"}},
		} {
			wantFault(t, c.post(t, "/v1/keys", tc.body), http.StatusBadRequest, tc.code, tc.fields...)
		}
		for _, good := range []string{
			`{"scopes":[],"expires_at":"2026-11-15T12:00:00.001Z"}`, `{"scopes":[],"expires_at":"9999-12-31T23:59:59Z"}`, `{"scopes":[],"name":""}`,
			`{"scopes":[],"name":"` + strings.Repeat("é", 50) + `"}`,
		} {
			c.post(t, "/v1/keys", good).want(t, http.StatusOK)
		}
	})
}

// Whose keys one sees, and which one may end.
func TestKeys_OfOthers(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, other, admin := s.anyone(t, "keys:manage"), s.anyone(t, "keys:manage"), s.anyone(t, "admin")
		ids := func(a answer) []string {
			list := []string{}
			for _, k := range data[[]apiKey](t, a, http.StatusOK) {
				list = append(list, k.ID)
			}
			slices.Sort(list)
			return list
		}
		wantEqual(t, "one's own", ids(c.get(t, "/v1/keys")), []string{string(c.key)})
		wantEqual(t, "one's own by id", ids(c.get(t, "/v1/keys?user_id="+string(c.user))), []string{string(c.key)})
		wantEqual(t, "a user's, to an admin", ids(admin.get(t, "/v1/keys?user_id="+string(other.user))), []string{string(other.key)})
		all := []string{string(c.key), string(other.key), string(admin.key)}
		slices.Sort(all)
		wantEqual(t, "everyone's, to an admin", ids(admin.get(t, "/v1/keys")), all)
		wantEqual(t, "nobody's", ids(admin.get(t, "/v1/keys?user_id=usr_01kb3gzk00a1b2c3d4e5f6g7h8")), []string{})
		refusals := map[string]bool{}
		for _, user := range []string{string(other.user), "usr_01kb3gzk00a1b2c3d4e5f6g7h8"} {
			a := c.get(t, "/v1/keys?user_id="+user)
			wantFault(t, a, http.StatusForbidden, "forbidden")
			refusals[anyID.ReplaceAllString(string(a.body), "")] = true
		}
		for _, query := range []string{"user_id=", "user_id=me", "user_id=%00", "user_id=usr_1&user_id=usr_1"} {
			wantFault(t, admin.get(t, "/v1/keys?"+query), http.StatusBadRequest, "invalid_request", "user_id")
		}
		unknown := map[string]bool{}
		for _, key := range []string{string(other.key), "key_01kb3gzk00d1e2f3g4h5j6k7m8", "Self", "key_", "%00", "x", string(c.user), strings.ToUpper(string(c.key))} {
			a := c.delete(t, "/v1/keys/"+key)
			wantFault(t, a, http.StatusNotFound, "not_found")
			unknown[anyID.ReplaceAllString(string(a.body), "")] = true
		}
		if len(refusals) != 1 || len(unknown) != 1 {
			t.Errorf("those that exist are told apart: %v %v", refusals, unknown)
		}
		other.get(t, "/v1/keys/self").want(t, http.StatusOK)
		admin.delete(t, "/v1/keys/"+string(other.key)).want(t, http.StatusNoContent)
		wantFault(t, other.get(t, "/v1/keys/self"), http.StatusUnauthorized, "unauthorized")
		c.delete(t, "/v1/keys/"+string(c.key)).want(t, http.StatusNoContent) // one's own, too
		wantFault(t, c.get(t, "/v1/keys/self"), http.StatusUnauthorized, "unauthorized")
	})
}

// Decision N3: whatever is wrong with a key, the answer is the same.
func TestUnauthorized(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "admin")
		revoked := s.anyone(t)
		c.delete(t, "/v1/keys/"+string(revoked.key)).want(t, http.StatusNoContent)
		expired := s.keyOf(t, access.NewUser, access.Creation{Scopes: beacon.Some([]string{}), ExpiresAt: beacon.Some(noon.Add(time.Hour))})
		s.advance(time.Hour - time.Millisecond)
		expired.get(t, "/v1/keys/self").want(t, http.StatusOK)
		s.advance(time.Millisecond) // at its very moment it is over
		_, unknown := access.Mint(noon, beacon.Key{})
		_, another := access.Mint(noon, beacon.Key{})
		forged := c.plain[:31] + another[31:] // a known id with another's secret
		flipped := strings.ToUpper(c.plain[:10]) + c.plain[10:]
		type header = []string
		auth := func(value string) header { return header{"Authorization", value} }
		bodies := map[string]string{}
		for name, h := range map[string]header{
			"none": nil, "empty": auth(""), "no scheme": auth(c.plain), "no key": auth("Bearer"), "no key after a space": auth("Bearer "),
			"basic": auth("Basic " + c.plain), "unknown": auth("Bearer " + unknown), "revoked": auth("Bearer " + revoked.plain),
			"expired": auth("Bearer " + expired.plain), "forged": auth("Bearer " + forged), "in upper case": auth("Bearer " + flipped),
			"short": auth("Bearer " + c.plain[:66]), "long": auth("Bearer " + c.plain + "0"), "bad checksum": auth("Bearer " + c.plain[:66] + "!"),
			"very long": auth("Bearer " + strings.Repeat("x", 8000)), "of the preview": auth("Bearer svc_test_abcdef"), "in another header": {"x-api-key", c.plain},
			"two": {"Authorization", "Bearer " + c.plain, "Authorization", "Bearer " + c.plain}, "with a tail": auth("Bearer " + c.plain + " x"),
			"with a comma": auth("Bearer " + c.plain + ", Bearer " + c.plain), "with a tab": auth("Bearer\t" + c.plain), "as a cookie": {"Cookie", "Authorization=" + c.plain},
		} {
			a := s.call(t, "GET", "/v1/keys/self?access_token="+c.plain+"&api_key="+c.plain, "", h...)
			wantFault(t, a, http.StatusUnauthorized, "unauthorized")
			bodies[fmt.Sprint(anyID.ReplaceAllString(string(a.body), ""), a.Header.Values("WWW-Authenticate"))] = name
			if a.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: WWW-Authenticate %q", name, a.Header.Get("WWW-Authenticate"))
			}
		}
		if len(bodies) != 1 {
			t.Errorf("wrong keys are told apart: %v", bodies)
		}
		for _, good := range []string{"Bearer " + c.plain, "bearer " + c.plain, "BEARER   " + c.plain, " Bearer " + c.plain + " "} {
			s.call(t, "GET", "/v1/keys/self", "", "Authorization", good).want(t, http.StatusOK)
		}
	})
}
