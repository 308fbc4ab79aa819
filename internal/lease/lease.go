// Package lease lets one of many processes do a job that only one should do. It
// knows neither the job nor how the holder is written down.
//
// Its one invariant: whoever was replaced writes nothing any more. That rests on
// the token, not on clocks: a lease that counts as held may have been taken over
// a moment ago (by a machine whose clock runs ahead, or while this one slept),
// and then the store refuses what is written under it. Clocks only decide how
// soon a job is taken over.
package lease

import "time"

// Lease is the right to do a job, as its holder shows it with every write. A
// token is never given twice: whoever was replaced without noticing finds its
// writes refused.
type Lease struct {
	Name, Holder string
	Token        int64

	// Until is when it ends, by the clock of whoever wrote it down. A store that
	// refuses a lease may tell so of the one in its way; see Keeper.
	Until time.Time
}
