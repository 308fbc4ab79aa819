package events_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var silent = slog.New(slog.DiscardHandler)

func startHub(t *testing.T, store events.Log) *events.Hub {
	t.Helper()
	h := events.NewHub(store, silent)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return h
}

func subscribe(t *testing.T, h *events.Hub, after int64) *events.Subscription {
	t.Helper()
	s, err := h.Subscribe(t.Context(), after)
	if err != nil {
		t.Fatalf("Subscribe(%d): %v", after, err)
	}
	t.Cleanup(s.Close)
	return s
}

// expect reads on until the event with a number, and nothing may be missing or
// come twice.
func expect(t *testing.T, s *events.Subscription, from, to int64) {
	t.Helper()
	for from <= to {
		got, err := s.Next(t.Context())
		if err != nil || len(got) == 0 {
			t.Fatalf("after event %d, Next = %v, %v", from-1, got, err)
		}
		for _, e := range got {
			if e.Seq != from {
				t.Fatalf("got event %d; want %d", e.Seq, from)
			}
			from++
		}
	}
	if from != to+1 {
		t.Fatalf("got events up to %d; want %d", from-1, to)
	}
}

func nothingMore(t *testing.T, s *events.Subscription) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if got, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Next = %v, %v; want nothing", got, err)
	}
}

func TestHub_FromNowOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.happen(10)
		h := startHub(t, m)
		s := subscribe(t, h, -1)
		nothingMore(t, s)
		m.happen(3)
		began := time.Now()
		expect(t, s, 11, 13)
		if waited := time.Since(began); waited > 200*time.Millisecond {
			t.Errorf("the events came after %v", waited)
		}
		nothingMore(t, s)
	})
}

// Monitoring sees how many listen.
func TestHub_Listeners(t *testing.T) {
	h := events.NewHub(newMemory(), silent)
	a, b := subscribe(t, h, -1), subscribe(t, h, -1)
	counts := []int{h.Listeners()}
	a.Close()
	counts = append(counts, h.Listeners())
	b.Close()
	if counts = append(counts, h.Listeners()); !slices.Equal(counts, []int{2, 1, 0}) {
		t.Errorf("%v listened; want 2, then 1, then none", counts)
	}
}

func TestHub_FromThePast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.happen(1234)
		h := startHub(t, m)
		first, middle, last := subscribe(t, h, 0), subscribe(t, h, 700), subscribe(t, h, 1234)
		m.happen(1000)
		expect(t, first, 1, 2234)
		expect(t, middle, 701, 2234)
		expect(t, last, 1235, 2234)
		nothingMore(t, first)
	})
}

// Who is slower than the memory of the hub is long goes back to the database,
// and misses nothing.
func TestHub_FallsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		h := startHub(t, m)
		slow, fast := subscribe(t, h, 0), subscribe(t, h, 0)
		total := int64(0)
		for range 40 {
			m.happen(777)
			total += 777
			began := time.Now()
			expect(t, fast, total-776, total)
			if took := time.Since(began); took > 200*time.Millisecond {
				t.Errorf("777 events took %v", took)
			}
		}
		asked := m.called("Events")
		expect(t, slow, 1, total)
		if n := m.called("Events") - asked; n < 40 {
			t.Errorf("%d events took %d questions: too many of them are kept in memory", total, n)
		}
	})
}

// What was deleted before the hub could read it is gone for those who listen,
// too: they do not get something else in its place.
func TestHub_GoneMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		h := startHub(t, m)
		s := subscribe(t, h, 0)
		m.happen(100)
		expect(t, s, 1, 100)
		m.set(func() { m.fail["Events"] = errAway })
		m.happen(100)
		m.set(func() { m.pruned, m.fail["Events"] = 140, nil })
		time.Sleep(time.Second)
		if got, err := s.Next(t.Context()); !errors.Is(err, events.ErrGone) {
			t.Errorf("Next = %v, %v; want ErrGone", got, err)
		}
		expect(t, subscribe(t, h, 140), 141, 200)
	})
}

func TestHub_Gone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.happen(100)
		h := startHub(t, m)
		early := subscribe(t, h, 10)
		m.set(func() { m.pruned = 50 })
		if _, err := h.Subscribe(t.Context(), 49); !errors.Is(err, events.ErrGone) {
			t.Errorf("Subscribe(49) = %v; event 50 is gone", err)
		}
		if got, err := early.Next(t.Context()); !errors.Is(err, events.ErrGone) {
			t.Errorf("Next after 10 = %v, %v", got, err)
		}
		expect(t, subscribe(t, h, 50), 51, 100)
		m.set(func() { m.pruned = 100 })
		subscribe(t, h, 100)
		subscribe(t, h, -1)
		if _, err := h.Subscribe(t.Context(), 99); !errors.Is(err, events.ErrGone) {
			t.Errorf("Subscribe(99) = %v", err)
		}
	})
}

// A number that another process handed out a moment ago is known here too; one
// that nobody handed out is refused.
func TestHub_Future(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.happen(10)
		h := startHub(t, m)
		subscribe(t, h, -1)
		m.happen(5)
		s := subscribe(t, h, 15)
		if _, err := h.Subscribe(t.Context(), 16); !errors.Is(err, events.ErrFuture) {
			t.Errorf("Subscribe(16) = %v", err)
		}
		m.happen(1)
		expect(t, s, 16, 16)
	})
}

func TestHub_Close(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		h := startHub(t, m)
		ended := make(chan error, 100)
		for range cap(ended) {
			s := subscribe(t, h, -1)
			go func() {
				_, err := s.Next(t.Context())
				ended <- err
			}()
		}
		synctest.Wait()
		h.Close()
		h.Close()
		synctest.Wait()
		for range cap(ended) {
			select {
			case err := <-ended:
				if !errors.Is(err, events.ErrClosed) {
					t.Errorf("Next = %v", err)
				}
			default:
				t.Fatal("someone still waits")
			}
		}
		if _, err := h.Subscribe(t.Context(), -1); !errors.Is(err, events.ErrClosed) {
			t.Errorf("Subscribe = %v", err)
		}
	})
}

// The database is asked once for everyone, at once when woken, and not at all
// when nobody listens.
func TestHub_AsksSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		h := startHub(t, m)
		time.Sleep(time.Minute)
		if n := m.called("Events"); n != 0 {
			t.Errorf("nobody listens, and the database was asked %d times", n)
		}
		var all []*events.Subscription
		for range 100 {
			all = append(all, subscribe(t, h, 0))
		}
		if n := m.called("EventHead"); n != 1 {
			t.Errorf("100 subscriptions asked the database %d times", n)
		}
		time.Sleep(1100 * time.Millisecond) // not at a moment at which the hub looks by itself: that is every 200
		if n := m.called("Events"); n < 4 || n > 6 {
			t.Errorf("in a second the database was asked %d times", n)
		}
		m.happen(1)
		began := time.Now()
		h.Wake()
		expect(t, all[0], 1, 1)
		asked := m.called("Events")
		all = append(all, subscribe(t, h, -1)) // who comes now is no trouble for the others
		for _, s := range all[1:100] {
			expect(t, s, 1, 1)
		}
		if took := time.Since(began); took != 0 || m.called("Events") != asked {
			t.Errorf("once woken, it took %v and %d questions", took, m.called("Events")-asked)
		}
		for _, s := range all {
			s.Close()
			s.Close()
		}
		asked = m.called("Events")
		time.Sleep(time.Minute)
		if n := m.called("Events"); n != asked {
			t.Errorf("everyone left, and the database was asked %d times", n-asked)
		}
		// What happened meanwhile is no matter for whoever comes now.
		m.happen(100_000)
		s := subscribe(t, h, -1)
		m.happen(2)
		expect(t, s, 100_002, 100_003)
	})
}

// While the database is away everyone waits, and then goes on without a gap.
func TestHub_DatabaseAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.happen(10)
		h := startHub(t, m)
		s, past := subscribe(t, h, -1), subscribe(t, h, 0)
		m.set(func() { m.fail["Events"], m.fail["EventHead"] = errAway, errAway })
		m.happen(10)
		nothingMore(t, s)
		if _, err := past.Next(t.Context()); !errors.Is(err, errAway) {
			t.Errorf("Next in the past = %v", err)
		}
		if _, err := h.Subscribe(t.Context(), 3); !errors.Is(err, errAway) {
			t.Errorf("Subscribe = %v", err)
		}
		m.set(func() { m.fail["Events"], m.fail["EventHead"] = nil, nil })
		expect(t, s, 11, 20)
		expect(t, past, 1, 20)
		m.set(func() { m.delay = time.Hour }) // it hangs
		time.Sleep(time.Minute)
		m.set(func() { m.delay = 0 })
		m.happen(1)
		expect(t, s, 21, 21)
	})
}

// What was handed out never changes, however much comes after it.
func TestHub_SharesWhatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		h := startHub(t, m)
		s := subscribe(t, h, 0)
		var kept [][]beacon.Event
		for range 60 {
			m.happen(500)
			got, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, got)
		}
		next := int64(1)
		for _, some := range kept {
			for _, e := range some {
				if e.Seq != next {
					t.Fatalf("where %d was handed out is %d now", next, e.Seq)
				}
				next++
			}
		}
		if next < 1000 {
			t.Errorf("only %d events came", next)
		}
	})
}

// A listener is a number, and no goroutine.
func TestHub_ManyListeners(t *testing.T) {
	m := newMemory()
	h := startHub(t, m)
	before := runtime.NumGoroutine()
	for range 10_000 {
		subscribe(t, h, 0)
	}
	if after := runtime.NumGoroutine(); after > before+5 {
		t.Errorf("%d goroutines for 10,000 listeners", after-before)
	}
}

// Readers come and go at random places while events happen.
func TestHub_Random(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			m := newMemory()
			hubs := []*events.Hub{startHub(t, m), startHub(t, m)}
			var writing, reading sync.WaitGroup
			const total = 20_000
			writing.Go(func() {
				for left := total; left > 0; {
					some := min(left, 1+random.IntN(1500))
					m.happen(some)
					left -= some
					time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
				}
			})
			for reader := range uint64(8) {
				reading.Go(func() {
					random := rand.New(rand.NewPCG(seed, reader+100))
					place := int64(0)
					for place < total {
						s, err := hubs[random.IntN(2)].Subscribe(t.Context(), place)
						if err != nil {
							t.Errorf("seed %d: Subscribe(%d) = %v", seed, place, err)
							return
						}
						for range random.IntN(8) {
							ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(1000))*time.Millisecond)
							got, err := s.Next(ctx)
							cancel()
							if err != nil && !errors.Is(err, context.DeadlineExceeded) {
								t.Errorf("seed %d: Next = %v", seed, err)
							}
							for _, e := range got {
								if e.Seq != place+1 {
									t.Errorf("seed %d: event %d after %d", seed, e.Seq, place)
								}
								place = e.Seq
							}
						}
						s.Close()
						time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond)
					}
				})
			}
			writing.Wait()
			reading.Wait()
		})
	}
}
