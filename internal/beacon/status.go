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

// StatusAt returns the state at now of a hotspot whose last heartbeat came at seen,
// by the server's clock; seen is zero if none ever came.
func (h Hotspot) StatusAt(seen, now time.Time) Status {
	switch {
	case h.Location.VerifiedAt.IsZero() || h.Device.LinkedAt.IsZero():
		return Pending
	case !seen.IsZero() && now.Sub(seen) <= OfflineAfter:
		return Online
	default:
		return Offline
	}
}
