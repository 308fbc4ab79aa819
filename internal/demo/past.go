package demo

import (
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/heartbeat"
	"github.com/beacon-wifi/beacon/internal/simulate"
)

// finalLag is how long after its end a day's records become final.
const finalLag = heartbeat.FinalLag * time.Minute

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
		fold := (day + 1).Time().Add(finalLag)
		if fold.After(n.Now) {
			fold = n.Now
		}
		var made pages
		for i, s := range n.Hotspots {
			if written[i] == nil && s.Device != nil && s.linkedBefore((day + 1).Time()) {
				written[i] = newPast(s, outages)
			}
			if p := written[i]; p != nil && !p.over {
				p.liveThrough(day, n.Now)
				p.backfill.Fold(fold, day, func(of beacon.Day, text []byte) { made.add(s.ID, of, text) })
			}
		}
		if err := each(day, made.rows); err != nil {
			return err
		}
	}
	return nil
}

// pages is the records of a day, with their data in one buffer.
type pages struct {
	rows []beacon.RecordRow
	text []byte
}

func (p *pages) add(id beacon.HotspotID, day beacon.Day, text []byte) {
	const room = 64 << 10
	if cap(p.text)-len(p.text) < len(text) {
		p.text = make([]byte, 0, max(room, len(text)))
	}
	start := len(p.text)
	p.text = append(p.text, text...)
	p.rows = append(p.rows, beacon.RecordRow{Hotspot: id, Day: day, Data: p.text[start:len(p.text):len(p.text)]})
}

func (s *Hotspot) linkedBefore(t time.Time) bool { return s.Hotspot.Device.LinkedAt.Before(t) }

// past is the generated history of a hotspot.
type past struct {
	hotspot  *Hotspot
	backfill *heartbeat.Backfill
	boot     uint64 // the device's id of it,
	bootName uint64 // and the network's
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
			if cut.Until.After(from) {
				from = cut.Until
			}
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
