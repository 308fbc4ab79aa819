package people

import (
	"context"
	"crypto/subtle"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
)

// SessionLasts is how long a session is valid after its last use.
const SessionLasts = 30 * 24 * time.Hour

const (
	maxKnown       = 20_000          // sessions in the cache
	trustFor       = time.Second     // how long a response of the store is trusted
	keptFor        = 2 * time.Second // and how long at most while the store does not respond
	lookupTimeout  = 2 * time.Second
	recheckTimeout = 500 * time.Millisecond
)

// SessionStore is what Sessions needs of a database.
type SessionStore interface {
	// Session returns a session with its person, or nil.
	Session(ctx context.Context, id beacon.SessionID) (*beacon.Session, *beacon.Seated, error)
	// TouchSessions records last uses. It never moves one back.
	TouchSessions(ctx context.Context, used map[beacon.SessionID]beacon.Use) error
}

// Sessions verifies sessions of people. It is safe for concurrent use and starts no
// goroutine: its owner calls Flush, and Forget for every change of a person.
type Sessions struct {
	store SessionStore
	now   func() time.Time
	heard *clock.Heard

	flights singleflight.Group
	away    atomic.Int64 // last try of a failing store, in microseconds; 0: it works

	mu        sync.RWMutex
	known     map[beacon.SessionID]*entry
	byPerson  map[beacon.PersonID]map[beacon.SessionID]bool
	unsaved   map[beacon.SessionID]beacon.Use // of sessions that left the cache
	forgotten uint64                          // counts the calls of Forget: what the store said before one may be too old to keep
}

// entry is one cached session. Only its last two fields change.
type entry struct {
	session   beacon.Session
	person    beacon.Seated
	signed    beacon.Signed
	confirmed atomic.Int64 // by the store, in microseconds
	used      atomic.Int64 // the minute of its last use
	saved     atomic.Int64 // the minute of last use that the store has
}

// NewSessions returns sessions that trust their cache while the feed of changes, which calls
// Forget, has heard the database.
func NewSessions(store SessionStore, now func() time.Time, heard *clock.Heard) *Sessions {
	return &Sessions{
		store: store, now: now, heard: heard, known: map[beacon.SessionID]*entry{},
		byPerson: map[beacon.PersonID]map[beacon.SessionID]bool{}, unsaved: map[beacon.SessionID]beacon.Use{},
	}
}

// Verify returns the principal of the person who is signed in with a session, acting for one
// of their accounts: without one for their oldest. Like access.Keys it asks mayAsk before it
// looks up what is not in memory, and asks the store again while the feed is not up to date.
// If the store does not respond either, a session that was valid stays so for two seconds; then
// Verify returns Overloaded, since the person may have been signed out on another server.
func (s *Sessions) Verify(ctx context.Context, text string, account beacon.UserID, mayAsk func() error) (p beacon.Principal, err error) {
	id, hash, ok := parseSession(text)
	if !ok {
		return p, access.ErrUnauthorized
	}
	now := s.now()
	e, err := s.find(ctx, id, now, mayAsk)
	if err != nil {
		return p, err
	}
	if subtle.ConstantTimeCompare(hash[:], e.session.SecretHash[:]) != 1 || !e.person.Active() || !e.inForce(now) {
		return p, access.ErrUnauthorized
	}
	e.use(now)
	return e.principal(account)
}

func (s *Sessions) find(ctx context.Context, id beacon.SessionID, now time.Time, mayAsk func() error) (*entry, error) {
	e := s.get(id)
	if e != nil && e.inForce(now) { // one that has ended here may have been used on another server
		switch {
		case s.heard.InStep() || recent(time.UnixMicro(e.confirmed.Load()), now, trustFor):
			return e, nil
		case !s.mayTry(now):
			return e.without(now, nil)
		}
	}
	if e == nil {
		if err := mayAsk(); err != nil {
			return nil, err
		}
	}
	found, err, _ := s.flights.Do(string(id), func() (any, error) {
		timeout := lookupTimeout
		if s.get(id) != nil {
			timeout = recheckTimeout
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		return s.lookup(ctx, id, now)
	})
	if err != nil {
		return nil, err
	}
	return found.(*entry), nil
}

func (s *Sessions) lookup(ctx context.Context, id beacon.SessionID, now time.Time) (*entry, error) {
	generation := s.generation()
	session, person, err := s.store.Session(ctx, id)
	if err != nil {
		s.away.Store(s.now().UnixMicro())
		return s.get(id).without(now, err)
	}
	s.away.Store(0)
	if session == nil || !person.Active() {
		s.drop(id)
		return nil, access.ErrUnauthorized
	}
	return s.keep(session, person, now, generation), nil
}

// without returns the entry, which may be nil, while the store does not respond, or an error
// once the store confirmed it too long ago.
func (e *entry) without(now time.Time, cause error) (*entry, error) {
	if e != nil && recent(time.UnixMicro(e.confirmed.Load()), now, keptFor) {
		return e, nil
	}
	return nil, &beacon.Error{
		Kind: beacon.Overloaded, Message: "sessions cannot be checked at the moment", RetryAfter: time.Second, Err: cause,
	}
}

// mayTry picks one request a second to try the store again while it fails.
func (s *Sessions) mayTry(now time.Time) bool {
	tried := s.away.Load()
	return tried == 0 || !recent(time.UnixMicro(tried), now, trustFor) && s.away.CompareAndSwap(tried, now.UnixMicro())
}

// recent reports whether at is less than a span before now. It is false if the clock was set
// back.
func recent(at, now time.Time, span time.Duration) bool {
	age := now.Sub(at)
	return age >= 0 && age < span
}

func (e *entry) inForce(now time.Time) bool {
	return now.Before(e.session.ExpiresAt) || now.Before(time.Unix(e.used.Load()*60, 0).Add(SessionLasts))
}

// use records the minute. Most calls only read: the minute is already recorded.
func (e *entry) use(now time.Time) {
	last := e.used.Load()
	if minute := now.Unix() / 60; minute > last {
		e.used.CompareAndSwap(last, minute) // if it fails, another request did so
	}
}

func (e *entry) unsavedUse() (beacon.Use, bool) {
	used := e.used.Load()
	at := time.Unix(used*60, 0).UTC()
	return beacon.Use{LastUsedAt: at, ExpiresAt: at.Add(SessionLasts)}, used > e.saved.Load()
}

// ErrNotMember is returned for an account that the person is no member of.
var ErrNotMember error = &beacon.Error{Kind: beacon.Forbidden, Message: "Beacon-Account must be an account that you are a member of"}

// principal returns the person acting for an account.
func (e *entry) principal(account beacon.UserID) (beacon.Principal, error) {
	p := beacon.Principal{Person: e.session.Person, Posts: e.person.Posts(), Signed: &e.signed}
	var seat *beacon.Membership
	if account != "" {
		if seat = e.person.In(account); seat == nil {
			return beacon.Principal{}, ErrNotMember
		}
	}
	for i := range e.person.Memberships {
		if m := &e.person.Memberships[i]; seat == nil && m.Account != "" {
			seat = m
		}
	}
	if seat != nil {
		p.User, p.Role, p.Assigned = seat.Account, seat.Role, seat.Hotspots
	}
	return p, nil
}

func (s *Sessions) get(id beacon.SessionID) *entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.known[id]
}

func (s *Sessions) generation() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.forgotten
}

// keep caches the store's response to a lookup of the given generation, and returns the entry
// to use.
func (s *Sessions) keep(session *beacon.Session, person *beacon.Seated, now time.Time, generation uint64) *entry {
	e := &entry{session: *session, person: *person, signed: beacon.Signed{Session: session.ID, FreshUntil: session.FreshUntil}}
	if !person.RecoveredAt.IsZero() {
		e.signed.FrozenUntil = person.RecoveredAt.Add(beacon.FrozenFor)
	}
	e.confirmed.Store(now.UnixMicro())
	e.used.Store(session.LastUsedAt.Unix() / 60)
	e.saved.Store(session.LastUsedAt.Unix() / 60)
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.known[session.ID]; before != nil {
		e.used.Store(max(e.used.Load(), before.used.Load()))
	}
	if generation != s.forgotten {
		return e
	}
	if len(s.known) >= maxKnown {
		for other := range s.known { // in the random order of a map
			s.remove(other)
			break
		}
	}
	s.known[session.ID] = e
	if s.byPerson[session.Person] == nil {
		s.byPerson[session.Person] = map[beacon.SessionID]bool{}
	}
	s.byPerson[session.Person][session.ID] = true
	return e
}

func (s *Sessions) drop(id beacon.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(id)
}

// remove removes an entry and keeps its last use for the next flush.
func (s *Sessions) remove(id beacon.SessionID) {
	e := s.known[id]
	if e == nil {
		return
	}
	delete(s.known, id)
	if of := s.byPerson[e.session.Person]; len(of) > 1 {
		delete(of, id)
	} else {
		delete(s.byPerson, e.session.Person)
	}
	if use, ok := e.unsavedUse(); ok && len(s.unsaved) < maxKnown {
		s.unsaved[id] = use
	}
}

// Forget removes the sessions of a person from the cache, so that their next use asks the
// store. The feed calls it for every change of a person on any server.
func (s *Sessions) Forget(person beacon.PersonID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten++
	for id := range s.byPerson[person] {
		s.flights.Forget(string(id)) // do not join a lookup that began before
		s.remove(id)
	}
}

// Flush writes the last uses of sessions, and thereby when they expire. Call it about once a
// minute, and at shutdown. The next call retries what could not be written.
func (s *Sessions) Flush(ctx context.Context) error {
	const batch = 500
	uses := s.uses()
	for ids := range slices.Chunk(slices.Collect(maps.Keys(uses)), batch) {
		part := make(map[beacon.SessionID]beacon.Use, len(ids))
		for _, id := range ids {
			part[id] = uses[id]
		}
		if err := s.store.TouchSessions(ctx, part); err != nil {
			return err
		}
		s.wrote(part)
	}
	return nil
}

func (s *Sessions) uses() map[beacon.SessionID]beacon.Use {
	s.mu.RLock()
	defer s.mu.RUnlock()
	uses := maps.Clone(s.unsaved)
	for id, e := range s.known {
		if use, ok := e.unsavedUse(); ok {
			uses[id] = use
		}
	}
	return uses
}

func (s *Sessions) wrote(uses map[beacon.SessionID]beacon.Use) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, use := range uses {
		if !s.unsaved[id].LastUsedAt.After(use.LastUsedAt) {
			delete(s.unsaved, id)
		}
		if e := s.known[id]; e != nil {
			e.saved.Store(use.LastUsedAt.Unix() / 60)
		}
	}
}
