package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// Journal is what this package needs of the journals of all nodes. Package store says what
// each method promises.
type Journal interface {
	Node() string
	AppendBeats(ctx context.Context, batch []byte) (seq int64, err error)
	JournalHeads(ctx context.Context) (map[string]int64, error)
	Journal(ctx context.Context, node string, after int64, limit int) ([]beacon.JournalRow, error)
	TrimJournal(ctx context.Context, l lease.Lease, node string, upTo int64) error
}

// Store is what it needs of the rest of the database.
type Store interface {
	EachRecord(ctx context.Context, fn func(hotspot beacon.HotspotID, day beacon.Day, data []byte) error) error
	Records(ctx context.Context, day beacon.Day, ids []beacon.HotspotID) (map[beacon.HotspotID][]byte, error)
	RecordsOf(ctx context.Context, hotspot beacon.HotspotID, from, to beacon.Day) ([]beacon.RecordRow, error)
	PutRecords(ctx context.Context, l lease.Lease, rows []beacon.RecordRow) error
	ForgetRecords(ctx context.Context, l lease.Lease, after beacon.Day) error

	ExtendSpan(ctx context.Context, from, to int64) error
	Spans(ctx context.Context, since int64) ([]beacon.ServiceSpan, error)

	// HotspotsChangedAfter returns the live hotspots whose last change was after a moment.
	HotspotsChangedAfter(ctx context.Context, at time.Time) ([]beacon.HotspotID, error)
	UpdateHotspot(ctx context.Context, id beacon.HotspotID, by beacon.Actor, kind beacon.ChangeKind,
		edit func(*beacon.Hotspot) (changed bool, err error)) (beacon.Hotspot, error)

	Announce(ctx context.Context, l lease.Lease, all []beacon.Transition) error
	EachStatus(ctx context.Context, fn func(hotspot beacon.HotspotID, online bool) error) error
}

// Events is the order of all events: package events.
type Events interface {
	// Step is called before events are appended. It appends those that they depend on,
	// such as that a hotspot was linked before it came online. If it fails, no event is
	// appended, and beacon.ErrTooEarly is no fault.
	Step(ctx context.Context, l lease.Lease) error
	Appended() // is called after
}

// Config is what New needs.
type Config struct {
	Journal Journal
	Store   Store
	Fleet   *fleet.Fleet

	Events Events

	// Lease returns the lease and reports whether this process holds it. The lease
	// holder folds and announces.
	Lease func() (lease.Lease, bool)

	// Clock tells the time. Nothing is decided after what is certain by it, and nothing
	// happened after the latest time of its witnesses.
	Clock *clock.Clock
	Log   *slog.Logger

	AppendTimeout time.Duration // how long a beat may wait for the database; 0: five seconds
}

// Telemetry receives beats and maintains what follows from them. Call Restore first,
// then Run and Take.
type Telemetry struct {
	Config
	batcher *batcher
	cursors cursors
	spans   spans

	refreshed beacon.Minute // the last Refresh; used by refresh only

	clockSeen clockSeen
	lateness  lateness

	folds   folds
	finals  finals
	foldDue chan struct{}

	suspicions suspicions
	folded     foldState // used by fold only

	decided beacon.Minute // up to where the last fold could decide minutes; used by fold only
	changed time.Time     // the newest change of a hotspot whose times may have to be set right; used by fold only

	restored atomic.Bool // startup is over

	unknown []beacon.HotspotID // have records, but were not in the fleet; used at startup only

	taken, refused atomic.Int64                          // beats since startup
	fell           atomic.Int64                          // those whose counters fell
	uncounted      [beacon.TooManyBoots + 1]atomic.Int64 // by reason

	watchFailed    time.Time // used by announce only
	announcedUnder int64     // token of the lease under which announced statuses were read; used by announce only
}

// New returns telemetry for a node.
func New(cfg Config) *Telemetry {
	return &Telemetry{
		Config:   cfg,
		batcher:  newBatcher(cmp.Or(cfg.AppendTimeout, appendTimeout)),
		cursors:  cursors{read: map[string]int64{}},
		folds:    folds{next: make(chan struct{})},
		foldDue:  make(chan struct{}, 1),
		lateness: lateness{warned: map[string]time.Time{}},
	}
}

// Take makes a heartbeat durable and then applies it. A repeated beat succeeds and
// changes nothing.
func (t *Telemetry) Take(ctx context.Context, hotspot *fleet.Hotspot, sent beacon.Heartbeat) (beacon.Taken, error) {
	raw, ok := id.Parse(beacon.HotspotPrefix, hotspot.ID())
	if !ok {
		return beacon.Taken{}, beacon.NoSuch("hotspot")
	}
	if err := t.awaitFold(ctx); err != nil {
		t.refused.Add(1)
		return beacon.Taken{}, err
	}
	now := t.noticeBack()
	beat := heartbeat.Beat{Hotspot: raw, At: now.UnixMicro(), Heartbeat: sent}
	why := t.Fleet.Judge(hotspot, &beat)
	if beat.Fell {
		t.fell.Add(1)
	}
	if why != beacon.Counted {
		t.uncounted[why].Add(1)
		return beacon.Taken{Status: hotspot.StatusAt(now), Why: why, Fell: beat.Fell}, nil
	}
	if err := t.batcher.take(hotspot, beat); err != nil {
		t.refused.Add(1)
		return beacon.Taken{}, err
	}
	t.taken.Add(1)
	return beacon.Taken{Status: hotspot.StatusAt(now), Fell: beat.Fell}, nil
}

// Fell returns how many heartbeats since startup had counters lower than before.
func (t *Telemetry) Fell() int64 { return t.fell.Load() }

// EachUncounted calls fn with each reason why beats do not count, and with a function
// that returns how many there were since startup.
func (t *Telemetry) EachUncounted(fn func(reason string, count func() int64)) {
	for _, why := range beacon.Uncounteds() {
		fn(why.String(), t.uncounted[why].Load)
	}
}

// RetryAfter returns after what time a device whose beat was refused should try again:
// soon enough to stay online, with a few more tries left, and not all at once.
func RetryAfter() time.Duration { return 10*time.Second + rand.N(10*time.Second) }

func overloaded(message string, cause error) error {
	return &beacon.Error{Kind: beacon.Overloaded, Message: message, RetryAfter: RetryAfter(), Err: cause}
}
