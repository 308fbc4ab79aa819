//go:build linux

package torture_test

import (
	"fmt"
	"net/http"

	"github.com/beacon-wifi/beacon/test/harness"
)

// habit is how a device counts: not all do as the guide says, and all are paid what they
// carried.
type habit int

const (
	ordinary    habit = iota
	setsToZero        // a restart of Wi-Fi sets its counters to zero inside a boot, and it says so
	wraps             // its counters have 32 bits
	seqRestarts       // its numbers start again inside a boot
	boots             // for hours it boots before each heartbeat
	leaps             // its numbers leap, and some are absurd
	habits
)

const (
	absurdSeq = 1 << 53 // refused (D95)

	// burst is what a device with counters of 32 bits carries now and then: they wrap after
	// a few, and never twice between two heartbeats.
	burst = 1_500_000_000
)

// odd does what the device does now and then.
func (h *yearHotspot) odd(m harness.Minute) {
	if !h.linked {
		return
	}
	switch h.habit {
	case wraps:
		counter := (&heartbeatReport{boot: h.bootID(), epoch: h.epoch}).counter()
		if h.bytes-min(h.boots[counter].bytes, h.bytes) < burst/3 { // otherwise it is not heard
			h.later = nil
			h.bytes += burst
			h.note(m, "carries much: %d", h.bytes)
		}
	case setsToZero:
		h.epoch++
		h.bytes, h.last = 0, m
		h.note(m, "counters set to zero: epoch %d", h.epoch)
	case seqRestarts:
		h.later, h.seq = nil, 0
		h.bytes += 1000 // otherwise it looks as if it repeated itself
		h.note(m, "numbers start again")
	case boots:
		h.bootsUntil = m + 30 + harness.Minute(h.random.IntN(300))
		h.note(m, "boots before each heartbeat for %d minutes", h.bootsUntil-m)
	case leaps:
		if h.absurd = h.random.IntN(2) == 0; !h.absurd {
			h.seq += 1 << 40
		}
		h.note(m, "its number leaps, absurdly: %t", h.absurd)
	}
}

// status is what a report must get.
func (r *heartbeatReport) status() int {
	if r.seq >= absurdSeq {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// counter names what counts on from zero: a boot, or a part of it.
func (r *heartbeatReport) counter() string { return fmt.Sprintf("%s/%d", r.boot, r.epoch) }
