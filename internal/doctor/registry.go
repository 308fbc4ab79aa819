package doctor

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/store"
)

func settings(run *checkRun) error { return run.tell(run.x.Durability(run.ctx)) }

func storage(run *checkRun) error { return run.tell(run.x.Storage(run.ctx, run.opts.Quick)) }

// tell reports what the database found out about itself.
func (run *checkRun) tell(looked string, wrong []string, err error) error {
	run.lookedAt("%s", looked)
	for _, w := range wrong {
		run.wrong("", "%s", w)
	}
	return err
}

func schema(run *checkRun) error {
	s, err := run.x.Schema(run.ctx)
	if err != nil {
		return err
	}
	run.schema = s
	run.lookedAt("version %d; %d columns, keys and indexes", s.Version, s.Lines)
	if s.Version < s.Known {
		run.lookedAt("version %d of %d, migrated when a server opens it; %d columns, keys and indexes", s.Version, s.Known, s.Lines)
	}
	for _, line := range s.Missing {
		run.wrong("", "there is no %s", line)
	}
	for _, what := range s.Foreign {
		run.wrong("", "%s is not made by beacon, and may change or hide rows: find out who made it, and drop it", what)
	}
	return nil
}

// hotspots reads every row and does not rely on the indexes for uniqueness. It keeps an
// eight-byte hash of each id and MAC address: 8 MB each for a million.
func hotspots(run *checkRun) error {
	var ids, macs []uint64
	seed := maphash.MakeSeed()
	live := 0
	err := run.snapshot(func(s store.Snapshot) error {
		err := s.EachHotspot(run.ctx, func(h beacon.Hotspot, bad error) error {
			run.row()
			ids = append(ids, maphash.String(seed, string(h.ID)))
			if !h.Deleted() {
				live++
			}
			run.hotspot(h, bad)
			return nil
		})
		if err != nil {
			return err
		}
		if err := s.EachMAC(run.ctx, func(m store.TakenMAC) error {
			canonical := m.MAC.Canonical()
			macs = append(macs, maphash.String(seed, canonical))
			switch {
			case m.Deleted:
				run.wrong(string(m.Hotspot), "is deleted but still holds its MAC address")
			case m.Taken != canonical:
				run.wrong(string(m.Hotspot), "its MAC address differs from the one in the index")
			}
			return nil
		}); err != nil {
			return err
		}
		return run.twice(s, seed, repeated(ids), repeated(macs))
	})
	run.lookedAt("%d hotspots, %d of them live, and %d MAC addresses", len(ids), live, len(macs))
	return err
}

// twice reports the hotspots that share an id or a MAC address with another.
func (run *checkRun) twice(s store.Snapshot, seed maphash.Seed, ids, macs map[uint64]bool) error {
	if len(ids) == 0 && len(macs) == 0 {
		return nil
	}
	return s.EachMAC(run.ctx, func(m store.TakenMAC) error {
		if ids[maphash.String(seed, string(m.Hotspot))] {
			run.wrong(string(m.Hotspot), "appears twice")
		}
		if macs[maphash.String(seed, m.MAC.Canonical())] {
			run.wrong(string(m.Hotspot), "its MAC address belongs to another hotspot too")
		}
		return nil
	})
}

// repeated returns the numbers that occur more than once. It sorts all.
func repeated(all []uint64) map[uint64]bool {
	slices.Sort(all)
	found := map[uint64]bool{}
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			found[all[i]] = true
		}
	}
	return found
}

// maxVersion is more than any hotspot has been changed.
const maxVersion = 1 << 20

// hotspot checks one row.
func (run *checkRun) hotspot(h beacon.Hotspot, bad error) {
	switch damaged := errors.Is(bad, store.ErrSeal); {
	case bad != nil && !damaged:
		run.wrong(string(h.ID), "cannot be read: %v", bad)
	case !id.Valid(beacon.HotspotPrefix, string(h.ID)):
		run.wrong(fmt.Sprintf("%.60q", h.ID), "is not a hotspot id")
	case !id.Valid(beacon.UserPrefix, string(h.Operator)):
		run.wrong(string(h.ID), "has %.60q as its operator", h.Operator)
	case !h.Type.Valid():
		run.wrong(string(h.ID), "has an unknown type")
	case !h.Location.Point.Valid():
		run.wrong(string(h.ID), "has a location that is not on Earth")
	case h.Device.MAC.Canonical() == "":
		run.wrong(string(h.ID), "has no MAC address")
	case named(h) != nil:
		run.wrong(string(h.ID), "%v", named(h))
	case h.Settings.MaxConnections < 1 || !(h.Settings.BandwidthLimitMbps > 0) || math.IsInf(h.Settings.BandwidthLimitMbps, 0):
		run.wrong(string(h.ID), "has settings that are not valid")
	case h.Version < 1 || h.Version > maxVersion:
		run.wrong(string(h.ID), "has version %d", h.Version)
	case h.CreatedAt.IsZero() || h.UpdatedAt.Before(h.CreatedAt) || !h.DeletedAt.IsZero() && h.DeletedAt.Before(h.CreatedAt):
		run.wrong(string(h.ID), "was changed or deleted before it was created")
	case !h.Device.LinkedAt.IsZero() && h.Device.KeyHash == [32]byte{} && !h.Deleted():
		run.wrong(string(h.ID), "has a device without a key")
	case damaged: // nothing more precise is known
		run.wrong(string(h.ID), "%v", bad)
	}
}

func named(h beacon.Hotspot) error {
	if clean, err := beacon.CleanName(h.Name); err != nil || clean != h.Name {
		return fmt.Errorf("has a name that is not valid: %v", err)
	}
	if err := beacon.CheckSSID(h.Device.SSID); err != nil {
		return fmt.Errorf("has an SSID that is not valid: %w", err)
	}
	return nil
}

func keys(run *checkRun) error {
	seen := map[[32]byte]beacon.KeyID{}
	err := run.snapshot(func(s store.Snapshot) error {
		return s.EachKey(run.ctx, func(k beacon.Key, bad error) error {
			run.row()
			run.key(k, bad)
			if other, twice := seen[k.SecretHash]; twice && (bad == nil || errors.Is(bad, store.ErrSeal)) {
				run.wrong(string(k.ID), "has the same secret as %s", other)
			}
			seen[k.SecretHash] = k.ID
			return nil
		})
	})
	run.lookedAt("%d keys", run.rows.Load())
	return err
}

func (run *checkRun) key(k beacon.Key, bad error) {
	switch damaged := errors.Is(bad, store.ErrSeal); {
	case bad != nil && !damaged:
		run.wrong(string(k.ID), "cannot be read: %v", bad)
	case !id.Valid(beacon.KeyPrefix, string(k.ID)) || !id.Valid(beacon.UserPrefix, string(k.User)):
		run.wrong(fmt.Sprintf("%.60q", k.ID), "is not a key id, or %.60q is not a user id", k.User)
	case slices.ContainsFunc(k.Scopes, func(s beacon.Scope) bool { return !s.Valid() }):
		run.wrong(string(k.ID), "has unknown scopes: %v", k.Scopes)
	case k.CreatedAt.IsZero(): // it may be after the key was revoked, if a clock was ahead
		run.wrong(string(k.ID), "was never created")
	case damaged:
		run.wrong(string(k.ID), "%v", bad)
	}
}

// references checks that the rows which others refer to exist.
func references(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		kinds, err := s.Strays(run.ctx, func(id, what string) error {
			run.wrong(id, "%s", what)
			return nil
		})
		run.lookedAt("%d kinds of references", kinds)
		return err
	})
}

// leaseAtMost is far longer than any lease lasts.
const leaseAtMost = 24 * time.Hour

func leases(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		all, err := s.Leases(run.ctx)
		if err != nil {
			return err
		}
		for _, held := range all {
			switch {
			case held.Token < 1 || held.Holder == "":
				run.wrong(held.Name, "token %d is held by %q", held.Token, held.Holder)
			case held.Until.After(run.opts.Now.Add(leaseAtMost)):
				run.wrong(held.Name, "is held by %s until %s, and no other server can take over before", held.Holder, beacon.FormatTime(held.Until))
			}
		}
		spans := 0
		err = s.EachSpan(run.ctx, func(node string, span beacon.ServiceSpan) error {
			spans++
			if span.To < span.From || span.From < 0 {
				run.wrong(node, "was up from minute %d to minute %d", span.From, span.To)
			}
			return nil
		})
		run.lookedAt("%d leases, %d times of service", len(all), spans)
		return err
	})
}

// clocks checks that no day is closed that has not come, by what the database itself
// knows about the time.
func clocks(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		certain, known, err := s.Certain(run.ctx)
		if err != nil || !known {
			run.lookedAt("no server has run by a real clock")
			return err
		}
		run.lookedAt("what is closed by %s", beacon.FormatTime(certain))
		days, err := s.Closings(run.ctx)
		if err != nil || len(days) == 0 {
			return err
		}
		if through := days[len(days)-1].Through(); through >= beacon.DayOf(certain) {
			run.wrong(through.String(), "is closed, and has not come: it is %s; a clock was ahead", beacon.FormatTime(certain))
		}
		return nil
	})
}
