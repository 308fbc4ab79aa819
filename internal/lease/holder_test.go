package lease_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beacon-wifi/beacon/internal/lease"
)

// table is a store in memory, with faults.
type table struct {
	mu    sync.Mutex
	row   lease.Lease
	calls []call

	away bool          // every call fails
	mute bool          // calls take effect, and their answer is lost
	slow time.Duration // how long a call takes
}

type call struct {
	holder string
	ttl    time.Duration
}

var errAway = errors.New("the database is away")

func (tb *table) TakeLease(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (lease.Lease, bool, error) {
	tb.mu.Lock()
	away, mute, slow := tb.away, tb.mute, tb.slow
	tb.calls = append(tb.calls, call{holder, ttl})
	tb.mu.Unlock()
	if away {
		return lease.Lease{}, false, errAway
	}
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return lease.Lease{}, false, ctx.Err()
	}
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if tb.row.Holder != holder {
		if tb.row.Until.After(now) {
			return tb.row, false, nil
		}
		tb.row = lease.Lease{Name: name, Holder: holder, Token: tb.row.Token + 1}
	}
	tb.row.Until = now.Add(ttl)
	if mute {
		return lease.Lease{}, false, errAway
	}
	return tb.row, true, nil
}

func (tb *table) set(change func()) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	change()
}

// node is a process that wants the lease.
type node struct {
	*lease.Holder
	stop func() // as a supervisor does it; it waits for the end
	kill func() // as a crash does it: from now on it says nothing
}

// severed is a store that a process cannot reach any more.
type severed struct {
	*table
	cut chan struct{}
}

func (s *severed) TakeLease(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (lease.Lease, bool, error) {
	select {
	case <-s.cut:
		<-ctx.Done()
		return lease.Lease{}, false, ctx.Err()
	default:
		return s.table.TakeLease(ctx, name, holder, now, ttl)
	}
}

func start(t *testing.T, tb *table, holder string) node {
	t.Helper()
	store := &severed{table: tb, cut: make(chan struct{})}
	k := lease.NewHolder(store, "job", holder, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { k.Run(ctx) })
	synctest.Wait()
	stop := func() { cancel(); running.Wait() }
	cut := sync.OnceFunc(func() { close(store.cut) })
	t.Cleanup(func() { cut(); stop() })
	return node{Holder: k, stop: stop, kill: func() { cut(); stop() }}
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (n node) check(t *testing.T, when string, want bool) {
	t.Helper()
	if _, held := n.Held(); held != want {
		t.Errorf("%s: held is %v; want %v", when, held, want)
	}
}

// The lease is renewed in time for ever, under one token, and nobody else gets
// it meanwhile.
func TestKeeper_Renews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{}
		a, b := start(t, tb, "a"), start(t, tb, "b")
		first, held := a.Held()
		if !held || first.Name != "job" || first.Holder != "a" || first.Token != 1 {
			t.Fatalf("Held = %+v, %v", first, held)
		}
		for range 1000 {
			pass(lease.TTL / 7)
			a.check(t, "while it is renewed", true)
			b.check(t, "while another holds it", false)
		}
		if now, _ := a.Held(); now.Token != first.Token {
			t.Errorf("the token went from %d to %d", first.Token, now.Token)
		}
	})
}

// A crash costs no more than the rest of the lease and one interval.
func TestKeeper_TakesOverAfterCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{}
		a, b := start(t, tb, "a"), start(t, tb, "b")
		pass(lease.TTL * 10)
		before, _ := a.Held()
		a.kill()
		pass(lease.TTL / 2)
		b.check(t, "while the lease runs", false)
		pass(lease.TTL/2 + lease.TTL/3)
		b.check(t, "after its end", true)
		if after, _ := b.Held(); after.Token <= before.Token {
			t.Errorf("the token after a take-over is %d; before it was %d", after.Token, before.Token)
		}
	})
}

// On a clean shutdown the lease is given back: the next who asks gets it.
func TestKeeper_GivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{}
		a := start(t, tb, "a")
		pass(lease.TTL)
		a.stop()
		a.check(t, "after the end", false)
		start(t, tb, "b").check(t, "right after that", true)
	})
}

// One who never held it gives nothing back.
func TestKeeper_GivesBackOnlyItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{}
		a, b := start(t, tb, "a"), start(t, tb, "b")
		b.stop()
		pass(lease.TTL * 2)
		a.check(t, "after another left", true)
		for _, c := range tb.calls {
			if c.ttl < 0 {
				t.Errorf("%s gave a lease back", c.holder)
			}
		}
	})
}

// While the database is away the lease counts as lost before anyone else can
// take it; one failure or two are no matter.
func TestKeeper_DatabaseAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{}
		a := start(t, tb, "a")
		pass(lease.TTL/3 - time.Millisecond) // renewals are due right after this
		tb.set(func() { tb.away = true })
		pass(lease.TTL*2/3 - time.Millisecond) // two of them fail
		a.check(t, "after two failures", true)
		pass(time.Millisecond * 2)
		a.check(t, "once it is not sure any more", false)

		tb.set(func() { tb.away = false })
		pass(lease.TTL / 3)
		a.check(t, "when the database is back", true)
		tb.set(func() { tb.away = true })
		pass(lease.TTL / 2)
		tb.set(func() { tb.away = false })
		pass(lease.TTL)
		a.check(t, "after a short absence", true)
		if l, _ := a.Held(); l.Token != 1 {
			t.Errorf("the token is %d though nobody else came", l.Token)
		}
	})
}

// The time is counted from the beginning of a renewal, not from its answer: the
// store counts from there too.
func TestKeeper_SlowDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow = lease.TTL / 4
		tb := &table{slow: slow}
		a := start(t, tb, "a")
		a.check(t, "before the answer", false)
		pass(slow)
		a.check(t, "after the answer", true)
		tb.set(func() { tb.away = true })
		pass(lease.TTL - slow - time.Millisecond)
		a.check(t, "just before the end", true)
		pass(time.Millisecond)
		a.check(t, "at the end", false)
	})
}

// A renewal without an answer does not count, though it was written down.
func TestKeeper_AnswersLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{}
		a, b := start(t, tb, "a"), start(t, tb, "b")
		tb.set(func() { tb.mute = true })
		pass(lease.TTL * 3)
		a.check(t, "without answers", false)
		b.check(t, "while another renews", false)
		tb.set(func() { tb.mute = false })
		pass(lease.TTL / 3)
		a.check(t, "with answers again", true)
	})
}

// A job runs while the lease is held, and never two at a time.
func TestKeeper_While(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{}
		a := start(t, tb, "a")
		var mu sync.Mutex
		var runs []int64
		running := 0
		state := func() (int, []int64) {
			mu.Lock()
			defer mu.Unlock()
			return running, append([]int64(nil), runs...)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		waiting.Go(func() {
			a.While(ctx, func(ctx context.Context, l lease.Lease) {
				mu.Lock()
				running++
				runs = append(runs, l.Token)
				mu.Unlock()
				<-ctx.Done()
				mu.Lock()
				running--
				mu.Unlock()
			})
		})
		pass(lease.TTL * 5)
		if now, all := state(); now != 1 || len(all) != 1 {
			t.Errorf("while the lease is held %d jobs run, of %v", now, all)
		}
		tb.set(func() { tb.away = true })
		pass(lease.TTL)
		if now, _ := state(); now != 0 {
			t.Errorf("without the lease %d jobs run", now)
		}
		tb.set(func() {
			tb.away = false
			tb.row = lease.Lease{Name: "job", Holder: "b", Token: 2, Until: time.Now().Add(time.Second)}
		})
		pass(lease.TTL)
		if now, all := state(); now != 1 || len(all) != 2 || all[1] != 3 {
			t.Errorf("with the lease again %d jobs run, of %v; want one, of tokens 1 and 3", now, all)
		}
		cancel()
		waiting.Wait()
		if now, _ := state(); now != 0 {
			t.Errorf("after its context %d jobs run", now)
		}
	})
}

// Whoever finds the lease taken by another stops at once.
func TestKeeper_Replaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{}
		a := start(t, tb, "a")
		ended := make(chan struct{})
		go a.While(t.Context(), func(ctx context.Context, _ lease.Lease) {
			<-ctx.Done()
			close(ended)
		})
		synctest.Wait()
		tb.set(func() {
			tb.row = lease.Lease{Name: "job", Holder: "b", Token: 2, Until: time.Now().Add(time.Hour)}
		})
		pass(lease.TTL / 3)
		a.check(t, "after the next try", false)
		select {
		case <-ended:
		default:
			t.Error("its job goes on")
		}
		a.kill()
	})
}

// A job that ends by itself waits for the next time.
func TestKeeper_JobEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{}
		a := start(t, tb, "a")
		runs := make(chan struct{}, 10)
		go a.While(t.Context(), func(context.Context, lease.Lease) { runs <- struct{}{} })
		pass(lease.TTL * 4)
		if len(runs) != 1 {
			t.Errorf("it ran %d times", len(runs))
		}
		a.stop()
	})
}

// Whoever died with a clock that was days ahead keeps the others waiting only
// until they see that nobody renews the lease.
func TestKeeper_EndFarAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{row: lease.Lease{Name: "job", Holder: "dead", Token: 7, Until: time.Now().Add(40 * 24 * time.Hour)}}
		a, b := start(t, tb, "a"), start(t, tb, "b")
		pass(lease.TTL * 2)
		pass(lease.TTL / 2)
		_, one := a.Held()
		_, other := b.Held()
		if one == other {
			t.Fatalf("a holds it: %v, b holds it: %v; want one of them", one, other)
		}
		pass(lease.TTL)
		if end := tb.row.Until; time.Until(end) > lease.TTL {
			t.Errorf("the end is still %v away", time.Until(end))
		}
	})
}

// One whose clock is ahead and who lives is left alone.
func TestKeeper_ClockAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = time.Hour
		tb := &table{}
		renew := func() {
			if _, ok, _ := tb.TakeLease(t.Context(), "job", "fast", time.Now().Add(ahead), lease.TTL); !ok {
				t.Fatal("the fast one lost the lease")
			}
		}
		renew()
		a := start(t, tb, "a")
		for range 100 {
			pass(lease.TTL / 3)
			renew()
			a.check(t, "while another renews", false)
		}
	})
}

// Nodes that leave one after the other, by a crash or cleanly: at any time there
// is at most one holder, and soon there is one.
func TestKeeper_ManyNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{}
		var nodes []node
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			nodes = append(nodes, start(t, tb, name))
		}
		for len(nodes) > 0 {
			for range 50 {
				pass(lease.TTL / 10)
				holders := 0
				for _, n := range nodes {
					if _, held := n.Held(); held {
						holders++
					}
				}
				if holders > 1 {
					t.Fatalf("%d nodes hold the lease", holders)
				}
			}
			holder := -1
			for i, n := range nodes {
				if _, held := n.Held(); held {
					holder = i
				}
			}
			if holder < 0 {
				t.Fatalf("none of %d nodes holds the lease", len(nodes))
			}
			if len(nodes)%2 == 0 {
				nodes[holder].stop()
			} else {
				nodes[holder].kill()
			}
			nodes = append(nodes[:holder], nodes[holder+1:]...)
		}
	})
}

// A job ends in time also when the lease could not be renewed even once.
func TestKeeper_NeverRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{}
		a := start(t, tb, "a")
		tb.set(func() { tb.away = true })
		began := time.Now()
		ended := make(chan time.Duration, 1)
		go a.While(t.Context(), func(ctx context.Context, _ lease.Lease) {
			<-ctx.Done()
			ended <- time.Since(began)
		})
		if took := <-ended; took != lease.TTL {
			t.Errorf("the job ended after %v", took)
		}
	})
}

// Whoever gets the lease under another token was without it in between, and
// begins anew.
func TestKeeper_OtherToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &table{}
		a := start(t, tb, "a")
		tokens := make(chan int64, 10)
		go a.While(t.Context(), func(ctx context.Context, l lease.Lease) {
			tokens <- l.Token
			<-ctx.Done()
		})
		synctest.Wait()
		tb.set(func() {
			tb.row = lease.Lease{Name: "job", Holder: "b", Token: 2, Until: time.Now().Add(-time.Second)}
		})
		pass(lease.TTL)
		if l, _ := a.Held(); l.Token != 3 || len(tokens) != 2 || <-tokens != 1 || <-tokens != 3 {
			t.Errorf("the lease is held under token %d; there were %d jobs", l.Token, len(tokens))
		}
	})
}
