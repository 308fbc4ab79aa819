// Package demo generates a network for demonstrations: the public hotspots of New
// York City, which are real, or made-up ones in another city; and operators, devices and
// months of history, which are made up; some of the places are taken for homes. Create writes it to a database, as servers
// would have, and Continue takes up one that it wrote. It serves nothing: what shows the
// network is a server like any other.
//
// Its one invariant: the same seed and time give the same network and history.
package demo

import (
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/simulate"
)

// Config determines a network.
type Config struct {
	City     string // its key; "": New York
	Seed     uint64
	Hotspots int // up to Hotspots
	Days     int // of history before today
	Now      time.Time

	// Lively is for a network that people look at: a few of its hotspots are unusual, staff
	// hold back what some earn, and phones check in.
	Lively bool
}

// Network is a network at a point in time, with its history.
type Network struct {
	Config
	Operator beacon.UserID // the featured one
	Staff    beacon.UserID
	Hotspots []*Hotspot // in the order of registration
	in       City
	launch   beacon.Day

	colleague beacon.UserID // of the staff
}

// Hotspot is a hotspot of the demo with its device and its past.
type Hotspot struct {
	beacon.Hotspot
	Device *simulate.Device // nil: none was linked

	odd oddity

	cuts []beacon.Period // when it was without power, the first first
	dark time.Time       // since when it is out of order for good; zero: it works

	move          *move          // nil: it was always there
	before, moved beacon.Hotspot // until its new place was registered, and until it was found there
}

// New generates a network.
func New(cfg Config) (*Network, error) {
	cfg.Now = cfg.Now.UTC()
	in, err := CityOf(cfg.City)
	if err != nil {
		return nil, err
	}
	list, err := places(in, cfg.Hotspots)
	if err != nil {
		return nil, err
	}
	n := &Network{Config: cfg, in: in, launch: beacon.DayOf(cfg.Now) - beacon.Day(cfg.Days)}
	n.Operator = userOf(cfg.Seed, featured, n.founded())
	n.Staff = userOf(cfg.Seed, "staff", n.founded())
	n.colleague = userOf(cfg.Seed, "colleague", n.founded())
	named := names{}
	for _, p := range list {
		if err := n.add(p, named.of(p)); err != nil {
			return nil, fmt.Errorf("%s, %s: %w", p.name, p.address, err)
		}
	}
	slices.SortFunc(n.Hotspots, func(a, b *Hotspot) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return n, nil
}

// founded returns when everyone signed up.
func (n *Network) founded() time.Time { return n.launch.Time().AddDate(0, 0, -15) }

// sourceOf returns the random source for one of many things made from a seed.
func sourceOf(seed uint64, of string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(of)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// Blur returns what strangers see of homes. The secret follows from the seed, so that
// homes are shown at the same places each time.
func (n *Network) Blur() beacon.Blur {
	return beacon.Blur{Homes: beacon.HomesBlurred, Secret: sha256.Sum256(fmt.Append(nil, "blur ", n.Seed))}
}

// add generates the hotspot of a place, and sometimes an earlier one, there or where it was
// before it moved.
func (n *Network) add(p place, name string) error {
	random := sourceOf(n.Seed, "hotspot "+p.key())
	life := n.plan(random, p)
	life.move = n.moveOf(p, life)
	if m := life.move; m != nil && m.again {
		before, was := life, p
		before.deleted, before.move, was.point = m.off, nil, m.from
		old, err := n.newHotspot(sourceOf(n.Seed, "moved "+p.key()), was, name, before)
		if err != nil {
			return err
		}
		n.Hotspots = append(n.Hotspots, old)
		life = life.again()
	}
	hotspot, err := n.newHotspot(random, p, name, life)
	if err != nil {
		return err
	}
	n.Hotspots = append(n.Hotspots, hotspot)
	if replaced := life.created.Add(-2 * time.Hour); life.late && random.IntN(80) == 0 && replaced.After(n.launch.Time().AddDate(0, 0, 4)) {
		before := n.atLaunch(random)
		before.deleted, before.generation = replaced, 1
		old, err := n.newHotspot(random, p, name, before)
		if err != nil {
			return err
		}
		n.Hotspots = append(n.Hotspots, old)
	}
	return nil
}

// newHotspot makes a hotspot by the rules that apply to every registration.
func (n *Network) newHotspot(random *rand.Rand, p place, name string, l life) (*Hotspot, error) {
	v := venueOf(p)
	mac := macOf(n.Seed, p.number, l.generation)
	form := beacon.Registration{
		Name: beacon.Some(name), Type: beacon.Some(string(v.kind)),
		Location: beacon.Some(beacon.LocationForm{
			Lat: beacon.Some(p.point.Lat), Lng: beacon.Some(p.point.Lng), Address: beacon.Some(readable(p.address) + ", " + p.borough),
		}),
		Device: beacon.Some(beacon.DeviceForm{SSID: beacon.Some(p.ssid), MAC: beacon.Some(mac)}),
	}
	hotspotID := beacon.HotspotID(idOf(n.Seed, beacon.HotspotPrefix, mac, l.created))
	h, err := form.Validate(hotspotID, userOf(n.Seed, operatorOf(p), n.founded()), l.created)
	if err != nil {
		return nil, err
	}
	h.Settings.OperatingHours = n.in.clocked(v.hours(random))
	if n.Lively {
		p.odd.set(&h.Settings)
		n.in.clocked(h.Settings.OperatingHours)
	}
	h.Location.VerifiedAt, h.Device.LinkedAt, h.DeletedAt = n.passed(l.verified), n.passed(l.linked), l.deleted
	h.UpdatedAt = slices.MaxFunc([]time.Time{h.CreatedAt, h.Location.VerifiedAt, h.Device.LinkedAt, h.DeletedAt}, time.Time.Compare)
	hotspot := &Hotspot{Hotspot: h, dark: n.passed(l.dark)}
	if n.Lively {
		hotspot.odd = p.odd
	}
	if linked := h.Device.LinkedAt; !linked.IsZero() {
		hotspot.Hotspot.Device.Agent = agentOf(h.Device.MAC, hotspot.odd, linked)
		hotspot.Device = character(n.in, p, h.Device.MAC).Device()
	}
	for _, cut := range n.powerCuts() {
		if cut.neighborhood == p.neighborhood {
			hotspot.cuts = append(hotspot.cuts, cut.Period)
		}
	}
	if m := l.move; m != nil {
		m.found = n.passed(m.found)
		err = hotspot.carry(m, n.Staff)
	}
	return hotspot, err
}

// passed returns t, or zero if t has not come yet.
func (n *Network) passed(t time.Time) time.Time {
	if t.After(n.Now.Add(-5 * time.Minute)) {
		return time.Time{}
	}
	return t
}

// userOf returns the id of a user.
func userOf(seed uint64, name string, since time.Time) beacon.UserID {
	return beacon.UserID(idOf(seed, beacon.UserPrefix, name, since))
}

// idOf returns an id that is the same for the same seed.
func idOf(seed uint64, prefix, name string, at time.Time) string {
	random := sourceOf(seed, prefix+name)
	return id.Format(prefix, at, random.Uint64(), random.Uint64())
}

// macOf returns a MAC address that no real device has. It encodes the place of the
// device; see Known.
func macOf(seed uint64, number, generation int) string {
	of := sourceOf(seed, "mac").Uint64()
	return fmt.Sprintf("02:%02x:%02x:%02x:%02x:%02x", byte(of>>8), byte(of), 0xd0|generation, byte(number>>8), byte(number))
}

// generationOf returns the generation in a MAC address of macOf.
func generationOf(mac beacon.MAC) int {
	var generation int
	_, _ = fmt.Sscanf(mac.Canonical()[9:], "%02x", &generation)
	return generation & 0x0f
}

// Known returns devices for the live hotspots of an earlier demonstration. All of
// them have been rebooted.
func Known(stored []beacon.Hotspot) (hotspots []*Hotspot, err error) {
	if len(stored) == 0 {
		return nil, nil
	}
	in := cityAt(stored[0].Location.Point)
	list, err := places(in, Hotspots)
	if err != nil {
		return nil, err
	}
	all := make([]place, len(list)) // by number
	for _, p := range list {
		all[p.number] = p
	}
	for _, h := range stored {
		var s1, s2, generation, high, low int
		_, err := fmt.Sscanf(h.Device.MAC.Canonical(), "02:%02x:%02x:%02x:%02x:%02x", &s1, &s2, &generation, &high, &low)
		number := high<<8 | low
		if err != nil || generation&0xf0 != 0xd0 || number >= len(all) || all[number].ssid != h.Device.SSID ||
			h.Device.LinkedAt.IsZero() || broken(all[number], h.Device.MAC.Canonical()) || generation&oddDevice != 0 && all[number].odd == silent {
			continue
		}
		c := character(in, all[number], h.Device.MAC)
		c.Seed ^= uint64(h.Version) // so that boot ids differ from last time
		hotspots = append(hotspots, &Hotspot{Hotspot: h, Device: c.Device()})
	}
	return hotspots, nil
}
