package beacon

import "time"

// Status is the state of a hotspot. It is never stored: facts and the clock determine
// it, so no background job can leave it wrong.
type Status string

// The states of the network document.
const (
	Pending Status = "pending"
	Online  Status = "online"
	Offline Status = "offline"
)

// OfflineAfter is how old the last heartbeat of an online hotspot may be
// (decision N15).
const OfflineAfter = 240 * time.Second

// Heard reports whether a heartbeat that came at seen is recent enough at now for a
// hotspot in service to be online. Both are in µs since 1970, by the server's clock;
// seen is 0 if no heartbeat ever came.
func Heard(seen, now int64) bool { return seen != 0 && now-seen <= OfflineAfter.Microseconds() }

// SilentAt returns the first moment at which Heard no longer holds.
func SilentAt(seen int64) int64 { return seen + OfflineAfter.Microseconds() + 1 }

// StatusOf returns the status of a hotspot, given Heard.
func StatusOf(inService, heard bool) Status {
	switch {
	case !inService:
		return Pending
	case heard:
		return Online
	default:
		return Offline
	}
}

// StatusAt returns the state at now of a hotspot whose last heartbeat came at seen,
// by the server's clock; seen is zero if none ever came.
func (h Hotspot) StatusAt(seen, now time.Time) Status {
	return StatusOf(!h.ActiveSince().IsZero(), !seen.IsZero() && Heard(seen.UnixMicro(), now.UnixMicro()))
}
