package clock

import (
	"slices"
	"time"
)

// Witness is a clock, or anything else that tells the time, and what it says.
type Witness struct {
	Name string
	Says time.Time
}

// earliest returns the witness that says the earliest time: what is over by that is
// over by all of them.
func earliest(all []Witness) Witness { return slices.MinFunc(all, compare) }

// latest returns the latest time that any witness says: what is after that has not come
// by any of them.
func latest(all []Witness) time.Time { return slices.MaxFunc(all, compare).Says }

func compare(a, b Witness) int { return a.Says.Compare(b.Says) }

// outvoted returns the witnesses that more than half of all disagree with: those whose
// times differ by more than tolerance from most. If there is no such majority, it
// returns false: somebody is wrong, and nobody can tell who. With true and no
// witnesses, all agree.
func outvoted(all []Witness, tolerance time.Duration) (wrong []Witness, told bool) {
	best := 0
	for _, middle := range all {
		var others []Witness
		for _, w := range all {
			if w.Says.Sub(middle.Says).Abs() > tolerance {
				others = append(others, w)
			}
		}
		if agree := len(all) - len(others); agree > best {
			best, wrong = agree, others
		}
	}
	return wrong, 2*best > len(all)
}
