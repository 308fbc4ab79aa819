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

func settings(l *look) error {
	looked, wrong, err := l.x.Durability(l.ctx)
	l.at("%s", looked)
	for _, w := range wrong {
		l.wrong("", "%s", w)
	}
	return err
}

func storage(l *look) error {
	looked, wrong, err := l.x.Storage(l.ctx, l.opts.Quick)
	l.at("%s", looked)
	for _, w := range wrong {
		l.wrong("", "%s", w)
	}
	return err
}

func schema(l *look) error {
	s, err := l.x.Schema(l.ctx)
	if err != nil {
		return err
	}
	l.version = s.Version
	l.at("version %d; %d columns, keys and indexes", s.Version, s.Lines)
	if s.Version < s.Known {
		l.at("version %d of %d, migrated when a server opens it; %d columns, keys and indexes", s.Version, s.Known, s.Lines)
	}
	for _, line := range s.Missing {
		l.wrong("", "there is no %s", line)
	}
	return nil
}

// hotspots reads every row and does not rely on the indexes for uniqueness. It keeps an
// eight-byte hash of each id and MAC address: 8 MB each for a million.
func hotspots(l *look) error {
	var ids, macs []uint64
	seed := maphash.MakeSeed()
	live := 0
	err := l.snapshot(func(s store.Snapshot) error {
		err := s.EachHotspot(l.ctx, func(h beacon.Hotspot, bad error) error {
			l.row()
			ids = append(ids, maphash.String(seed, string(h.ID)))
			if !h.Deleted() {
				live++
			}
			l.hotspot(h, bad)
			return nil
		})
		if err != nil {
			return err
		}
		if err := s.EachMAC(l.ctx, func(m store.TakenMAC) error {
			canonical := m.MAC.Canonical()
			macs = append(macs, maphash.String(seed, canonical))
			switch {
			case m.Deleted:
				l.wrong(string(m.Hotspot), "is deleted but still holds its MAC address")
			case m.Taken != canonical:
				l.wrong(string(m.Hotspot), "its MAC address differs from the one in the index")
			}
			return nil
		}); err != nil {
			return err
		}
		return l.twice(s, seed, repeated(ids), repeated(macs))
	})
	l.at("%d hotspots, %d of them live, and %d MAC addresses", len(ids), live, len(macs))
	return err
}

// twice reports the hotspots that share an id or a MAC address with another.
func (l *look) twice(s store.Snapshot, seed maphash.Seed, ids, macs map[uint64]bool) error {
	if len(ids) == 0 && len(macs) == 0 {
		return nil
	}
	return s.EachMAC(l.ctx, func(m store.TakenMAC) error {
		if ids[maphash.String(seed, string(m.Hotspot))] {
			l.wrong(string(m.Hotspot), "appears twice")
		}
		if macs[maphash.String(seed, m.MAC.Canonical())] {
			l.wrong(string(m.Hotspot), "its MAC address belongs to another hotspot too")
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
func (l *look) hotspot(h beacon.Hotspot, bad error) {
	switch damaged := errors.Is(bad, store.ErrSeal); {
	case bad != nil && !damaged:
		l.wrong(string(h.ID), "cannot be read: %v", bad)
	case !id.Valid(beacon.HotspotPrefix, string(h.ID)):
		l.wrong(fmt.Sprintf("%.60q", h.ID), "is not a hotspot id")
	case !id.Valid(beacon.UserPrefix, string(h.Operator)):
		l.wrong(string(h.ID), "has %.60q as its operator", h.Operator)
	case !h.Type.Valid():
		l.wrong(string(h.ID), "has an unknown type")
	case !h.Location.Point.Valid():
		l.wrong(string(h.ID), "has a location that is not on Earth")
	case h.Device.MAC.Canonical() == "":
		l.wrong(string(h.ID), "has no MAC address")
	case named(h) != nil:
		l.wrong(string(h.ID), "%v", named(h))
	case h.Settings.MaxConnections < 1 || !(h.Settings.BandwidthLimitMbps > 0) || math.IsInf(h.Settings.BandwidthLimitMbps, 0):
		l.wrong(string(h.ID), "has settings that are not valid")
	case h.Version < 1 || h.Version > maxVersion:
		l.wrong(string(h.ID), "has version %d", h.Version)
	case h.CreatedAt.IsZero() || h.UpdatedAt.Before(h.CreatedAt) || !h.DeletedAt.IsZero() && h.DeletedAt.Before(h.CreatedAt):
		l.wrong(string(h.ID), "was changed or deleted before it was created")
	case !h.Device.LinkedAt.IsZero() && h.Device.KeyHash == [32]byte{} && !h.Deleted():
		l.wrong(string(h.ID), "has a device without a key")
	case damaged: // nothing more precise is known
		l.wrong(string(h.ID), "%v", bad)
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

func keys(l *look) error {
	seen := map[[32]byte]beacon.KeyID{}
	err := l.snapshot(func(s store.Snapshot) error {
		return s.EachKey(l.ctx, func(k beacon.Key, bad error) error {
			l.row()
			l.key(k, bad)
			if other, twice := seen[k.SecretHash]; twice && (bad == nil || errors.Is(bad, store.ErrSeal)) {
				l.wrong(string(k.ID), "has the same secret as %s", other)
			}
			seen[k.SecretHash] = k.ID
			return nil
		})
	})
	l.at("%d keys", l.looked.Load())
	return err
}

func (l *look) key(k beacon.Key, bad error) {
	switch damaged := errors.Is(bad, store.ErrSeal); {
	case bad != nil && !damaged:
		l.wrong(string(k.ID), "cannot be read: %v", bad)
	case !id.Valid(beacon.KeyPrefix, string(k.ID)) || !id.Valid(beacon.UserPrefix, string(k.User)):
		l.wrong(fmt.Sprintf("%.60q", k.ID), "is not a key id, or %.60q is not a user id", k.User)
	case slices.ContainsFunc(k.Scopes, func(s beacon.Scope) bool { return !s.Valid() }):
		l.wrong(string(k.ID), "has unknown scopes: %v", k.Scopes)
	case k.CreatedAt.IsZero() || !k.RevokedAt.IsZero() && k.RevokedAt.Before(k.CreatedAt):
		l.wrong(string(k.ID), "was revoked before it was created")
	case damaged:
		l.wrong(string(k.ID), "%v", bad)
	}
}

// references checks that the rows which others refer to exist.
func references(l *look) error {
	return l.snapshot(func(s store.Snapshot) error {
		kinds, err := s.Strays(l.ctx, func(id, what string) error {
			l.wrong(id, "%s", what)
			return nil
		})
		l.at("%d kinds of references", kinds)
		return err
	})
}

// leaseAtMost is far longer than any lease lasts.
const leaseAtMost = 24 * time.Hour

func leases(l *look) error {
	return l.snapshot(func(s store.Snapshot) error {
		all, err := s.Leases(l.ctx)
		if err != nil {
			return err
		}
		for _, held := range all {
			switch {
			case held.Token < 1 || held.Holder == "":
				l.wrong(held.Name, "token %d is held by %q", held.Token, held.Holder)
			case held.Until.After(l.opts.Now.Add(leaseAtMost)):
				l.wrong(held.Name, "is held by %s until %s, and no other server can take over before", held.Holder, beacon.FormatTime(held.Until))
			}
		}
		spans := 0
		err = s.EachSpan(l.ctx, func(node string, span beacon.ServiceSpan) error {
			spans++
			if span.To < span.From || span.From < 0 {
				l.wrong(node, "was up from minute %d to minute %d", span.From, span.To)
			}
			return nil
		})
		l.at("%d leases, %d times of service", len(all), spans)
		return err
	})
}
