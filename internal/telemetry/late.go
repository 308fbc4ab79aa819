package telemetry

import (
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
)

// lateness is of beats that came too late to count for their day.
type lateness struct {
	beats  atomic.Int64
	warned map[string]time.Time // when that was last told of a node, by the machine's clock; of Follow alone
}

// LateBeats is how many beats other nodes wrote into their journals when the day
// that they are of was written for good, since the start. What they say that was
// carried is lost: the clock of such a node is behind.
func (t *Telemetry) LateBeats() int64 { return t.lateness.beats.Load() }

// noteLate looks, before they are taken over, for beats of another node that are
// too late. That a start reads what is older is no wonder.
func (t *Telemetry) noteLate(node string, beats []heartbeat.Beat) {
	if node == t.Store.Node() || !t.restored.Load() {
		return
	}
	now := t.Now()
	today := heartbeat.MinuteOf(now).Day()
	var late int64
	var behind time.Duration
	for i := range beats {
		came := time.UnixMicro(beats[i].At)
		if heartbeat.MinuteOf(came).Day() >= today {
			continue
		}
		t.Fleet.Tend(beacon.HotspotID(beats[i].Hotspot.Format(beacon.HotspotPrefix)), func(live *heartbeat.Live) {
			if t.Table.TooLate(live, &beats[i]) {
				late++
				behind = max(behind, now.Sub(came))
			}
		})
	}
	if late > 0 {
		t.warnOfLate(node, late, behind)
	}
}

func (t *Telemetry) warnOfLate(node string, late int64, behind time.Duration) {
	l := &t.lateness
	l.beats.Add(late)
	if last, told := l.warned[node]; told && t.machine().Sub(last) < warnEvery {
		return
	}
	if l.warned == nil {
		l.warned = map[string]time.Time{}
	}
	l.warned[node] = t.machine()
	t.Log.Warn("a server takes heartbeats for a day that is written for good, and their traffic is lost; set its clock right",
		"node", node, "behind", behind.Round(time.Second), "beats", late)
}
