package access_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/id"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// memory is a store that keeps what it is given, and fails or waits when told.
type memory struct {
	mu      sync.Mutex
	keys    map[beacon.KeyID]beacon.Key
	actors  []beacon.Actor
	invited beacon.Invitation
	lookups int
	touches []map[beacon.KeyID]time.Time
	fails   error
	hold    chan struct{} // Key waits for it after it has read
}

func newMemory() *memory { return &memory{keys: map[beacon.KeyID]beacon.Key{}} }

func (m *memory) InsertKey(_ context.Context, k beacon.Key, by beacon.Actor, _ func(beacon.Holding) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails != nil {
		return m.fails
	}
	m.keys[k.ID] = k
	m.actors = append(m.actors, by)
	return nil
}

func (m *memory) InsertFirstKey(ctx context.Context, k beacon.Key, by beacon.Actor, invited beacon.Invitation) error {
	m.mu.Lock()
	keys := len(m.keys)
	fails := m.fails
	if fails == nil && m.invited == invited {
		m.invited = beacon.Invitation{}
	} else if fails == nil {
		keys = 1
	}
	m.mu.Unlock()
	if keys > 0 {
		return &beacon.Error{Kind: beacon.Conflict}
	}
	return m.InsertKey(ctx, k, by, nil)
}

func (m *memory) SetInvitation(_ context.Context, invited beacon.Invitation, _ beacon.Actor, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.invited = invited
	return m.fails
}

func (m *memory) Invitation(context.Context) (beacon.Invitation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.invited, m.fails
}

func (m *memory) RevokeKey(_ context.Context, id beacon.KeyID, at time.Time, by beacon.Actor) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails != nil {
		return m.fails
	}
	k, ok := m.keys[id]
	if !ok {
		return &beacon.Error{Kind: beacon.NotFound, Message: "no such key"}
	}
	if k.RevokedAt.IsZero() {
		k.RevokedAt = at
	}
	m.keys[id] = k
	m.actors = append(m.actors, by)
	return nil
}

func (m *memory) Key(ctx context.Context, id beacon.KeyID) (beacon.Key, error) {
	m.mu.Lock()
	m.lookups++
	k, ok := m.keys[id]
	err, hold := m.fails, m.hold
	m.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return beacon.Key{}, ctx.Err()
		}
	}
	switch {
	case err != nil:
		return beacon.Key{}, err
	case !ok:
		return beacon.Key{}, &beacon.Error{Kind: beacon.NotFound, Message: "no such key"}
	}
	return k, nil
}

func (m *memory) Keys(_ context.Context, user beacon.UserID, _ beacon.KeyPlace, offset, limit int) ([]beacon.Key, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails != nil {
		return nil, 0, m.fails
	}
	list := slices.DeleteFunc(slices.Collect(maps.Values(m.keys)), func(k beacon.Key) bool {
		return user != "" && k.User != user
	})
	slices.SortFunc(list, func(a, b beacon.Key) int { return b.CreatedAt.Compare(a.CreatedAt) })
	from := min(offset, len(list))
	return list[from:min(from+limit, len(list))], len(list), nil
}

func (m *memory) TouchKeys(_ context.Context, used map[beacon.KeyID]time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails != nil {
		return m.fails
	}
	m.touches = append(m.touches, maps.Clone(used))
	return nil
}

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = err
}

func (m *memory) asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lookups
}

// world is keys over a store, with a clock and a feed to play with.
type world struct {
	*access.Keys
	store *memory
	now   time.Time
	heard clock.Heard
}

// always is when the database was last heard, for one that is in step.
var always = time.Now().AddDate(1, 0, 0)

func inStep() *clock.Heard {
	var h clock.Heard
	h.Set(always)
	return &h
}

func newWorld() *world {
	w := &world{store: newMemory(), now: noon}
	w.heard.Set(always)
	w.Keys = access.New(w.store, func() time.Time { return w.now }, &w.heard)
	return w
}

// user makes up a user id.
func user() beacon.UserID { return beacon.UserID(id.New(beacon.UserPrefix, noon)) }

// add puts a key into the store as another machine would: unseen by Keys.
func (w *world) add(t testing.TB, k beacon.Key) (beacon.Key, string) {
	t.Helper()
	if k.User == "" {
		k.User = user()
	}
	k, plain := access.Mint(w.now, k)
	if err := w.store.InsertKey(t.Context(), k, beacon.Actor{}, nil); err != nil {
		t.Fatal(err)
	}
	return k, plain
}
