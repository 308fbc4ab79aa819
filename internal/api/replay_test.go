package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/payments"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/test/harness"
)

type replayed struct {
	Earned, Replayed json.Number
}

type replayAnswer struct {
	From, To, Unit string
	Days           []struct {
		Date string
		Rows int
		replayed
	}
	Rows      int
	Different int     `json:"different_rows"`
	First     *string `json:"first_difference"`
	replayed
	Groups []struct {
		Group     string
		Operators int
	}
	Operators []struct {
		UserID   string `json:"user_id"`
		Hotspots int
		replayed
	}
}

const halfTerms = `{"availability":"0.5","performance":{"standard":"0","enhanced":"0","premium":"0"},"utilization_per_gb":"0","utilization_cap":"0"}`

// A policy is tried on days that are closed.
func TestReplay(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		admin, c := s.anyone(t, "admin"), s.anyone(t, "hotspots:write", "rewards:read")
		replay := func(body string) answer { return admin.post(t, "/v1/rewards/replays", body) }
		wantFault(t, replay(`{"from":"2026-11-15","to":"2026-11-15"}`), http.StatusConflict, "conflict")
		m := c.install(t, 1)
		s.verify(t, m.hotspot)
		for i := range 5 {
			m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":%d,"tx_bytes":0}`, i, 1_000_000_000*i)).want(t, http.StatusOK)
			s.advance(time.Minute)
		}
		s.time.Store(time.Date(2026, 11, 16, 0, 10, 0, 0, time.UTC).UnixMicro())
		harness.Eventually(t, "the day is closed", func() bool {
			s.advance(10 * time.Second)
			return data[bookPage](t, admin.get(t, "/v1/rewards/months"), http.StatusOK).ClosedThrough != nil
		})
		same := data[replayAnswer](t, replay(`{"from":"2026-11-15","to":"2026-11-15"}`), http.StatusOK)
		if len(same.Days) != 1 || same.Days[0].Date != "2026-11-15" || same.Days[0].Rows != 1 || same.Rows != 1 || same.Different != 0 || same.First != nil || same.Earned != same.Replayed || same.Earned == "0" {
			t.Errorf("the policy in force gives %+v", same)
		}
		other := data[replayAnswer](t, replay(`{"from":"2026-11-15","to":"2026-11-15","policy":`+halfTerms+`}`), http.StatusOK)
		if other.Different != 1 || other.First != nil || other.Earned != same.Earned || len(other.Operators) != 1 {
			t.Fatalf("half the policy gives %+v", other)
		}
		if o := other.Operators[0]; o.UserID != string(c.user) || o.Hotspots != 1 || o.replayed != other.replayed || o.replayed != other.Days[0].replayed || o.Replayed == o.Earned {
			t.Errorf("the operator: %+v of %+v", o, other)
		}
		groups := map[string]int{}
		for _, g := range other.Groups {
			groups[g.Group] = g.Operators
		}
		if len(groups) != 9 || groups["lose_50_or_more"] != 1 {
			t.Errorf("the groups are %v", groups)
		}
		for body, fields := range map[string][]string{
			`{"from":"x","to":"2026-11-15"}`:                                                                                              {"from"},
			`{"from":"2026-11-15","to":"2026-11-15","policy":7,"days":1}`:                                                                 {"policy", "days"},
			`{"from":"2026-11-15","to":"2026-11-15","policy":null}`:                                                                       {"policy"},
			`{"from":"2026-11-15","to":"2026-11-15","policy":{"version":2}}`:                                                              {"policy"},
			`{"from":"2026-11-15","to":"2026-11-15","policy":` + strings.Replace(halfTerms, `"0.5"`, `"1001"`, 1) + `}`:                   {"policy.availability"},
			`{"from":"2026-11-15","to":"2026-11-15","policy":` + strings.Replace(halfTerms, `"enhanced":"0"`, `"enhanced":"11"`, 1) + `}`: {"policy.performance.enhanced"},
		} {
			wantFault(t, replay(body), http.StatusBadRequest, "invalid_request", fields...)
		}
		wantFault(t, replay(`{}`), http.StatusBadRequest, "missing_parameter", "from", "to")
		wantFault(t, replay(`{"from":"2026-11-15","to":"2026-11-16"}`), http.StatusConflict, "conflict")
		wantFault(t, c.post(t, "/v1/rewards/replays", `{"from":"2026-11-15","to":"2026-11-15"}`), http.StatusForbidden, "forbidden")
	})
}

// slowReplay waits in the middle of a day until it is told to stop.
type slowReplay struct {
	payments.Closing
	begun, ended chan struct{}
}

func (b slowReplay) Replay(ctx context.Context, q closing.ReplayQuery, progress func(closing.ReplayedDay) error) (*closing.Replay, error) {
	if err := progress(closing.ReplayedDay{Day: q.From}); err != nil {
		return nil, err
	}
	close(b.begun)
	<-ctx.Done()
	close(b.ended)
	return nil, ctx.Err()
}

// A server replays for one client at a time, until that client leaves.
func TestReplay_One(t *testing.T) {
	slow := slowReplay{begun: make(chan struct{}), ended: make(chan struct{})}
	s := onSQLite(t, options{limits: ample, closing: slow})
	admin := s.anyone(t, "admin")
	const body = `{"from":"2026-11-15","to":"2026-11-15"}`
	ctx, leave := context.WithCancel(t.Context())
	response := admin.send(ctx, t, "POST", "/v1/rewards/replays", strings.NewReader(body), "Content-Type", "application/json")
	defer response.Body.Close()
	<-slow.begun
	busy := s.anyone(t, "admin").post(t, "/v1/rewards/replays", body)
	wantFault(t, busy, http.StatusServiceUnavailable, "overloaded")
	leave()
	<-slow.ended
}

// nothingPaid is a replay of days on which nobody earned anything.
type nothingPaid struct{ payments.Closing }

func (nothingPaid) Replay(context.Context, closing.ReplayQuery, func(closing.ReplayedDay) error) (*closing.Replay, error) {
	return &closing.Replay{}, nil
}

// onEnd does something when the end of an answer is written.
type onEnd struct {
	*httptest.ResponseRecorder
	do func()
}

func (w onEnd) Write(p []byte) (int, error) {
	if bytes.HasSuffix(bytes.TrimSpace(p), []byte("}}")) {
		w.do()
	}
	return w.ResponseRecorder.Write(p)
}

func (w onEnd) SetReadDeadline(time.Time) error  { return nil }
func (w onEnd) SetWriteDeadline(time.Time) error { return nil }

// A client that has read the end of a replay may ask for the next.
func TestReplay_Next(t *testing.T) {
	s := onSQLite(t, options{limits: ample, closing: nothingPaid{}})
	admin := s.anyone(t, "admin")
	ask := func(do func()) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/rewards/replays", strings.NewReader(`{"from":"2026-11-15","to":"2026-11-15"}`))
		r.Header.Set("Authorization", "Bearer "+admin.plain)
		r.Header.Set("Content-Type", "application/json")
		w := onEnd{httptest.NewRecorder(), do}
		s.api.ServeHTTP(w, r)
		return w.ResponseRecorder
	}
	var next *httptest.ResponseRecorder
	first := ask(func() { next = ask(func() {}) })
	if first.Code != http.StatusOK || next == nil || next.Code != http.StatusOK {
		t.Errorf("the answers are %+v and %+v", first, next)
	}
}
