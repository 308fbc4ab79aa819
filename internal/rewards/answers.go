package rewards

import (
	"sync"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// answers keeps what was computed of open days under a policy that pays places, for the
// rest of the minute: until then no other minute is decided. Asking again costs little, and
// the memory is bounded.
type answers struct {
	mu    sync.Mutex
	as    asOf
	facts map[hotspotDay]beacon.Facts
}

// maxAnswers is how many hotspots' days are kept, of some 200 bytes each.
const maxAnswers = 20_000

// asOf is what answers depend on, besides the hotspot and the day.
type asOf struct {
	minute   beacon.Minute
	first    beacon.Day // that is not closed
	revision int64
	policies int
	ordered  bool
}

// get adds what is kept of a day.
func (a *answers) get(as asOf, day beacon.Day, ids []beacon.HotspotID, to map[hotspotDay]beacon.Facts) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		if f, kept := a.facts[hotspotDay{id, day}]; kept && as == a.as {
			to[hotspotDay{id, day}] = f
		}
	}
}

// put keeps what was computed of a day, unless later answers are kept.
func (a *answers) put(as asOf, day beacon.Day, ids []beacon.HotspotID, from map[hotspotDay]beacon.Facts) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if as != a.as && as.minute >= a.as.minute {
		a.as, a.facts = as, map[hotspotDay]beacon.Facts{}
	}
	for _, id := range ids {
		if as == a.as && len(a.facts) < maxAnswers {
			a.facts[hotspotDay{id, day}] = from[hotspotDay{id, day}]
		}
	}
}
