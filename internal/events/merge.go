package events

import (
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// stream is the next part of a node's changes.
type stream struct {
	changes []beacon.Change
	more    bool // there are others after these
}

// merge puts the changes of several streams into one order that preserves the order
// of each stream. Between streams the time of a change decides. But machines' clocks
// differ, so what is certain comes first: for one hotspot, the lower version is the
// earlier. Merge stops where the next change of a stream is not known: it might
// belong before the rest.
func merge(streams []stream) []beacon.Change {
	versions := versionsOf(streams)
	places := make([]int, len(streams))
	var merged []beacon.Change
	for {
		best, bestReady := -1, false
		for i, s := range streams {
			if places[i] == len(s.changes) {
				if s.more {
					return merged
				}
				continue
			}
			c := s.changes[places[i]]
			ready := isPrivate(c) || versions[c.Target][0] == c.Version
			if best < 0 || ready && !bestReady || ready == bestReady && c.At.Before(streams[best].changes[places[best]].At) {
				best, bestReady = i, ready
			}
		}
		if best < 0 {
			return merged
		}
		c := streams[best].changes[places[best]]
		if !isPrivate(c) {
			at := slices.Index(versions[c.Target], c.Version)
			versions[c.Target] = slices.Delete(versions[c.Target], at, at+1)
		}
		places[best]++
		merged = append(merged, c)
	}
}

// versionsOf returns, for each target, its versions in ascending order.
func versionsOf(streams []stream) map[string][]int64 {
	versions := map[string][]int64{}
	for _, s := range streams {
		for _, c := range s.changes {
			if !isPrivate(c) {
				versions[c.Target] = append(versions[c.Target], c.Version)
			}
		}
	}
	for _, v := range versions {
		slices.Sort(v)
	}
	return versions
}
