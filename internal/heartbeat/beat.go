package heartbeat

import (
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Beat is one heartbeat, with its hotspot and when it arrived.
type Beat struct {
	Hotspot id.Raw
	At      int64 // µs since 1970, by the server's clock
	beacon.Heartbeat

	// Back is set for a beat that arrives while its hotspot is closed: its traffic was
	// carried that many hours before, as late as the hotspot was open. If that is before
	// the day of the beat, the traffic still counts on it.
	Back uint8

	// Fell is set by Judge: the counters are lower than before in the same boot, and the
	// device did not say why. It is not journaled.
	Fell bool
}

// valid reports whether the time is in range. Beats of a broken clock are refused,
// since they belong to no day.
func (b *Beat) valid() bool { return b.At >= 0 && b.At/microMinute <= int64(beacon.LastMinute) }

func (b *Beat) minute() beacon.Minute { return beacon.Minute(b.At / microMinute) }

// tie orders beats of the same moment, in the same way on every node.
func (b *Beat) tie() uint32 { return uint32(uint16(b.Seq))<<16 | uint32(uint16(b.Boot)) }

// most is the highest number of clients that is counted; no access point has more.
const most = 1<<16 - 1

func (b *Beat) clients() uint16 { return uint16(min(max(b.Clients, 0), most)) }

// last is the newest beat: the one with the latest time.
type last struct {
	at      int64
	tie     uint32
	clients uint16
}

func (l last) before(other last) bool {
	if l.at != other.at {
		return l.at < other.at
	}
	if l.tie != other.tie {
		return l.tie < other.tie
	}
	return l.clients < other.clients
}

func (l *last) join(other last) {
	if l.before(other) {
		*l = other
	}
}
