// Package lease lets one of many processes do a job that only one should do. It knows
// neither the job nor how the holder is stored.
//
// Its one invariant: a holder that was replaced cannot write any more. That rests on
// the token, not on clocks. A lease that counts as held may have been taken over a
// moment ago (by a machine whose clock runs ahead, or while this one slept); the store
// then refuses what is written under it. Clocks only decide how soon a job is taken
// over.
//
//	holder := lease.NewHolder(store, "job", node, log)
//	go holder.Run(ctx)
//	holder.While(ctx, func(ctx context.Context, held lease.Lease) { … })
package lease

import "time"

// Lease is the right to do a job. The holder passes it with every write. A token is
// never issued twice, so a holder that was replaced without noticing finds its writes
// refused.
type Lease struct {
	Name, Holder string
	Token        int64

	// Until is when it ends, by the clock of the process that wrote it. A store that
	// refuses a lease may set it in the one that is in the way; see Holder.
	Until time.Time
}
