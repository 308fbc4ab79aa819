package fleet

import (
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// Judge decides what the numbers of a heartbeat of a hotspot that was just found mean,
// and whether it counts; see heartbeat.Table.Judge.
func (f *Fleet) Judge(h *Hotspot, beat *heartbeat.Beat) beacon.Uncounted {
	return f.table.Judge(h.live, beat)
}

// Beat applies one heartbeat of a hotspot that was just found.
func (f *Fleet) Beat(h *Hotspot, beat *heartbeat.Beat) {
	f.table.Apply(h.live, beat)
	if !h.live.Marked(heartbeat.OnMap) && h.Active() {
		f.coverage.enqueue(h)
	}
}

// HeardFrom stores a word that stands for the address that the device sends from, and
// returns the previous one, or word itself if the hotspot has no heartbeat state. It is
// kept in memory only.
func (s *Hotspot) HeardFrom(word uint64) (before uint64) {
	if s.live == nil {
		return word
	}
	return s.live.HeardFrom(word)
}

// Replay applies durable heartbeats. Those of unknown hotspots are dropped: they were
// deleted long ago. That holds only if the fleet has every change made before the
// beats came; see package replica.
func (f *Fleet) Replay(beats []heartbeat.Beat) {
	for i := range beats {
		beat := &beats[i]
		id := beacon.HotspotID(beat.Hotspot.Format(beacon.HotspotPrefix))
		if h, ok := f.Find(id); ok && h.live != nil {
			f.Beat(h, beat)
			continue
		}
		// It is deleted, or was unlinked before this process knew its device.
		f.mu.Lock()
		if live := f.revive(id); live != nil {
			f.table.Apply(live, beat)
		}
		f.mu.Unlock()
	}
}

// TooLate reports whether a heartbeat is new, but of a day that is final.
func (f *Fleet) TooLate(beat *heartbeat.Beat) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	live := f.live(beacon.HotspotID(beat.Hotspot.Format(beacon.HotspotPrefix)))
	return live != nil && f.table.TooLate(live, beat)
}

// live returns the heartbeat state of a hotspot whose heartbeats count, also of a
// deleted one that Purge has not removed yet. It returns nil if there is none. The
// state is the hotspot's only while the caller holds f.mu: later it may become another
// hotspot's.
func (f *Fleet) live(id beacon.HotspotID) *heartbeat.Live {
	if h, ok := f.index.Get(string(id)); ok {
		return h.live
	}
	return f.deleted[id].live
}

// revive is live for a hotspot for which a record or a heartbeat has turned up. Such a
// hotspot once had a device, though perhaps not now, so revive creates its heartbeat
// state. It returns nil if the fleet does not know the hotspot.
func (f *Fleet) revive(id beacon.HotspotID) *heartbeat.Live {
	h, ok := f.index.Get(string(id))
	if !ok || h.live != nil {
		return f.live(id)
	}
	revived := *h
	revived.live = f.table.Place(nil, beacon.Hotspot{ID: id})
	e, _ := f.directory.Snapshot().Get(string(id))
	e.Item = &revived
	if err := f.show([]entry{e}, nil); err != nil {
		return nil // cannot happen: its place was valid before
	}
	f.coverage.enqueue(h)
	return revived.live
}

// Metrics returns the totals of a hotspot's heartbeats. It returns false if the fleet
// does not know the hotspot, or it never had a device.
func (f *Fleet) Metrics(id beacon.HotspotID, now time.Time) (metrics beacon.Metrics, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h, found := f.index.Get(string(id))
	if !found || h.live == nil {
		return beacon.Metrics{}, false
	}
	return f.table.Metrics(h.live, now), true
}

// Refresh updates what is shown of all hotspots. Call it once a minute.
func (f *Fleet) Refresh(now time.Time) { f.table.Refresh(now) }

// ClockBack is called when the clock was set back; see heartbeat.Table.ClockBack.
func (f *Fleet) ClockBack(now time.Time, keep beacon.Minute) bool {
	return f.table.ClockBack(now, keep)
}

// SetUptime says when the service was up, so that no hotspot is expected to have served
// at other times.
func (f *Fleet) SetUptime(spans []heartbeat.Span) { f.outages.Set(spans) }

// StatusChanges returns what to announce, by id: the hotspots that are online at now
// and were announced as offline, or the reverse. With onlineOnly, it returns only those
// that came online.
func (f *Fleet) StatusChanges(now time.Time, onlineOnly bool) (changes []beacon.Transition) {
	differ, _ := f.table.StatusDiff(heartbeat.Announced, now.UnixMicro(), onlineOnly)
	for _, raw := range differ {
		if h, ok := f.index.Get(raw.Format(beacon.HotspotPrefix)); ok && h.live != nil {
			if tr, changed := h.transition(now); changed && (tr.Online || !onlineOnly) {
				changes = append(changes, tr)
			}
		}
	}
	slices.SortFunc(changes, func(a, b beacon.Transition) int { return strings.Compare(string(a.Hotspot), string(b.Hotspot)) })
	return changes
}

// transition returns the change to announce, and reports whether there is one: the
// status announced last does not hold any more.
func (s *Hotspot) transition(now time.Time) (tr beacon.Transition, changed bool) {
	online := s.StatusAt(now) == beacon.Online
	at := s.SeenAt()
	switch {
	case online:
	case at.IsZero(): // its heartbeats are lost, as with a damaged record
		at = now
	default: // now, if it was unlinked while it was online
		at = beacon.Earlier(at.Add(beacon.OfflineAfter), now)
	}
	return beacon.Transition{Hotspot: beacon.HotspotID(s.ID()), Online: online, At: at}, online != s.live.Marked(heartbeat.Announced)
}

// SetAnnounced records what was announced of a hotspot.
func (f *Fleet) SetAnnounced(id beacon.HotspotID, online bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if h, ok := f.index.Get(string(id)); ok && h.live != nil {
		h.live.SetMark(heartbeat.Announced, online)
	}
}
