package telemetry

import (
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// lateness tracks beats that arrived too late to count for their day.
type lateness struct {
	beats  atomic.Int64
	warned map[string]time.Time // the last warning about each node, by the machine's clock; used by Follow only
}

// LateBeats returns how many beats, since startup, other nodes wrote to their journals
// after the day of the beat was final. Their minutes are lost, and their traffic counts
// a day later: the clock of such a node is behind.
func (t *Telemetry) LateBeats() int64 { return t.lateness.beats.Load() }

// noteLate counts beats of another node that are too late, before they are applied. At
// startup, older beats are expected.
func (t *Telemetry) noteLate(node string, beats []heartbeat.Beat) {
	if node == t.Journal.Node() || !t.restored.Load() {
		return
	}
	now := t.Clock.Now()
	today := beacon.MinuteOf(now).Day()
	var late int64
	var behind time.Duration
	for i := range beats {
		came := time.UnixMicro(beats[i].At)
		if beacon.MinuteOf(came).Day() >= today {
			continue
		}
		if t.Fleet.TooLate(&beats[i]) {
			late++
			behind = max(behind, now.Sub(came))
		}
	}
	if late > 0 {
		t.warnOfLate(node, late, behind)
	}
}

func (t *Telemetry) warnOfLate(node string, late int64, behind time.Duration) {
	l := &t.lateness
	l.beats.Add(late)
	if t.Clock.Machine().Sub(l.warned[node]) < warnEvery {
		return
	}
	l.warned[node] = t.Clock.Machine()
	t.Log.Warn("a server accepted heartbeats for a day that is already closed, and their minutes are lost; correct its clock",
		"node", node, "behind", behind.Round(time.Second), "beats", late)
}
