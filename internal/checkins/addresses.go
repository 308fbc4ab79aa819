package checkins

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/fleet"
)

const (
	flushInterval = time.Second
	// flushSize is how many addresses are written in one transaction, and flushes how many
	// transactions there are in each interval. A restart of a million devices is noted
	// within ten minutes.
	flushSize = 500
	flushes   = 4
	// maxNoted bounds the memory for addresses that wait to be written. The others are
	// noted by a later heartbeat.
	maxNoted = 65_536
	// maxMoved is of how many devices that moved on a day the addresses are counted, and
	// maxAddresses how many of each: some 10 MB.
	maxMoved     = 10_000
	maxAddresses = 16
)

// addressBits is the length of an address's hash. In memory, the rest of a word is the hour
// in which it was noted.
const addressBits = 48

const addressMask = 1<<addressBits - 1

// Run writes what was noted until ctx ends.
func (c *CheckIns) Run(ctx context.Context) {
	clock.Every(ctx, flushInterval, nil, c.log, "note from where devices send", func(ctx context.Context) error {
		for range flushes {
			if more, err := c.flush(ctx); err != nil || !more {
				return err
			}
		}
		return nil
	})
}

// Heard notes from where the device of a hotspot sent a heartbeat: if that is new to this
// server, and once an hour. Hours begin at different minutes for different addresses, so
// that not all are written at once.
func (c *CheckIns) Heard(hotspot *fleet.Hotspot, from netip.Prefix) {
	if !from.IsValid() {
		return
	}
	now := c.now()
	addr := from.Addr().As16()
	quick := maphash.Bytes(c.seed, addr[:]) & addressMask // hashAddress would take longer
	hour := (uint64(now.Unix()/60) + quick%60) / 60
	word := quick | hour<<addressBits
	before := hotspot.HeardFrom(word)
	if before == word {
		return
	}
	id := beacon.HotspotID(hotspot.ID())
	c.mu.Lock()
	defer c.mu.Unlock()
	if was := before & addressMask; before != 0 && was != quick {
		c.move(id, was, quick, beacon.DayOf(now))
	}
	if _, known := c.noted[id]; !known && len(c.noted) >= maxNoted {
		hotspot.HeardFrom(0)
		return
	}
	c.noted[id] = beacon.DeviceAddress{Hotspot: id, Hash: c.hashAddress(from), Network: c.hashNetwork(from), At: now}
}

// moves are from which addresses devices sent on a day, of those that sent from several.
type moves struct {
	day  beacon.Day
	from map[beacon.HotspotID]map[uint64]bool
}

// move counts the addresses of a device that sends from another one than before. Its caller
// holds mu.
func (c *CheckIns) move(id beacon.HotspotID, was, is uint64, day beacon.Day) {
	of := &c.today
	switch {
	case day == c.yesterday.day && c.yesterday.from != nil:
		of = &c.yesterday // another heartbeat was faster at midnight, or the clock was set back
	case day != c.today.day || c.today.from == nil:
		if day > c.today.day { // else that was a clock ahead
			c.yesterday = c.today
		}
		c.today = moves{day, map[beacon.HotspotID]map[uint64]bool{}}
	}
	seen := of.from[id]
	if seen == nil {
		if len(of.from) >= maxMoved {
			return
		}
		seen = map[uint64]bool{was: true}
		of.from[id] = seen
	}
	if len(seen) < maxAddresses {
		seen[is] = true
	}
}

// Addresses returns from how many addresses a device sent to this server today or
// yesterday, of those that it remembers: 0 if not from several.
func (c *CheckIns) Addresses(hotspot beacon.HotspotID, day beacon.Day) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range []moves{c.today, c.yesterday} {
		if m.day == day {
			return len(m.from[hotspot])
		}
	}
	return 0
}

// addressOf returns from where the device of a hotspot sends.
func (c *CheckIns) addressOf(ctx context.Context, hotspot beacon.HotspotID) (beacon.DeviceAddress, error) {
	c.mu.Lock()
	noted, ok := c.noted[hotspot]
	c.mu.Unlock()
	if ok {
		return noted, nil
	}
	return c.store.DeviceAddress(ctx, hotspot)
}

// flush writes some of what was noted, and reports whether there is more.
func (c *CheckIns) flush(ctx context.Context) (more bool, err error) {
	var some []beacon.DeviceAddress
	c.mu.Lock()
	for _, a := range c.noted {
		if len(some) == flushSize {
			break
		}
		some = append(some, a)
	}
	c.mu.Unlock()
	if len(some) == 0 {
		return false, nil
	}
	if err := c.store.PutAddresses(ctx, some); err != nil {
		return false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range some {
		if c.noted[a.Hotspot] == a {
			delete(c.noted, a.Hotspot)
		}
	}
	return len(c.noted) > 0, nil
}

// hashAddress returns the hash that stands for an address.
func (c *CheckIns) hashAddress(from netip.Prefix) int64 { return c.hashOf('a', from.Addr()) }

// hashNetwork returns the hash that stands for the network that an address is in, which is
// as large as what one customer or a part of a town has: a /24, or a /48 of IPv6.
func (c *CheckIns) hashNetwork(from netip.Prefix) int64 {
	bits := 48
	if from.Addr().Is4() {
		bits = 24
	}
	network, _ := from.Addr().Prefix(bits) // fails only for the zero Addr
	return c.hashOf('n', network.Addr())
}

func (c *CheckIns) hashOf(kind byte, addr netip.Addr) int64 {
	bytes := addr.As16()
	sum := c.hash(kind, bytes[:])
	return int64(binary.LittleEndian.Uint64(sum[:]) & addressMask)
}

// hashInstall returns the hash that stands for an install.
func (c *CheckIns) hashInstall(token string) beacon.Install {
	sum := c.hash('i', []byte(token))
	return beacon.Install(sum[:len(beacon.Install{})])
}

// hash hashes a text of a kind with the key, which comes first: of what follows it, all
// that anyone sees is a part of the hash.
func (c *CheckIns) hash(kind byte, text []byte) [sha256.Size]byte {
	var buffer [128]byte
	return sha256.Sum256(append(append(append(buffer[:0], c.key[:]...), kind), text...))
}
