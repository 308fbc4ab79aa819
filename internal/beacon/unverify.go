package beacon

import (
	"fmt"
	"math"
	"time"
)

// maxReason is the longest reason for withdrawing a verification, in characters.
const maxReason = 200

// Withdrawn is the reason of a withdrawal for which none was given.
const Withdrawn = "withdrawn by staff"

// CleanReason returns a reason in the form in which it is stored.
func CleanReason(raw string) (string, error) { return cleanText(raw, 1, maxReason) }

// Disproves reports whether the hotspot is certainly not where it is registered: it was
// found too far away, by more than the measurement may be off.
func (f Finding) Disproves() bool { return f.Err() != nil && f.DistanceM > f.AccuracyM }

// Reason tells an operator why a visit took the verification away.
func (f Finding) Reason() string {
	return fmt.Sprintf("a visit found the hotspot %.0f m from where it is registered", math.Ceil(f.DistanceM))
}

// Withdraw takes the verification away for staff, and what proves the place with it: a
// visit that proves nothing must not bring the old proof back.
func (h *Hotspot) Withdraw(reason string, now time.Time) bool {
	if !h.unverify(reason, now) {
		return false
	}
	h.withdrawProof(now)
	return true
}

// unverify takes the verification away and ends the service, which counts until now. It
// reports whether there was one.
func (h *Hotspot) unverify(reason string, now time.Time) bool {
	if h.Location.VerifiedAt.IsZero() {
		return false
	}
	h.EndService(now)
	h.Visits = h.visits()
	h.Location.VerifiedAt, h.Location.UnverifiedReason = time.Time{}, reason
	return true
}

// Reject records why staff did not verify the place, and withdraws what proved it before.
// It reports whether anything is new.
func (h *Hotspot) Reject(reason string, now time.Time) bool {
	if !h.Location.VerifiedAt.IsZero() {
		return false
	}
	withdrawn := h.withdrawProof(now)
	if h.Location.UnverifiedReason == reason {
		return withdrawn
	}
	h.Location.UnverifiedReason = reason
	return true
}

// Rejected reports whether staff have said why the place is not verified, and its operator
// has not moved it since.
func (h *Hotspot) Rejected() bool {
	return h.Location.VerifiedAt.IsZero() && h.Location.UnverifiedReason != "" && h.Location.UnverifiedReason != moved
}

var errVerifiedTooOften = &Error{Kind: Conflict, Message: "the hotspot was verified too often; try again tomorrow"}

// Verify records that staff have verified the place. Like RenewService, it fails if the
// service began too often.
func (h *Hotspot) Verify(now time.Time) error {
	if h.RenewService(now) != nil {
		return errVerifiedTooOften
	}
	h.Location.VerifiedAt, h.Location.UnverifiedReason = now, ""
	return nil
}
