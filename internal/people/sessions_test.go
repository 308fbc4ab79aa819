package people_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/people"
)

// world is a database with one session, as its Sessions see it. The feed of changes hears
// nothing of the database.
type world struct {
	*people.Sessions
	text string
	now  time.Time

	session beacon.Session
	person  beacon.Seated
	fails   error
	lookups int
	slow    func(context.Context) // what a lookup waits for; may be nil
}

func (w *world) Session(ctx context.Context, id beacon.SessionID) (*beacon.Session, *beacon.Seated, error) {
	w.lookups++
	if w.slow != nil {
		w.slow(ctx)
	}
	switch {
	case w.fails != nil:
		return nil, nil, w.fails
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case id != w.session.ID:
		return nil, nil, nil
	}
	return &w.session, &w.person, nil
}

func (w *world) TouchSessions(context.Context, map[beacon.SessionID]beacon.Use) error { return w.fails }

func newWorld() *world {
	w := &world{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	w.session, w.text = people.NewSession(w.now, "per_ada", beacon.ByPasskey, "Firefox")
	w.person = beacon.Seated{Person: beacon.Person{ID: "per_ada"}}
	w.Sessions = people.NewSessions(w, func() time.Time { return w.now }, new(clock.Heard))
	return w
}

// want checks what the session is worth: nil is valid.
func (w *world) want(t *testing.T, when string, kind beacon.Kind, valid bool) {
	t.Helper()
	p, err := w.Verify(t.Context(), w.text, "", func() error { return nil })
	switch {
	case valid && (err != nil || p.Person != "per_ada"):
		t.Errorf("%s: %v, %v; want a session that is valid", when, p.Person, err)
	case !valid && (err == nil || beacon.KindOf(err) != kind):
		t.Errorf("%s: %v; want an error of kind %d", when, err, kind)
	}
}

// While the database does not respond, a session that was valid stays so for two seconds. Then
// it cannot be checked, which is not the same as having ended.
func TestSessions_StoreAway(t *testing.T) {
	for name, fail := range map[string]func(w *world){
		"dead": func(w *world) { w.fails = errors.New("no route to host") },
		"slow": func(w *world) { w.slow = func(ctx context.Context) { <-ctx.Done() } },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.want(t, "at first", 0, true)
				fail(w)
				for _, after := range []time.Duration{time.Second, 1999 * time.Millisecond} {
					w.now = w.session.CreatedAt.Add(after)
					w.want(t, after.String(), 0, true)
					w.want(t, after.String()+", again", 0, true)
				}
				for _, after := range []time.Duration{2 * time.Second, 2100 * time.Millisecond, time.Minute} {
					w.now = w.session.CreatedAt.Add(after)
					w.want(t, after.String(), beacon.Overloaded, false)
				}
				tried := w.lookups
				for range 100 {
					w.want(t, "of many", beacon.Overloaded, false)
				}
				if w.lookups > tried+1 {
					t.Errorf("while it fails, %d requests asked the database", w.lookups-tried)
				}
				w.fails, w.slow = nil, nil
				w.now = w.now.Add(time.Second)
				w.want(t, "once it is back", 0, true)
				w.person.SuspendedAt = w.now
				w.now = w.now.Add(time.Second)
				w.want(t, "suspended elsewhere", beacon.Unauthorized, false)
			})
		})
	}
}

// A session that is not in memory cannot be checked either, and is not refused like a wrong one.
func TestSessions_UnknownWhileAway(t *testing.T) {
	w := newWorld()
	w.fails = errors.New("no route to host")
	w.want(t, "unknown", beacon.Overloaded, false)
	w.fails = nil
	w.want(t, "once it is back", 0, true)
	w.fails = errors.New("no route to host")
	w.Forget("per_ada")
	w.want(t, "forgotten", beacon.Overloaded, false)
}
