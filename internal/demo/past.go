package demo

import (
	"bytes"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/simulate"
)

// Final returns the day before which all records are final.
func (n *Network) Final() beacon.Day { return heartbeat.FinalAt(beacon.MinuteOf(n.Now)) }

// Began returns when the first day of the network began.
func (n *Network) Began() time.Time { return n.launch.Time() }

// Live simulates all devices until now, and calls each with the records of each day,
// by hotspot, as a server would have written them. It ends with the first error of
// each. The callee may keep the records.
func (n *Network) Live(each func(day beacon.Day, records []beacon.RecordRow) error) error {
	outages := heartbeat.NewOutages()
	written := make([]*past, len(n.Hotspots))
	today := beacon.DayOf(n.Now)
	for day := n.launch; day <= today; day++ {
		fold := (day + 1).Time().Add(heartbeat.FinalLag * time.Minute)
		if fold.After(n.Now) {
			fold = n.Now
		}
		var made []beacon.RecordRow
		for i, s := range n.Hotspots {
			if written[i] == nil && s.Device != nil && s.Hotspot.Device.LinkedAt.Before((day + 1).Time()) {
				written[i] = newPast(s, outages)
			}
			if p := written[i]; p != nil && !p.over {
				p.liveThrough(day, n.Now)
				p.backfill.Fold(fold, day, func(of beacon.Day, text []byte) {
					made = append(made, beacon.RecordRow{Hotspot: s.ID, Day: of, Data: bytes.Clone(text)})
				})
			}
		}
		if err := each(day, made); err != nil {
			return err
		}
	}
	return nil
}

// past is the generated history of a hotspot.
type past struct {
	hotspot  *Hotspot
	backfill *heartbeat.Backfill
	boot     uint64 // the device's id of its current boot
	bootName uint64 // the same, as records have it
	over     bool
}

func newPast(s *Hotspot, none *heartbeat.Outages) *past {
	h := s.Hotspot
	h.DeletedAt = time.Time{}
	return &past{hotspot: s, backfill: heartbeat.NewBackfill(none, h)}
}

// liveThrough simulates the device for a day.
func (p *past) liveThrough(day beacon.Day, now time.Time) {
	from, until := day.Time(), (day + 1).Time()
	if linked := p.hotspot.Hotspot.Device.LinkedAt; linked.After(from) {
		from = linked.Truncate(time.Minute).Add(time.Minute)
	}
	for _, end := range []time.Time{now, p.hotspot.dark, p.hotspot.DeletedAt} {
		if end = end.Truncate(time.Minute); !end.IsZero() && end.Before(until) {
			until = end
		}
	}
	for _, cut := range p.hotspot.cuts {
		if cut.From.Before(until) && cut.Until.After(from) {
			p.hotspot.Device.Live(from, cut.From, p.beats)
			p.hotspot.Device.Restart()
			from = cut.Until
		}
	}
	p.hotspot.Device.Live(from, until, p.beats)
	if deleted := p.hotspot.DeletedAt; !deleted.IsZero() && deleted.Before((day + 1).Time()) {
		p.backfill.Place(p.hotspot.Hotspot)
		p.over = true
	}
}

func (p *past) beats(s simulate.Stretch) {
	if s.Boot != p.boot {
		p.boot, p.bootName = s.Boot, beacon.BootOf(s.BootID())
	}
	p.backfill.Beats(&heartbeat.Beat{At: s.Last.UnixMicro(), Heartbeat: beacon.Heartbeat{
		Boot: p.bootName, Seq: s.Seq, Bytes: s.Rx + s.Tx, Clients: s.Clients, Signal: beacon.SignalOf(float64(s.DBM)),
		Test: beacon.SpeedTest{DownMbps: float32(s.Test.Down), UpMbps: float32(s.Test.Up), LatencyMs: float32(s.Test.Latency)},
	}}, s.Count)
}

// Beating returns the hotspots whose devices still send heartbeats.
func (n *Network) Beating() (hotspots []*Hotspot) {
	for _, s := range n.Hotspots {
		if s.Device != nil && s.dark.IsZero() && !s.Deleted() {
			hotspots = append(hotspots, s)
		}
	}
	return hotspots
}
