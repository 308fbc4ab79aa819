// Package checkins takes what apps on phones report of hotspots: that one works, or not.
// A check-in is evidence if the phone was there: its request came from the address that
// the hotspot's device sends from. For that, servers note these addresses.
//
// Its invariant: a check-in is durable, with what it does to its hotspot, before CheckIn
// returns, unless its day already has as many as are kept.
package checkins

import (
	"context"
	"crypto/rand"
	"hash/maphash"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Store is what this package needs of a database. Package store says what each method
// promises.
type Store interface {
	Hotspot(ctx context.Context, id beacon.HotspotID) (beacon.Hotspot, error)
	CheckedInAt(ctx context.Context, install beacon.Install, since beacon.Day, except beacon.UserID) (operators int, err error)
	PutCheckIn(ctx context.Context, c beacon.CheckIn, by beacon.Actor, vouch func(h *beacon.Hotspot,
		evidence func(since beacon.Day) (installs, days int, err error)) (changed bool, err error)) (*beacon.Hotspot, error)
	PruneCheckIns(ctx context.Context, before beacon.Day, noted time.Time) error

	DeviceAddress(ctx context.Context, hotspot beacon.HotspotID) (beacon.DeviceAddress, error)
	PutAddresses(ctx context.Context, noted []beacon.DeviceAddress) error

	HashKey(ctx context.Context, name string, made [32]byte) ([32]byte, error)
}

// CheckIns implements the verbs. Call Start first.
type CheckIns struct {
	store Store
	fleet *fleet.Fleet
	now   func() time.Time
	log   *slog.Logger
	key   [32]byte     // of the hashes in the database
	seed  maphash.Seed // of those in memory

	mu               sync.Mutex                                // guards what follows
	noted            map[beacon.HotspotID]beacon.DeviceAddress // not written yet
	today, yesterday moves                                     // of the last day with any, and of the one before it
}

// New returns check-ins on a store.
func New(store Store, fleet *fleet.Fleet, now func() time.Time, log *slog.Logger) *CheckIns {
	return &CheckIns{store: store, fleet: fleet, now: now, log: log, seed: maphash.MakeSeed(), noted: map[beacon.HotspotID]beacon.DeviceAddress{}}
}

// Start reads the key that the hashes are made with, or makes it.
func (c *CheckIns) Start(ctx context.Context) (err error) {
	var made [32]byte
	_, _ = rand.Read(made[:]) // never fails
	c.key, err = c.store.HashKey(ctx, "checkins", made)
	return err
}

// Report is a check-in, and from where it was sent.
type Report struct {
	Hotspot beacon.HotspotID
	Form    beacon.CheckInForm
	From    netip.Prefix
}

// Outcome is the response to an app.
type Outcome struct {
	Hotspot beacon.HotspotID
	Day     beacon.Day
	Works   bool
	Why     beacon.NoEvidence // empty: it counts
}

var errNoHotspot = beacon.NoSuch("hotspot")

// CheckIn stores what an app reports.
func (c *CheckIns) CheckIn(ctx context.Context, p beacon.Principal, in Report) (Outcome, error) {
	token, works, measured, err := in.Form.Validate()
	if err != nil {
		return Outcome{}, err
	}
	if !id.Valid(beacon.HotspotPrefix, string(in.Hotspot)) {
		return Outcome{}, errNoHotspot
	}
	h, err := c.store.Hotspot(ctx, in.Hotspot)
	if err != nil {
		return Outcome{}, beacon.WordNoSuch(err, "hotspot")
	}
	now := c.now().UTC().Truncate(time.Millisecond)
	row := beacon.CheckIn{
		Hotspot: h.ID, Operator: h.Operator, User: p.User, Install: c.hashInstall(token), At: now, Works: works, Measured: measured,
	}
	why, err := c.judge(ctx, &h, &row, in.From)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{h.ID, beacon.DayOf(now), works, why}
	if err := p.Once.Keep(out); err != nil {
		return Outcome{}, err
	}
	vouched, err := c.store.PutCheckIn(ctx, row, p.Actor(), voucher(&h, &row))
	if err == nil && vouched != nil {
		err = c.fleet.Apply(*vouched)
	}
	return out, err
}

// judge decides whether a check-in is evidence.
func (c *CheckIns) judge(ctx context.Context, h *beacon.Hotspot, row *beacon.CheckIn, from netip.Prefix) (beacon.NoEvidence, error) {
	if h.Owners().Ever(row.User) {
		return beacon.OwnHotspot, nil
	}
	if hotspot, ok := c.fleet.Find(h.ID); !ok || hotspot.StatusAt(row.At) != beacon.Online {
		return beacon.NotOnline, nil
	}
	device, err := c.addressOf(ctx, h.ID)
	if err != nil {
		return "", err
	}
	if !from.IsValid() || device.Hash != c.hashAddress(from) || row.At.Sub(device.At) > beacon.AddressLasts {
		return beacon.Elsewhere, nil
	}
	today := beacon.DayOf(row.At)
	known, err := c.known(ctx, h, row, today)
	if err != nil || !known {
		return beacon.NewInstall, err
	}
	row.Evidence = true
	return "", nil
}

// known reports whether the install has checked in at hotspots of enough other operators,
// and sets row.Visited: whether this check-in helps to make it known elsewhere. The app
// learns both, so neither may reveal who runs a hidden home (decision D215). A check-in at
// a hidden home never helps elsewhere. To be known at a hidden home takes one operator more,
// because the home's own operator is counted too.
func (c *CheckIns) known(ctx context.Context, h *beacon.Hotspot, row *beacon.CheckIn, today beacon.Day) (bool, error) {
	except, least := h.Operator, beacon.VouchedAtOthers
	if c.fleet.Blur().Hides(h.Type) {
		except, least = "", least+1
	} else {
		row.Visited = h.PlaceOn(today).Visited(today)
	}
	operators, err := c.store.CheckedInAt(ctx, row.Install, today-beacon.CheckInDays+1, except)
	return operators >= least, err
}

// voucher returns what extends the proof of the hotspot's place, if the check-in can.
func voucher(h *beacon.Hotspot, row *beacon.CheckIn) func(*beacon.Hotspot, func(beacon.Day) (int, int, error)) (bool, error) {
	if _, due := h.EvidenceSince(row.At); !due || !row.Evidence || !row.Works {
		return nil
	}
	return func(h *beacon.Hotspot, evidence func(beacon.Day) (int, int, error)) (bool, error) {
		since, due := h.EvidenceSince(row.At)
		if !due {
			return false, nil
		}
		installs, days, err := evidence(since)
		if err != nil || !h.Vouch(installs, days, row.At) {
			return false, err
		}
		h.Touch(row.At)
		return true, nil
	}
}

// Prune deletes what is too old at a moment to matter.
func (c *CheckIns) Prune(ctx context.Context, now time.Time) error {
	return c.store.PruneCheckIns(ctx, beacon.DayOf(now)-beacon.CheckInDays+1, now.Add(-beacon.AddressLasts))
}
