package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// outcome is what became of a hotspot of a batch.
type outcome struct {
	Status int             `json:"status"`
	ID     string          `json:"id"`
	Error  json.RawMessage `json:"error"`
}

func batch(registrations ...string) string {
	return `{"hotspots":[` + strings.Join(registrations, ",") + `]}`
}

// statuses registers a batch and returns the status of each.
func (c client) statuses(t testing.TB, body string, header ...string) (all []int) {
	t.Helper()
	for _, o := range data[[]outcome](t, c.post(t, "/v1/hotspots/batch", body, header...), http.StatusOK) {
		all = append(all, o.Status)
	}
	return all
}

// Each hotspot of a batch is registered or refused as if it were sent on its own, after those
// before it: valid and not, with addresses that are taken, and up to the quota.
func TestBatch_AsSingles(t *testing.T) {
	level.Repeats(t)
	t.Parallel()
	for name, open := range stores {
		if name == "postgres" && level.Now() == level.Test {
			continue
		}
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(level.Seed(t), 38))
			one, many := start(t, open(t), alive), start(t, open(t), alive)
			a, b := one.operator(t), many.operator(t)
			for _, s := range []*server{one, many} {
				other := s.operator(t)
				other.register(t, 0)
				other.delete(t, other.serves(t, 1)).want(t, http.StatusNoContent) // its address is reserved
			}
			rows := registrationRows()
			seen := map[int]int{}
			for range 8 {
				var all []string
				for range 1 + random.IntN(40) {
					body := registration(random.IntN(120))
					if random.IntN(3) == 0 {
						wrong := rows[random.IntN(len(rows))]
						body = registration(random.IntN(120), wrong.field, wrong.value)
					}
					all = append(all, body)
				}
				got := data[[]outcome](t, b.post(t, "/v1/hotspots/batch", batch(all...)), http.StatusOK)
				for i, body := range all {
					single := a.post(t, "/v1/hotspots", body)
					seen[single.StatusCode]++
					var want struct{ Error json.RawMessage }
					_ = json.Unmarshal(single.body, &want)
					if got[i].Status != single.StatusCode || string(got[i].Error) != string(want.Error) || (got[i].ID != "") != (single.StatusCode == http.StatusCreated) {
						t.Fatalf("%s: in a batch it is %+v; single it is %s", body, got[i], single)
					}
				}
			}
			for _, status := range []int{http.StatusCreated, http.StatusBadRequest, http.StatusForbidden, http.StatusConflict} {
				if seen[status] == 0 {
					t.Errorf("no registration was answered with %d: %v", status, seen)
				}
			}
			made := func(c client) (all []hotspot) { // the clock stands, so singles have no order
				all = data[[]hotspot](t, c.get(t, "/v1/users/me/hotspots?per_page=100"), http.StatusOK)
				for i := range all {
					all[i].ID, all[i].OperatorID = "", ""
				}
				slices.SortFunc(all, func(a, b hotspot) int { return cmp.Compare(a.Device.MAC, b.Device.MAC) })
				return all
			}
			if singles, batches := made(a), made(b); !reflect.DeepEqual(singles, batches) || len(singles) != 50 {
				t.Errorf("%d singles and %d of batches differ", len(singles), len(batches))
			}
			if changes := many.changes(t, beacon.HotspotRegistered); len(changes) != 52 {
				t.Errorf("%d are in the audit", len(changes))
			}
		})
	}
}

// A batch that is sent again does nothing, and says what it said at first; one that
// registered nothing is tried again.
func TestBatch_Once(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, other := s.operator(t), s.operator(t)
		taken := other.register(t, 7)
		body := batch(registration(1), registration(7), registration(2, "type", `"shop"`), registration(3))
		first := c.post(t, "/v1/hotspots/batch", body, "Idempotency-Key", "one")
		if first.Header.Get("Idempotency-Replayed") != "" {
			t.Error("the first is replayed")
		}
		other.delete(t, "/v1/hotspots/"+taken.ID).want(t, http.StatusNoContent)
		again := c.post(t, "/v1/hotspots/batch", " "+body, "Idempotency-Key", "one")
		sameAnswer(t, again, first)
		if got := c.statuses(t, body, "Idempotency-Key", "one"); !slices.Equal(got, []int{201, 409, 400, 201}) {
			t.Errorf("it is answered with %v", got)
		}
		wantFault(t, c.post(t, "/v1/hotspots/batch", batch(registration(1)), "Idempotency-Key", "one"), http.StatusConflict, "conflict")
		wantFault(t, c.post(t, "/v1/hotspots", registration(1), "Idempotency-Key", "one"), http.StatusConflict, "conflict")

		refused := batch(registration(1), registration(8, "name", `"x"`))
		if got := c.statuses(t, refused, "Idempotency-Key", "two"); !slices.Equal(got, []int{409, 400}) {
			t.Errorf("a batch of which all are refused is answered with %v", got)
		}
		for _, h := range data[[]hotspot](t, c.get(t, "/v1/users/me/hotspots"), http.StatusOK) {
			c.delete(t, "/v1/hotspots/"+h.ID).want(t, http.StatusNoContent)
		}
		if got := c.statuses(t, refused, "Idempotency-Key", "two"); !slices.Equal(got, []int{201, 400}) {
			t.Errorf("once it can be registered it is answered with %v", got)
		}
	})
}

// What is no batch is refused as a whole, and registers nothing; hotspots of a batch are
// listed in its order.
func TestBatch_Whole(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:write", "hotspots:verify")
		for _, body := range []string{`{"hotspots":null}`, `{"hotspots":{}}`, `{"hotspots":[]}`, batch(slices.Repeat([]string{registration(1)}, 201)...)} {
			wantFault(t, c.post(t, "/v1/hotspots/batch", body), http.StatusBadRequest, "invalid_request", "hotspots")
		}
		wantFault(t, c.post(t, "/v1/hotspots/batch", `{}`), http.StatusBadRequest, "missing_parameter", "hotspots")
		wantFault(t, c.post(t, "/v1/hotspots/batch", `{"hotspots":[`+registration(1)+`],"more":1}`), http.StatusBadRequest, "invalid_request", "more")
		wantFault(t, c.post(t, "/v1/hotspots/batch", `{"hotspots":[`+registration(1)+`,{"name":"One","name":"Two"}]}`), http.StatusBadRequest, "invalid_request", "hotspots[1].name")
		wantFault(t, s.anyone(t).post(t, "/v1/hotspots/batch", batch(registration(1))), http.StatusForbidden, "forbidden")
		long := registration(1, "location.address", quoted(strings.Repeat("x", 65_000)))
		wantFault(t, c.post(t, "/v1/hotspots/batch", batch(slices.Repeat([]string{long}, 9)...)), http.StatusRequestEntityTooLarge, "payload_too_large")
		longer := registration(1, "location.address", quoted(strings.Repeat("x", 66_000)))
		if got := c.statuses(t, batch("7", "null", "[]", longer, long)); !slices.Equal(got, []int{400, 400, 400, 413, 400}) {
			t.Errorf("what is no hotspot is answered with %v", got)
		}

		var all, names []string
		for n := range 200 {
			all, names = append(all, registration(n)), append(names, fmt.Sprintf("Hotspot %d", n))
		}
		random := rand.New(rand.NewPCG(level.Seed(t), 38))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j], names[i], names[j] = all[j], all[i], names[j], names[i] })
		if got := staff.statuses(t, batch(all...)); !slices.Equal(got, slices.Repeat([]int{201}, 200)) {
			t.Errorf("200 at once are answered with %v", got)
		}
		var listed []string
		for page := 1; page <= 2; page++ {
			for _, h := range data[[]hotspot](t, staff.get(t, at("/v1/users/me/hotspots?per_page=100&page=%d", page)), http.StatusOK) {
				listed = append(listed, h.Name)
			}
		}
		if !slices.Equal(listed, names) {
			t.Errorf("they are listed as %v…; want %v…", listed[:5], names[:5])
		}
	})
}

// A batch counts as its hotspots, and one of staff as a request for every twenty.
func TestBatch_Limit(t *testing.T) {
	s := onSQLite(t, options{limits: edge.Limits{PerKey: ratelimit.Limit{Every: time.Hour, Burst: 30}}})
	for _, test := range []struct {
		scopes []string
		left   string
	}{
		{[]string{"hotspots:write"}, "9"},
		{[]string{"hotspots:write", "hotspots:verify"}, "28"},
	} {
		c := s.anyone(t, test.scopes...)
		a := c.post(t, "/v1/hotspots/batch", batch(slices.Repeat([]string{"0"}, 21)...)).want(t, http.StatusOK)
		if left := a.Header.Get("RateLimit-Remaining"); left != test.left {
			t.Errorf("21 with the scopes %v leave %s requests; want %s", test.scopes, left, test.left)
		}
	}
	c := s.operator(t)
	refused := batch(slices.Repeat([]string{"0"}, 25)...)
	c.post(t, "/v1/hotspots/batch", refused).want(t, http.StatusOK)
	wantFault(t, c.post(t, "/v1/hotspots/batch", refused), http.StatusTooManyRequests, "rate_limit_exceeded")
}
