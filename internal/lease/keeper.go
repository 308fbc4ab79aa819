package lease

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Store writes down who holds a lease.
type Store interface {
	// TakeLease takes the lease until now+ttl when it is free, when its end is
	// not after now, or when it is the holder's already, and reports whether it
	// did. A renewal keeps the token, a take-over raises it. A negative ttl gives
	// the lease back: its end has passed. The lease that is in the way is
	// answered with false.
	TakeLease(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (Lease, bool, error)
}

// TTL is how long a lease is good for after it was last renewed, and so how long
// a job rests, at the least, when its holder crashed.
const TTL = 6 * time.Second

const (
	// renewal leaves room for two failures in a row.
	renewal = TTL / 3

	// lifeless is how long a lease may stand there without being renewed before
	// it counts as expired, whatever its end says.
	lifeless = 2 * TTL

	farewell = time.Second
)

// Keeper takes a lease when it is free, and keeps it while the process lives.
//
// It goes by real time, never by the clock of the data: that one may be
// simulated, and with a clock that runs a thousand times faster, or stands, a
// lease would end before it can be renewed, or never. Within the process the
// monotonic clock counts. What is written down is the time of day, which other
// machines compare with theirs. When these differ, the lease drifts to the
// fastest clock and stays there. When a process dies while its clock is far
// ahead, it leaves an end that is far away: the others see that the lease is not
// renewed any more, and do not wait for that.
type Keeper struct {
	store        Store
	name, holder string
	log          *slog.Logger

	mu      sync.Mutex
	term    *term
	changed chan struct{} // closed when a term begins

	// Only Run uses these: the lease in our way, and since when it is unchanged.
	rival      Lease
	rivalSince time.Time
}

// term is a time without a break in which the lease was held.
type term struct {
	lease   Lease
	renewed time.Time // when the last renewal that went well began
	expiry  *time.Timer
	ctx     context.Context
	end     context.CancelFunc
}

// NewKeeper prepares to take a lease; Run does. The holder must be a name that
// no other process has.
func NewKeeper(store Store, name, holder string, log *slog.Logger) *Keeper {
	return &Keeper{store: store, name: name, holder: holder, log: log, changed: make(chan struct{})}
}

// Held gives the lease while it cannot have expired: its time is counted from
// the moment at which the last renewal began.
func (k *Keeper) Held() (Lease, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.term == nil || time.Since(k.term.renewed) >= TTL {
		return Lease{}, false
	}
	return k.term.lease, true
}

// While runs a job whenever the lease is held, until ctx ends. The context of
// the job ends when the lease is lost. A job that returns earlier is not begun
// again before the lease is taken anew.
func (k *Keeper) While(ctx context.Context, job func(context.Context, Lease)) {
	for {
		held := k.next(ctx)
		if held == nil {
			return
		}
		during, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(held.ctx, cancel)
		job(during, held.lease)
		stop()
		cancel()
		select {
		case <-held.ctx.Done():
		case <-ctx.Done():
			return
		}
	}
}

// next waits for a term; it is nil when ctx ended.
func (k *Keeper) next(ctx context.Context) *term {
	for ctx.Err() == nil {
		k.mu.Lock()
		held, changed := k.term, k.changed
		k.mu.Unlock()
		if held != nil {
			return held
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return nil
}

// Run takes the lease and renews it until ctx ends, then gives it back, so that
// another can take it at once.
func (k *Keeper) Run(ctx context.Context) {
	ticker := time.NewTicker(renewal)
	defer ticker.Stop()
	for ctx.Err() == nil {
		k.try(ctx)
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	k.release(context.WithoutCancel(ctx))
}

// try takes or renews the lease. What it cannot learn in time it does not count
// on: a renewal without an answer may have gone well, and the next one tells.
func (k *Keeper) try(ctx context.Context) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, renewal)
	defer cancel()
	got, taken, err := k.store.TakeLease(ctx, k.name, k.holder, k.today(began), TTL)
	switch {
	case err != nil:
		k.log.Debug("the lease could not be renewed", "lease", k.name, "err", err)
	case taken:
		k.rival = Lease{}
		k.keep(got, began)
	default:
		if got != k.rival {
			k.rival, k.rivalSince = got, began
		}
		k.lose("another node has taken it over")
	}
}

// today is the time to take the lease at: now, or for a lease that nobody
// renews any more, the end that it claims to have.
func (k *Keeper) today(now time.Time) time.Time {
	if k.rival != (Lease{}) && now.Sub(k.rivalSince) >= lifeless && k.rival.Until.After(now) {
		return k.rival.Until
	}
	return now
}

// keep notes that the lease is ours from began on.
func (k *Keeper) keep(got Lease, began time.Time) {
	if time.Since(began) >= TTL {
		return // the answer came too late to be of use
	}
	k.mu.Lock()
	same := k.term != nil && k.term.lease.Token == got.Token
	if same {
		k.term.renewed = began
		k.term.expiry.Reset(time.Until(began.Add(TTL)))
	}
	k.mu.Unlock()
	if same {
		return
	}
	k.lose("it was held by another node in between")
	k.begin(got, began)
	k.log.Info("this node holds the lease now", "lease", k.name, "token", got.Token)
}

func (k *Keeper) begin(got Lease, began time.Time) {
	held := &term{lease: got, renewed: began}
	held.ctx, held.end = context.WithCancel(context.Background())
	k.mu.Lock()
	defer k.mu.Unlock()
	held.expiry = time.AfterFunc(time.Until(began.Add(TTL)), func() { k.expire(held) })
	k.term = held
	close(k.changed)
	k.changed = make(chan struct{})
}

// expire ends a term, unless it was renewed while the timer went off.
func (k *Keeper) expire(held *term) {
	overdue := func(t *term) bool { return t == held && time.Since(t.renewed) >= TTL }
	if k.finish(overdue) {
		k.warn("it could not be renewed in time")
	}
}

// lose ends the term, if there is one.
func (k *Keeper) lose(why string) {
	if k.finish(always) {
		k.warn(why)
	}
}

func (k *Keeper) warn(why string) {
	k.log.Warn("this node has lost the lease", "lease", k.name, "why", why)
}

func always(*term) bool { return true }

// finish ends the term if there is one and it is meant.
func (k *Keeper) finish(meant func(*term) bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.term == nil || !meant(k.term) {
		return false
	}
	k.term.expiry.Stop()
	k.term.end()
	k.term = nil
	return true
}

// release gives the lease back. If that fails, it expires.
func (k *Keeper) release(ctx context.Context) {
	if !k.finish(always) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	if _, _, err := k.store.TakeLease(ctx, k.name, k.holder, time.Now(), -TTL); err != nil {
		k.log.Warn("the lease could not be given back; it expires", "lease", k.name, "after", TTL, "err", err)
	}
}
