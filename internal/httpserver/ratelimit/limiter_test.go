package ratelimit_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
)

func spend(l *ratelimit.Limiter[string], key string, now time.Time, times int) (allowed int) {
	for range times {
		if l.Decide(key, now).Allowed {
			allowed++
		}
	}
	return allowed
}

func TestLimiter_KeysApart(t *testing.T) {
	l := ratelimit.New[string](three, 1000, epoch)
	for _, key := range []string{"a", "b", ""} {
		if got := spend(l, key, epoch, 10); got != 3 {
			t.Errorf("%q: %d allowed; want 3", key, got)
		}
		if d := l.Peek(key, epoch); d.Allowed || d.RetryAfter != time.Second {
			t.Errorf("%q: peek %+v after all was spent", key, d)
		}
	}
	if d := l.Peek("fresh", epoch); !d.Allowed || d.Remaining != 3 || d.Reset != 0 {
		t.Errorf("fresh: peek %+v", d)
	}
	if got := spend(l, "a", epoch.Add(2*time.Second), 10); got != 2 {
		t.Errorf("%d allowed two seconds later; want 2", got)
	}
}

func TestLimiter_Off(t *testing.T) {
	l := ratelimit.New[string](ratelimit.Limit{}, 1000, epoch)
	if got := spend(l, "a", epoch, 10_000); got != 10_000 || !l.Peek("a", epoch).Allowed {
		t.Errorf("%d of 10,000 allowed without a limit", got)
	}
}

// A limiter with room is nothing but a Limit and a map. When time goes back, that is so
// while no full bucket was forgotten: a set has room for eight.
func TestLimiter_AgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := ratelimit.Limit{Every: time.Second, Burst: rapid.IntRange(1, 4).Draw(t, "burst")}
		l := ratelimit.New[int](limit, 100_000, epoch)
		fulls := map[int]time.Time{}
		now := epoch
		back, lastKey := 0, 300
		if rapid.Bool().Draw(t, "time goes back") {
			back, lastKey = 200, 7
		}
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-back, 700).Draw(t, "wait")) * time.Millisecond)
			key := rapid.IntRange(0, lastKey).Draw(t, "key")
			full, ok := fulls[key]
			if !ok {
				full = now
			}
			got, want := l.Decide(key, now), limit.Spend(now, full, 1)
			fulls[key] = want.Full
			if got != want {
				t.Fatalf("key %d at %v: got %+v; want %+v", key, now, got, want)
			}
		}
	})
}

// The clock goes back an hour. Nobody is locked out for longer than it takes
// for one request to come back, not even one who only peeks; and nobody gets
// more than that.
func TestLimiter_ClockGoesBack(t *testing.T) {
	l := ratelimit.New[string](three, 1000, epoch)
	spend(l, "spent", epoch, 3)
	spend(l, "peeking", epoch, 3)
	spend(l, "at ease", epoch.Add(-10*time.Minute), 1)
	back := epoch.Add(-time.Hour)
	for _, key := range []string{"spent", "at ease"} {
		if got := spend(l, key, back, 10); got != 0 {
			t.Errorf("%s: %d allowed by setting the clock back", key, got)
		}
		if got := spend(l, key, back.Add(time.Second), 10); got != 1 {
			t.Errorf("%s: %d allowed a second later; want 1", key, got)
		}
	}
	l.Peek("peeking", back)
	if d := l.Peek("peeking", back.Add(2*time.Second)); !d.Allowed || d.Remaining != 2 {
		t.Errorf("two seconds after the clock went back: %+v; want two allowed", d)
	}
}

// Requests that come at once are not decided in the order of their times, so the time
// goes back a little now and then. Those who have spent all are not forgotten for it, for
// as long as there is room for more keys; and when there is none, not before the others.
func TestLimiter_TimesOutOfOrder(t *testing.T) {
	const spent, others = 1000, 10_000
	little := epoch.Add(-time.Millisecond)
	for _, tc := range []struct{ capacity, spent int }{{100_000, spent}, {1, 1}} {
		l := ratelimit.New[string](three, tc.capacity, epoch)
		for i := range tc.spent {
			spend(l, fmt.Sprint("spent", i), epoch, 3)
		}
		for i := range others {
			l.Decide(fmt.Sprint("other", i), little)
		}
		for i := range tc.spent {
			if d := l.Peek(fmt.Sprint("spent", i), little); d.Allowed {
				t.Fatalf("with room for %d keys, key %d of %d may go on: %+v", tc.capacity, i, tc.spent, d)
			}
		}
	}
}

// After the clock went back a table full of what was before leaves room for
// those who come now.
func TestLimiter_ClockGoesBackWhenCrowded(t *testing.T) {
	l := ratelimit.New[string](three, 1000, epoch)
	for i := range 20_000 {
		l.Decide(fmt.Sprint("old", i), epoch)
	}
	back := epoch.Add(-time.Hour)
	for i := range 500 {
		spend(l, fmt.Sprint("new", i), back, 3)
	}
	forgotten := 0
	for i := range 500 {
		forgotten += spend(l, fmt.Sprint("new", i), back, 1)
	}
	if forgotten > 25 {
		t.Errorf("%d of 500 were forgotten", forgotten)
	}
}

// One who is held back floods the limiter with fresh keys, many times its
// capacity. None of that sets the old key free.
func TestLimiter_FloodFreesNobody(t *testing.T) {
	l := ratelimit.New[string](ratelimit.Limit{Every: time.Minute, Burst: 3}, 1000, epoch)
	for i := range 200 {
		spend(l, fmt.Sprint("held", i), epoch, 3)
	}
	for i := range 200_000 {
		l.Decide(fmt.Sprint("fresh", i), epoch.Add(time.Second))
	}
	freed := 0
	for i := range 200 {
		freed += spend(l, fmt.Sprint("held", i), epoch.Add(2*time.Second), 1)
	}
	if freed > 0 {
		t.Errorf("%d of 200 were set free", freed)
	}
}

func TestLimiter_HoldsItsCapacity(t *testing.T) {
	const keys = 10_000
	l := ratelimit.New[int](ratelimit.Limit{Every: time.Minute, Burst: 1}, keys, epoch)
	for i := range keys {
		l.Decide(i, epoch)
	}
	forgotten := 0
	for i := range keys {
		if l.Decide(i, epoch).Allowed {
			forgotten++
		}
	}
	if forgotten > keys/50 {
		t.Errorf("%d of %d keys were forgotten", forgotten, keys)
	}
}

func address(i uint32) netip.Addr {
	var raw [16]byte
	binary.BigEndian.PutUint32(raw[:], 0x20010db8)
	binary.BigEndian.PutUint32(raw[4:], i)
	return netip.AddrFrom16(raw)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestLimiter_MemoryStaysFlat(t *testing.T) {
	const million = 1_000_000
	before := heap()
	l := ratelimit.New[netip.Prefix](ratelimit.Limit{Every: time.Hour, Burst: 100}, million, epoch)
	if idle := heap() - before; idle > 100_000 {
		t.Errorf("%d bytes before the first key", idle)
	}
	for i := range uint32(million) {
		l.Decide(ratelimit.AddrKey(address(i)), epoch)
	}
	full := heap() - before
	for i := range uint32(million) {
		l.Decide(ratelimit.AddrKey(address(million+i)), epoch)
	}
	after := heap() - before
	runtime.KeepAlive(l)
	t.Logf("%d bytes with a million addresses, %d after two million", full, after)
	if full < 16*million {
		t.Errorf("a million addresses take %d bytes: they cannot all be there", full)
	}
	if full > 65*million || after > full+million {
		t.Errorf("%d bytes with a million addresses, %d after two million; want at most 65 each, and no growth", full, after)
	}
}

// A bucket in the past equals none: keys that come one after the other need no
// more memory than one, without anything being swept.
func TestLimiter_PastTakesNoMemory(t *testing.T) {
	before := heap()
	l := ratelimit.New[int](three, 1_000_000, epoch)
	for i := range 300_000 {
		l.Decide(i, epoch.Add(time.Duration(i)*time.Second))
	}
	grown := heap() - before
	runtime.KeepAlive(l)
	if grown > 100_000 {
		t.Errorf("%d bytes after 300,000 keys, of which one is not in the past", grown)
	}
}

func TestLimiter_Concurrent(t *testing.T) {
	l := ratelimit.New[int](ratelimit.Limit{Every: time.Hour, Burst: 50}, 1000, epoch)
	var allowed [8]atomic.Int64
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for i := range 800 {
				if l.Decide(i%8, epoch).Allowed {
					allowed[i%8].Add(1)
				}
				l.Peek(i, epoch)
			}
		})
	}
	clients.Wait()
	for key := range allowed {
		if got := allowed[key].Load(); got != 50 {
			t.Errorf("key %d: %d allowed; want 50", key, got)
		}
	}
}

func TestLimiter_AllocatesNothing(t *testing.T) {
	byName := ratelimit.New[string](three, 1000, epoch)
	byAddr := ratelimit.New[netip.Prefix](three, 1000, epoch)
	name, addr := "key_"+t.Name(), address(7)
	if n := testing.AllocsPerRun(100, func() {
		byName.Decide(name, epoch)
		byName.Peek(name, epoch)
		byAddr.Decide(ratelimit.AddrKey(addr), epoch)
	}); n != 0 {
		t.Errorf("%v allocations a decision; want none", n)
	}
}

func TestAddrKey(t *testing.T) {
	tests := []struct{ addr, want string }{
		{"192.0.2.7", "192.0.2.7/32"},
		{"::ffff:192.0.2.7", "192.0.2.7/32"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"2001:db8:1:2::", "2001:db8:1:2::/64"},
		{"2001:db8:1:3::", "2001:db8:1:3::/64"},
		{"fe80::1%eth0", "fe80::/64"},
		{"::1", "::/64"},
	}
	for _, tt := range tests {
		if got := ratelimit.AddrKey(netip.MustParseAddr(tt.addr)); got.String() != tt.want {
			t.Errorf("AddrKey(%s) = %s; want %s", tt.addr, got, tt.want)
		}
	}
	if got := ratelimit.AddrKey(netip.Addr{}); got != (netip.Prefix{}) {
		t.Errorf("the key of no address is %v", got)
	}
}

func BenchmarkLimiter(b *testing.B) {
	limit := ratelimit.Limit{Every: 10 * time.Millisecond, Burst: 200}
	b.Run("one key", func(b *testing.B) {
		l := ratelimit.New[string](limit, 1_000_000, epoch)
		b.ReportAllocs()
		for b.Loop() {
			l.Decide("key_01k0000000000000000000000", epoch)
		}
	})
	b.Run("a million addresses", func(b *testing.B) {
		l := ratelimit.New[netip.Prefix](limit, 1_000_000, epoch)
		b.ReportAllocs()
		i := uint32(0)
		for b.Loop() {
			i = (i + 7919) % 1_000_000
			l.Decide(ratelimit.AddrKey(address(i)), epoch)
		}
	})
	b.Run("parallel", func(b *testing.B) {
		l := ratelimit.New[uint32](limit, 1_000_000, epoch)
		var next atomic.Uint32
		b.RunParallel(func(pb *testing.PB) {
			key := next.Add(1) * 1000
			for pb.Next() {
				key++
				l.Decide(key%10_000, epoch)
			}
		})
	})
}
