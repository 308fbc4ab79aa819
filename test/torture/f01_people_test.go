//go:build linux

package torture_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/audit"
	"github.com/beacon-wifi/beacon/test/harness/level"
	"github.com/beacon-wifi/beacon/test/harness/visitor"
)

// TestF01_People kills (-9) a server in the midst of everything by which people get in, and by
// which they lose what they may do: before the first write, before the COMMIT, after it, and
// on SQLite also when it is about to write or to sync what the COMMIT writes. Each time the
// whole happened or nothing; what happened cannot be done once more, and what was acknowledged
// is there.
func TestF01_People(t *testing.T) {
	level.Needs(t, level.Check)
	harness.Stores(t, func(t *testing.T, db string) {
		r := newRites(t, db)
		first := r.firstAdmin(t)
		r.kill(t, first, r.deaths(0))
		s := r.start(t, nil)
		killed, acknowledged := r.prepare(t, s)
		s.Stop(t)
		for i, one := range killed {
			r.kill(t, one, r.deaths(i))
		}
		s = r.start(t, nil)
		for _, one := range append([]rite{first}, killed...) {
			r.again(t, s, one)
		}
		before := r.count(t)
		want := map[string]int64{}
		for _, one := range acknowledged {
			if status := one.send(t, s); status >= 300 {
				t.Errorf("%s answered %d", one.name, status)
			}
			for what, n := range one.does {
				want[what] += n
			}
		}
		s.Kill()
		r.sound(t)
		maps.DeleteFunc(want, func(_ string, n int64) bool { return n == 0 })
		if got := difference(before, r.count(t)); !maps.Equal(got, want) {
			t.Errorf("acknowledged was %v, and there is %v", want, got)
		}
		s = r.start(t, nil)
		for _, one := range acknowledged {
			r.again(t, s, one)
		}
	})
}

// rite is something that people do, which is written as a whole.
type rite struct {
	name string
	send func(t *testing.T, s *harness.Server) (status int) // 0: nothing came back
	once bool                                               // what it needs is used up by it
	does map[string]int64                                   // how many rows more there are of what, or less
}

// counted are the rows by which the whole can be told from a part.
var counted = map[string]string{
	"people": `people`, "suspended": `people WHERE suspended_at <> 0`, "recovered": `people WHERE recovered_at <> 0`,
	"members": `memberships`, "viewers": `memberships WHERE role = 'viewer'`, "left": `left_accounts`,
	"invited": `invitations`, "accepted": `invitations WHERE used_at <> 0`, "withdrawn": `invitations WHERE revoked_at <> 0`,
	"sessions": `sessions`, "passkeys": `passkeys`, "used passkeys": `passkeys WHERE last_used_at <> 0`, "identities": `identities`,
	"revoked keys": `api_keys WHERE revoked_at <> 0`, "links": `tickets WHERE kind = 'link'`, "codes": `tickets WHERE kind = 'code'`,
	"new codes": `tickets WHERE kind = 'new_code'`, "ceremonies": `tickets WHERE kind = 'passkey'`, "visits": `tickets WHERE kind = 'oidc'`,
	"first admins": `changes WHERE kind = 'person.signed_in' AND note = 'sign_up'`,
}

func (r *rites) count(t *testing.T) map[string]int64 {
	t.Helper()
	db := harness.OpenSQL(t, r.db)
	defer db.Close()
	all := map[string]int64{}
	for what, from := range counted {
		all[what] = audit.Number(t, db, `SELECT count(*) FROM `+from)
	}
	return all
}

// difference returns what changed from one count to another.
func difference(before, after map[string]int64) map[string]int64 {
	changed := map[string]int64{}
	for what := range after {
		if n := after[what] - before[what]; n != 0 {
			changed[what] = n
		}
	}
	return changed
}

// death is where a server is killed: at a point, or at the first of some system calls after it.
type death struct {
	point int
	calls string
}

// The points of an edit of people.
const (
	beforeWrites = 1 + iota
	beforeCommit
	beforeResponse
)

// deaths returns where to kill a server in a rite. Make check has fewer, in turns.
func (r *rites) deaths(turn int) []death {
	calls := []death{{beforeCommit, harness.Writes}, {beforeCommit, harness.Syncs}}
	all := []death{{beforeWrites, ""}, {beforeCommit, ""}}
	switch {
	case harness.IsPostgres(r.db):
	case rounds(0, 0, 1) > 0:
		all = append(all, calls...)
	default:
		all = append(all[1:], calls[turn%2])
	}
	return append(all, death{beforeResponse, ""})
}

// kill lets a server be killed in a rite, in one way after the other until it happened.
func (r *rites) kill(t *testing.T, one rite, deaths []death) {
	t.Helper()
	for _, f := range deaths {
		before := r.count(t)
		stop := newStop(t, fmt.Sprint("people ", f.point))
		s := r.start(t, stop.environment())
		answered := make(chan int, 1)
		go func() { answered <- one.send(t, s) }()
		harness.Eventually(t, one.name+" is where it is to be killed", func() bool { s.Running(t); return stop.reached() })
		if f.calls != "" {
			needStrace(t)
			harness.KillAt(t, s, f.calls, 1)
			stop.release(t)
			<-s.Exited
		} else {
			s.Kill()
		}
		if status := <-answered; status != 0 {
			t.Errorf("%s: the server was killed at %v, and answered %d", one.name, f, status)
		}
		r.sound(t)
		done := difference(before, r.count(t))
		whole := maps.Equal(done, one.does)
		if whole && f.calls == "" && f.point != beforeResponse || !whole && f.point == beforeResponse || !whole && len(done) > 0 {
			t.Errorf("%s: killed at %v, there is %v; the whole is %v", one.name, f, done, one.does)
		}
		if whole {
			return
		}
	}
}

// again wants a rite that happened to change nothing any more.
func (r *rites) again(t *testing.T, s *harness.Server, one rite) {
	t.Helper()
	before := r.count(t)
	status := one.send(t, s)
	if done := difference(before, r.count(t)); len(done) > 0 || one.once && status != http.StatusUnauthorized {
		t.Errorf("%s happened, and once more it answered %d and did %v", one.name, status, done)
	}
}

// sound wants the database whole.
func (r *rites) sound(t *testing.T) {
	t.Helper()
	if !harness.IsPostgres(r.db) {
		harness.CheckIntegrity(t, r.db)
	}
}

// rites are what people do on a database, at one moment.
type rites struct {
	db     string
	clock  *heldClock
	issuer *visitor.Issuer
}

// start starts a server on it, which may stop at a point.
func (r *rites) start(t *testing.T, stop []string) *harness.Server {
	t.Helper()
	p := r.clock.Program
	p.Environment = slices.Concat(p.Environment, stop)
	return p.Start(t, r.db, "--public-url", origin, "--oidc-issuer", r.issuer.URL, "--oidc-client-id", "beacon")
}

func newRites(t *testing.T, db string) *rites {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Second)
	r := &rites{db: db, clock: newHeldClock(t, now, 1), issuer: visitor.NewIssuer(t, now)}
	r.clock.hold(t, now)
	return r
}
