package access_test

import (
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestKeys_MemoryIsBounded(t *testing.T) {
	w := newWorld()
	verify := func(plain string) {
		if _, err := w.Verify(t.Context(), plain); err != nil {
			t.Fatal(err)
		}
	}
	for range access.MaxKnown {
		_, plain := w.add(t, beacon.Key{User: "usr_1"})
		verify(plain)
	}
	if err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.now = noon.Add(time.Hour)
	var busy []string
	for range 2000 {
		_, plain := w.add(t, beacon.Key{User: "usr_1"})
		verify(plain)
		busy = append(busy, plain)
	}
	if known, _, unsaved := w.Sizes(); known != access.MaxKnown || unsaved != 0 {
		t.Errorf("%d keys in memory, %d uses beside them; want %d and 0", known, unsaved, access.MaxKnown)
	}
	before := w.store.asked()
	for _, plain := range busy {
		verify(plain)
	}
	w.wantLookups(t, before, "room was made at the cost of those not used for an hour")
}

func TestKeys_MemoryOfUnknownIsBounded(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{})
	w.opens(t, plain, k)
	for range access.MaxUnknown + 100 {
		_, unknown := access.Mint(noon, beacon.Key{})
		if _, err := w.Verify(t.Context(), unknown); err != access.ErrUnauthorized {
			t.Fatal(err)
		}
	}
	if known, unknown, _ := w.Sizes(); known != 1 || unknown < 100 || unknown > access.MaxUnknown {
		t.Errorf("%d known, %d unknown in memory; want 1 and at most %d", known, unknown, access.MaxUnknown)
	}
}

// touched counts the writes of each key since the last call.
func (w *world) touched() map[beacon.KeyID][]time.Time {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	all := map[beacon.KeyID][]time.Time{}
	for _, batch := range w.store.touches {
		for id, at := range batch {
			all[id] = append(all[id], at)
		}
	}
	w.store.touches = nil
	return all
}

func (w *world) flush(t *testing.T) {
	t.Helper()
	if err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestFlush(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{})
	w.flush(t)
	if len(w.store.touches) != 0 {
		t.Error("nothing was used, and something written")
	}
	for _, step := range []struct {
		at   time.Duration
		want time.Duration // the use written, or -1
	}{
		{0, 0},
		{30 * time.Second, -1},
		{59 * time.Second, -1},
		{60 * time.Second, time.Minute},
		{61 * time.Second, -1},
		{1000 * time.Second, 16 * time.Minute},
		{500 * time.Second, -1}, // the clock was set back
	} {
		w.now = noon.Add(step.at)
		for range 3 {
			w.opens(t, plain, k)
		}
		w.flush(t)
		got := w.touched()[k.ID]
		if step.want < 0 && len(got) == 0 {
			continue
		}
		if step.want < 0 || len(got) != 1 || !got[0].Equal(noon.Add(step.want)) {
			t.Errorf("used after %v: wrote %v; want %v", step.at, got, step.want)
		}
	}
}

func TestFlush_RefusedUseIsNone(t *testing.T) {
	w := newWorld()
	_, expired := w.add(t, beacon.Key{ExpiresAt: noon})
	w.refuses(t, expired, "expired")
	w.flush(t)
	if got := w.touched(); len(got) != 0 {
		t.Errorf("wrote %v; want nothing", got)
	}
}

func TestFlush_TriesAgain(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{})
	gone, plainGone := w.add(t, beacon.Key{})
	w.opens(t, plain, k)
	w.opens(t, plainGone, gone)
	w.Forget(gone.ID) // its last use stays to be written
	w.store.fail(errAway)
	if err := w.Flush(t.Context()); err == nil {
		t.Fatal("the store is away, and Flush is content")
	}
	w.store.fail(nil)
	w.flush(t)
	if got := w.touched(); len(got[k.ID]) != 1 || len(got[gone.ID]) != 1 {
		t.Errorf("wrote %v; want both", got)
	}
	w.flush(t)
	if got := w.touched(); len(got) != 0 {
		t.Errorf("wrote %v again", got)
	}
}

// A use that the store knows already is not written again after a restart.
func TestFlush_KnowsWhatTheStoreHas(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{LastUsedAt: noon})
	w.opens(t, plain, k)
	w.flush(t)
	if got := w.touched(); len(got) != 0 {
		t.Errorf("wrote %v; want nothing", got)
	}
}

func TestFlush_InBatches(t *testing.T) {
	w := newWorld()
	const keys = 1234
	for range keys {
		k, plain := w.add(t, beacon.Key{})
		w.opens(t, plain, k)
	}
	w.flush(t)
	if n := len(w.store.touches); n != 3 {
		t.Errorf("%d batches; want 3", n)
	}
	for _, batch := range w.store.touches {
		if len(batch) > 500 {
			t.Errorf("a batch of %d", len(batch))
		}
	}
	if got := w.touched(); len(got) != keys {
		t.Errorf("%d keys written; want %d", len(got), keys)
	}
}

func BenchmarkVerify_Cached(b *testing.B) {
	store := newMemory()
	keys := access.New(store, time.Now, inStep())
	k, plain := access.Mint(time.Now(), beacon.Key{User: user(), Scopes: []beacon.Scope{beacon.HotspotsWrite}})
	if err := store.InsertKey(b.Context(), k, beacon.Actor{}, nil); err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := keys.Verify(ctx, plain); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify_Garbage(b *testing.B) {
	keys := access.New(newMemory(), time.Now, inStep())
	_, plain := access.Mint(time.Now(), beacon.Key{})
	typo := plain[:66] + "-"
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := keys.Verify(ctx, typo); err == nil {
			b.Fatal("it opens")
		}
	}
}
