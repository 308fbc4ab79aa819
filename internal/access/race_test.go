package access_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
)

func TestVerify_ManyMissesAreOneLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		k, plain := w.add(t, beacon.Key{})
		w.store.hold = make(chan struct{})
		first, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var opened atomic.Int32
		verify := func(ctx context.Context) {
			wg.Go(func() {
				if p, err := w.Verify(ctx, plain); err == nil && p.Key == k.ID {
					opened.Add(1)
				}
			})
		}
		verify(first)
		synctest.Wait()
		leave() // the others must not suffer from it
		for range 99 {
			verify(t.Context())
		}
		synctest.Wait()
		close(w.store.hold)
		wg.Wait()
		w.wantLookups(t, 1, "100 at once")
		if opened.Load() != 100 {
			t.Errorf("%d of 100 were let in", opened.Load())
		}
	})
}

// The store answers before a revocation, the feed tells of the revocation, and
// only then does the answer arrive: it must not stay in memory.
func TestForget_DuringLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		k, plain := w.add(t, beacon.Key{})
		hold := make(chan struct{})
		w.store.hold = hold
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = w.Verify(context.Background(), plain) })
		synctest.Wait()
		if err := w.store.RevokeKey(t.Context(), k.ID, noon, beacon.Actor{}); err != nil {
			t.Fatal(err)
		}
		w.Forget(k.ID)

		w.store.mu.Lock()
		w.store.hold = nil
		w.store.mu.Unlock()
		w.refuses(t, plain, "asked after the revocation, with the old question still open")
		close(hold)
		wg.Wait()
		w.now = noon.Add(time.Minute)
		w.refuses(t, plain, "revoked")
	})
}

// The same for a key that comes into being while the store is saying no.
func TestForget_DuringDenial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		k, plain := access.Mint(noon, beacon.Key{User: user()})
		hold := make(chan struct{})
		w.store.hold = hold
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = w.Verify(context.Background(), plain) })
		synctest.Wait()
		if err := w.store.InsertKey(t.Context(), k, beacon.Actor{}, nil); err != nil {
			t.Fatal(err)
		}
		w.Forget(k.ID)
		close(hold)
		wg.Wait()
		w.opens(t, plain, k)
	})
}

// A database that hangs holds up a key in memory for half a second, once; one
// that is not in memory for two.
func TestVerify_StoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		keys := access.New(store, time.Now, new(clock.Heard))
		w := &world{Keys: keys, store: store, now: time.Now()}
		k, plain := w.add(t, beacon.Key{})
		_, cold := w.add(t, beacon.Key{})
		w.opens(t, plain, k)
		<-time.After(time.Minute) // of the bubble: it takes no time
		store.hold = make(chan struct{})

		took := func(plain string) (time.Duration, error) {
			start := time.Now()
			_, err := w.Verify(t.Context(), plain)
			return time.Since(start), err
		}
		if d, err := took(plain); err != nil || d != 500*time.Millisecond {
			t.Errorf("the first waits %v, %v; want 500 ms", d, err)
		}
		if d, err := took(plain); err != nil || d != 0 {
			t.Errorf("the second waits %v, %v; want 0", d, err)
		}
		if d, err := took(cold); err == nil || d != 2*time.Second {
			t.Errorf("one not in memory waits %v, %v; want 2 s and an error", d, err)
		}
		<-time.After(time.Second)
		var wg sync.WaitGroup
		var waited atomic.Int64
		for range 20 { // one of them tries the store
			wg.Go(func() {
				d, err := took(plain)
				waited.Add(int64(d))
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := time.Duration(waited.Load()); got != 500*time.Millisecond {
			t.Errorf("20 at once wait %v together; want 500 ms", got)
		}
	})
}

// Everything at once, for the race detector.
func TestKeys_Concurrently(t *testing.T) {
	w := newWorld()
	k, plain := w.add(t, beacon.Key{})
	var wg sync.WaitGroup
	var opened atomic.Int64
	for i := range 8 {
		wg.Go(func() {
			for range 300 {
				switch p, err := w.Verify(t.Context(), plain); {
				case err != nil:
					t.Error(err)
				case p.Key == k.ID:
					opened.Add(1)
				}
				if i == 0 {
					w.Forget(k.ID)
				}
				if i == 1 {
					_ = w.Flush(t.Context())
				}
			}
		})
	}
	wg.Wait()
	if opened.Load() != 8*300 {
		t.Errorf("%d of %d opened", opened.Load(), 8*300)
	}
}
