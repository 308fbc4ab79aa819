package fleet

import (
	"crypto/subtle"
	"slices"
	"time"
	"unique"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet/spatial"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// Hotspot is a live hotspot in the fleet. It is immutable: a change makes another Hotspot.
// Only the heartbeat state in live changes; each version of a hotspot passes it on to
// the next. There may be millions, so it is small: its id and its encoded form share
// one string.
type Hotspot struct {
	place    geo.Point // the public one
	version  int64
	text     string          // the id, then the encoded form
	live     *heartbeat.Live // nil until a device is first linked
	opening  *opening        // nil if it is always open
	key      keyPrint        // of the device; zero while none is linked
	radius   float64
	room     uint16 // max_connections
	idLen    uint8
	kind     int8 // an index of types
	hidden   bool // strangers do not see it as it is
	verified bool
	linked   bool
	rejected bool
	agent    unique.Handle[beacon.AgentKind]
}

func (f *Fleet) newHotspot(h beacon.Hotspot) *Hotspot {
	shown := f.publicOf(h)
	s := &Hotspot{
		place:    h.Location.Point,
		version:  h.Version,
		text:     string(h.ID) + f.encode(h, shown),
		hidden:   shown != nil,
		opening:  f.openings.of(h.Settings.OperatingHours),
		key:      keyPrint(h.Device.KeyHash[:]),
		radius:   h.Settings.CoverageRadius(h.Type),
		room:     uint16(h.Settings.MaxConnections),
		idLen:    uint8(len(h.ID)),
		kind:     int8(slices.Index(types, h.Type)),
		verified: !h.Location.VerifiedAt.IsZero(),
		linked:   !h.Device.LinkedAt.IsZero(),
		rejected: h.Rejected(),
		agent:    unique.Make(h.Device.Agent.Kind()),
	}
	if shown != nil {
		s.place = shown.Location.Point
	}
	return s
}

// ID returns the hotspot's id.
func (s *Hotspot) ID() string { return s.text[:s.idLen] }

// Place returns where maps show the hotspot, to everyone.
func (s *Hotspot) Place() geo.Point { return s.place }

// RadiusM returns how far it reaches.
func (s *Hotspot) RadiusM() float64 { return s.radius }

// Version returns its version.
func (s *Hotspot) Version() int64 { return s.version }

// Encoded returns what the Encoder returned for it.
func (s *Hotspot) Encoded() string { return s.text[s.idLen:] }

// Active reports whether it is verified and linked.
func (s *Hotspot) Active() bool { return s.verified && s.linked }

// Pending is the opposite of Active.
func (s *Hotspot) Pending() bool { return !s.Active() }

// Agent returns what its device is known to run.
func (s *Hotspot) Agent() beacon.AgentKind { return s.agent.Value() }

// Verified reports whether its place was verified.
func (s *Hotspot) Verified() bool { return s.verified }

// Type returns what kind of place it is at.
func (s *Hotspot) Type() beacon.Type { return types[s.kind] }

var types = beacon.Types()

// Rejected reports whether staff have said why its place is not verified.
func (s *Hotspot) Rejected() bool { return s.rejected }

// Linked reports whether it has a device.
func (s *Hotspot) Linked() bool { return s.linked }

// Opens reports whether a key with this hash is the device's, in a time that does not
// depend on how much of it matches.
func (s *Hotspot) Opens(hash [32]byte) bool {
	return s.key != keyPrint{} && subtle.ConstantTimeCompare(hash[:len(s.key)], s.key[:]) == 1
}

// keyPrint is the first half of the hash of a device's key (see beacon.Device).
// Finding another key with the same 128 bits is as hard as guessing the key, and the
// other halves would take 16 MB for a million hotspots.
type keyPrint [16]byte

// Condition describes a hotspot at one moment.
type Condition struct {
	Status  beacon.Status
	RadiusM float64
	Signal  beacon.Signal
	Tier    beacon.Tier
	Load    int // clients as a share of max_connections, in ten-thousandths; 0 when not online
	Uptime  int // in ten-thousandths (decision N16)
}

// Condition returns the condition at now, from memory and without a lock.
func (s *Hotspot) Condition(now time.Time) Condition {
	c := Condition{Status: s.StatusAt(now), RadiusM: s.radius}
	if s.live == nil {
		return c
	}
	shown := s.live.Shown()
	c.Signal, c.Tier, c.Uptime = shown.Signal, shown.Tier, shown.Uptime
	c.Load = beacon.Load(c.Status, shown.Clients, int(s.room))
	return c
}

// PublicCondition is Condition as strangers see it: how many clients a home has tells
// when someone is there.
func (s *Hotspot) PublicCondition(now time.Time) Condition {
	c := s.Condition(now)
	if s.hidden {
		c.Load = 0
	}
	return c
}

// PublicClients returns how many clients it has, as anyone may know who may know it of a
// hotspot: none of a home, hidden or not, and none of what is not online.
func (s *Hotspot) PublicClients(now time.Time) int {
	if s.Type() == beacon.Home || s.live == nil || s.StatusAt(now) != beacon.Online {
		return 0
	}
	return s.live.Shown().Clients
}

// StatusAt returns its status at now (decision N15).
func (s *Hotspot) StatusAt(now time.Time) beacon.Status {
	return beacon.StatusOf(s.Active(), s.Active() && s.heardAt(now))
}

// SeenAt returns when the last heartbeat came; zero: never.
func (s *Hotspot) SeenAt() time.Time {
	if s.live == nil || s.live.Seen() == 0 {
		return time.Time{}
	}
	return time.UnixMicro(s.live.Seen()).UTC()
}

// heardAt reports whether the last heartbeat is recent enough to be online. It is for
// hotspots that have, or had, a device: others have no heartbeat state.
func (s *Hotspot) heardAt(now time.Time) bool { return beacon.Heard(s.live.Seen(), now.UnixMicro()) }

// ConnectableAt reports whether someone who goes to where maps show the hotspot can connect
// to it: it is online and open, and not a hidden home, whose place is another and whose SSID
// may be nobody's to know.
func (s *Hotspot) ConnectableAt(now time.Time) bool {
	if s.hidden || s.StatusAt(now) != beacon.Online {
		return false
	}
	open, _ := s.OpenAt(now)
	return open
}

// Tags let a search for hotspots in service skip the others. Whether one of them is
// online depends on the clock, so each is checked.
func (s *Hotspot) Tags() spatial.Tags {
	if s.Active() {
		return active
	}
	return pending
}

const (
	pending spatial.Tags = 1 << iota
	active
)
