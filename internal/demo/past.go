package demo

import (
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
// by hotspot, as a server would have written them, and what each of them says. It ends
// with the first error of each. The callee may keep both.
func (n *Network) Live(each func(day beacon.Day, records []beacon.RecordRow, said []beacon.Did) error) error {
	outages, down := heartbeat.NewOutages(), n.maintenance()
	outages.Set([]heartbeat.Span{
		{From: n.launch.Midnight(), To: beacon.MinuteOf(down.From) - 1}, {From: beacon.MinuteOf(down.Until), To: beacon.LastMinute},
	})
	written := make([]*past, len(n.Hotspots))
	today, size := beacon.DayOf(n.Now), 0 // of all records of a day, about
	for day := n.launch; day <= today; day++ {
		fold := (day + 1).Time().Add(heartbeat.FinalLag * time.Minute)
		if fold.After(n.Now) {
			fold = n.Now
		}
		made, said := make([]beacon.RecordRow, 0, len(n.Hotspots)), make([]beacon.Did, 0, len(n.Hotspots))
		text := make([]byte, 0, size)
		for i, s := range n.Hotspots {
			if written[i] == nil && s.Device != nil && s.Hotspot.Device.LinkedAt.Before((day + 1).Time()) {
				written[i] = newPast(s, outages, down)
			}
			if p := written[i]; p != nil && !p.over {
				p.liveThrough(day, n.Now)
				p.backfill.Fold(fold, day, func(r *heartbeat.Record) {
					from := len(text)
					text = r.Append(text)
					made = append(made, beacon.RecordRow{Hotspot: s.ID, Day: r.Day(), Data: text[from:len(text):len(text)]})
					said = append(said, r.Did())
				})
			}
		}
		if err := each(day, made, said); err != nil {
			return err
		}
		size = len(text) + len(text)/16
	}
	return nil
}

// past is the generated history of a hotspot.
type past struct {
	hotspot  *Hotspot
	backfill *heartbeat.Backfill
	down     beacon.Period // when no server was up
	boot     uint64        // the device's id of its current boot
	bootName uint64        // the same, as records have it
	over     bool
}

func newPast(s *Hotspot, outages *heartbeat.Outages, down beacon.Period) *past {
	h := s.Hotspot
	h.DeletedAt = time.Time{}
	return &past{hotspot: s, backfill: heartbeat.NewBackfill(outages, h), down: down}
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
			p.live(from, cut.From)
			p.hotspot.Device.Restart()
			from = cut.Until
		}
	}
	p.live(from, until)
	if deleted := p.hotspot.DeletedAt; !deleted.IsZero() && deleted.Before((day + 1).Time()) {
		p.backfill.Place(p.hotspot.Hotspot)
		p.over = true
	}
}

// live simulates the device from a time until another. What it sends while no server is up
// reaches nobody.
func (p *past) live(from, until time.Time) {
	if p.down.From.Before(until) && p.down.Until.After(from) {
		p.hotspot.Device.Live(from, p.down.From, p.beats)
		p.hotspot.Device.Live(beacon.Later(from, p.down.From), beacon.Earlier(until, p.down.Until), func(simulate.Stretch) {})
		from = p.down.Until
	}
	p.hotspot.Device.Live(from, until, p.beats)
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
