package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// onward is where a page is, and what the next begins after.
type onward struct {
	Page int
	Next *string
}

// walk reads a list by cursor, and calls between after each page. It returns what name
// returns of each item.
func (c client) walk(t testing.TB, path, name string, between func(page int)) (names []string) {
	t.Helper()
	for n := 1; n < 50; n++ {
		a := c.get(t, path).want(t, http.StatusOK)
		var page struct {
			Data       []map[string]any
			Pagination onward
		}
		if err := json.Unmarshal(a.body, &page); err != nil {
			t.Fatal(err)
		}
		if page.Pagination.Page != n {
			t.Errorf("%s: page %d; want %d", a, page.Pagination.Page, n)
		}
		for _, item := range page.Data {
			names = append(names, fmt.Sprint(item[name]))
		}
		if page.Pagination.Next == nil {
			return names
		}
		between(n)
		base, _, _ := strings.Cut(path, "&cursor=")
		path = base + "&cursor=" + url.QueryEscape(*page.Pagination.Next)
	}
	t.Fatalf("%s does not end", path)
	return nil
}

// Decision D109: what was there at the start and stays is read once, whatever is added or
// removed meanwhile.
func TestCursor(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "hotspots:verify", "keys:manage")
		var hotspots []string
		for i := range 9 {
			s.advance(time.Second)
			hotspots = append(hotspots, c.register(t, i).ID)
		}
		for _, path := range []string{"/v1/users/me/hotspots?per_page=2", "/v1/users/me/hotspots?per_page=2&q=hotspot", "/v1/hotspots?per_page=2", "/v1/hotspots?per_page=2&status=pending", "/v1/hotspots?per_page=2&q=hotspot&order=oldest"} {
			if got := c.walk(t, path, "id", func(int) {}); !slices.Equal(got, hotspots) {
				t.Errorf("%s: %v; want %v", path, got, hotspots)
			}
		}
		if got := c.walk(t, "/v1/hotspots?per_page=2&order=newest", "id", func(int) {}); !slices.Equal(got, reversed(hotspots)) {
			t.Errorf("newest first: %v; want %v", got, reversed(hotspots))
		}
		// The first page and what the cursor names are deleted; more are registered.
		n := 100
		got := c.walk(t, "/v1/users/me/hotspots?per_page=3", "id", func(page int) {
			if page == 1 {
				c.delete(t, "/v1/hotspots/"+hotspots[0]).want(t, http.StatusNoContent)
				c.delete(t, "/v1/hotspots/"+hotspots[2]).want(t, http.StatusNoContent)
			}
			if n++; n < 103 {
				s.advance(time.Second)
				hotspots = append(hotspots, c.register(t, n).ID)
			}
		})
		if !slices.Equal(got, hotspots) {
			t.Errorf("%v; want %v", got, hotspots)
		}
		got = c.walk(t, "/v1/hotspots?per_page=2&order=newest", "id", func(page int) {
			if n++; page == 1 {
				s.advance(time.Second)
				c.register(t, n)
			}
		})
		if want := reversed(slices.Concat(hotspots[1:2], hotspots[3:])); !slices.Equal(got, want) {
			t.Errorf("newest first: %v; want %v", got, want)
		}

		var keys []string
		for range 6 {
			made, _ := c.create(t, `{"scopes":[]}`) // some in the same moment
			keys = append(keys, string(made.key))
		}
		got = c.walk(t, "/v1/keys?per_page=2", "id", func(int) {
			s.advance(time.Second)
			c.create(t, `{"scopes":[]}`)
		})
		slices.Sort(keys)
		if want := append(reversed(keys), string(c.key)); !slices.Equal(sorted(got), sorted(want)) || len(got) != 7 {
			t.Errorf("keys %v; want %v", got, want)
		}
	})
}

func reversed(list []string) []string {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func TestCursor_Months(t *testing.T) {
	s := onSQLite(t, options{limits: ample, rewards: books{rows: 1}})
	c := s.anyone(t, "rewards:read")
	if got := c.walk(t, "/v1/users/me/rewards/history?per_page=1", "period", func(int) {}); len(got) == 0 {
		t.Errorf("months %v", got)
	}
}

func TestCursor_Refused(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t, "hotspots:write", "keys:manage", "hotspots:verify")
	for i := range 3 {
		c.register(t, i)
	}
	var first struct{ Pagination onward }
	a := c.get(t, "/v1/users/me/hotspots?per_page=2").want(t, http.StatusOK)
	if err := json.Unmarshal(a.body, &first); err != nil || first.Pagination.Next == nil {
		t.Fatalf("%s: %v", a, err)
	}
	cursor := *first.Pagination.Next
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	wantFault(t, c.get(t, "/v1/users/me/hotspots?page=2&cursor="+cursor), http.StatusBadRequest, "invalid_request", "page")
	for _, path := range []string{
		"/v1/hotspots?cursor=" + cursor, "/v1/keys?cursor=" + cursor, // of another list
		"/v1/users/me/hotspots?cursor=" + cursor + "x", "/v1/users/me/hotspots?cursor=" + cursor[1:], "/v1/users/me/hotspots?cursor=%00", "/v1/users/me/hotspots?cursor=",
		"/v1/users/me/hotspots?cursor=" + encode("o 2 hs_x"), "/v1/users/me/hotspots?cursor=" + encode("o 2 "), "/v1/users/me/hotspots?cursor=" + encode("o -2 hs_01kb3gzk00e9x8q6s5t4v3w2y1"),
		"/v1/users/me/hotspots?cursor=" + encode("o 1 hs_01kb3gzk00e9x8q6s5t4v3w2y1"), "/v1/users/me/hotspots?cursor=" + strings.Repeat("A", 2000),
		"/v1/keys?cursor=" + encode("k 2 x key_01kb3gzk00e9x8q6s5t4v3w2y1"), "/v1/keys?cursor=" + encode("k 2 1 key_'; DROP"), "/v1/keys?cursor=" + encode("k 2 1 usr_1"),
	} {
		wantFault(t, c.get(t, path), http.StatusBadRequest, "invalid_request", "cursor")
	}
	c.get(t, "/v1/users/me/hotspots?cursor="+encode("o 2 hs_01kb3gzk00e9x8q6s5t4v3w2y1")).want(t, http.StatusOK)
}
