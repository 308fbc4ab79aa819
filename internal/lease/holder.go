package lease

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Store records which process holds a lease.
type Store interface {
	// TakeLease takes the lease until now+ttl if it is free, if its end is not after
	// now, or if the holder already has it, and reports whether it did. A renewal keeps
	// the token, a takeover raises it. A negative ttl gives the lease back: its end has
	// passed. With false, it returns the lease that is in the way.
	TakeLease(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (Lease, bool, error)
}

// TTL is how long a lease is valid after its last renewal, and so the least time for
// which a job rests when its holder crashed.
const TTL = 6 * time.Second

const (
	// renewal leaves room for two failures in a row.
	renewal = TTL / 3

	// lifeless is how long a lease may go without renewal before it counts as expired,
	// whatever its end says.
	lifeless = 2 * TTL

	// releaseTimeout is short: a process that stops does not wait for its database.
	releaseTimeout = time.Second
)

// Holder takes a lease when it is free, and keeps it while the process lives.
//
// It uses real time, never the data's clock. That one may be simulated: if it runs a
// thousand times faster, or stands still, a lease would end before it can be renewed,
// or never. Within the process the monotonic clock counts. What is stored is the time
// of day, which other machines compare with theirs. If their clocks differ, the lease
// drifts to the fastest clock and stays there. A process that dies while its clock is
// far ahead leaves an end that is far away: the others see that the lease is not
// renewed any more, and do not wait for that end.
type Holder struct {
	store        Store
	name, holder string
	log          *slog.Logger

	mu      sync.Mutex
	term    *term
	changed chan struct{} // closed when a term begins

	// Used by Run only: the lease in our way, and since when it is unchanged.
	rival      Lease
	rivalSince time.Time
}

// term is an unbroken time in which the lease was held.
type term struct {
	lease   Lease
	renewed time.Time // when the last successful renewal began
	expiry  *time.Timer
	ctx     context.Context
	end     context.CancelFunc
}

// NewHolder returns a Holder for a lease; Run takes it. The holder must be a name that
// no other process has.
func NewHolder(store Store, name, holder string, log *slog.Logger) *Holder {
	return &Holder{store: store, name: name, holder: holder, log: log, changed: make(chan struct{})}
}

// Held returns the lease while it cannot have expired: its time counts from the moment
// at which the last renewal began.
func (k *Holder) Held() (Lease, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.term == nil || time.Since(k.term.renewed) >= TTL {
		return Lease{}, false
	}
	return k.term.lease, true
}

// While runs a job whenever the lease is held, until ctx ends. The context of the job
// ends when the lease is lost. A job that returns earlier is not started again until
// the lease is taken again.
func (k *Holder) While(ctx context.Context, job func(context.Context, Lease)) {
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

// next waits for a term. It returns nil if ctx ended.
func (k *Holder) next(ctx context.Context) *term {
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

// Run takes the lease and renews it until ctx ends, then gives it back, so that another
// process can take it at once.
func (k *Holder) Run(ctx context.Context) {
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

// try takes or renews the lease. It does not rely on what it cannot learn in time: a
// renewal without a response may have succeeded, and the next one finds out.
func (k *Holder) try(ctx context.Context) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, renewal)
	defer cancel()
	got, taken, err := k.store.TakeLease(ctx, k.name, k.holder, k.claimTime(began), TTL)
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
		k.lose(always, "another node has taken it over")
	}
}

// claimTime returns the time to claim the lease at: now, or the stated end of a lease that
// is no longer renewed.
func (k *Holder) claimTime(now time.Time) time.Time {
	if k.rival != (Lease{}) && now.Sub(k.rivalSince) >= lifeless && k.rival.Until.After(now) {
		return k.rival.Until
	}
	return now
}

// keep records that the lease is ours from began on.
func (k *Holder) keep(got Lease, began time.Time) {
	if time.Since(began) >= TTL {
		return // the response came too late to be of use
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
	k.lose(always, "it was held by another node in between")
	k.begin(got, began)
	k.log.Info("this server now holds the lease", "lease", k.name, "token", got.Token)
}

func (k *Holder) begin(got Lease, began time.Time) {
	held := &term{lease: got, renewed: began}
	held.ctx, held.end = context.WithCancel(context.Background())
	k.mu.Lock()
	defer k.mu.Unlock()
	held.expiry = time.AfterFunc(time.Until(began.Add(TTL)), func() { k.expire(held) })
	k.term = held
	close(k.changed)
	k.changed = make(chan struct{})
}

// expire ends a term, unless it was renewed while the timer fired.
func (k *Holder) expire(held *term) {
	overdue := func(t *term) bool { return t == held && time.Since(t.renewed) >= TTL }
	k.lose(overdue, "it could not be renewed in time")
}

// lose ends the current term if cond holds for it.
func (k *Holder) lose(cond func(*term) bool, why string) {
	if k.finish(cond) {
		k.log.Warn("this server has lost the lease", "lease", k.name, "why", why)
	}
}

func always(*term) bool { return true }

// finish ends the current term if cond holds for it, and reports whether it did.
func (k *Holder) finish(cond func(*term) bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.term == nil || !cond(k.term) {
		return false
	}
	k.term.expiry.Stop()
	k.term.end()
	k.term = nil
	return true
}

// release gives the lease back. If that fails, it expires.
func (k *Holder) release(ctx context.Context) {
	if !k.finish(always) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	if _, _, err := k.store.TakeLease(ctx, k.name, k.holder, time.Now(), -TTL); err != nil {
		k.log.Warn("the lease could not be released; it will expire", "lease", k.name, "after", TTL, "err", err)
	}
}
