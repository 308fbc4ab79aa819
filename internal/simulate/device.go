// Package simulate simulates devices that talk to a server over HTTP as real ones do.
// It shares no code with the server, so that it is a fair client. Package client
// registers and links the devices; heartbeats go over connections of our own, because
// a generator that uses net/http costs about as much as the server under test.
//
// Its one invariant: what a device sends depends only on the seed and on the times at
// which it is asked.
package simulate

import (
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/client"
)

// Device is the device of one hotspot, and what it was registered with.
type Device struct {
	registration client.Registration
	hotspot      string // its id, once registered
	key          string // once linked

	chance   chance
	kind     string
	crowd    float64 // clients on average
	dbm      float64 // the signal strength of the clients
	uplink   uplink
	line     int           // see Character
	appetite float64       // bytes a client moves per second
	fails    time.Duration // mean time between outages
	repair   time.Duration // mean duration of an outage
	testsAt  time.Duration // when in its six hours it tests its speed

	boot      uint64
	seq       uint64
	rx, tx    uint64
	last      time.Time // time of its latest heartbeat; zero: none yet
	failsAt   time.Time
	downUntil time.Time
	tested    int64 // the number of the six-hour slot of its last test

	waiting atomic.Bool // for its last heartbeat to be accepted
}

// uplink is the speed of a line.
type uplink struct{ down, up, latency float64 }

var uplinks = []uplink{{480, 60, 8}, {210, 22, 14}, {120, 12, 19}, {62, 6.5, 41}, {24, 3, 58}}

// testEvery is how often a device tests its speed.
const testEvery = 6 * time.Hour

// Devices makes count devices.
func Devices(count int, seed uint64) []*Device {
	devices := make([]*Device, count)
	for i := range devices {
		devices[i] = newDevice(seed, i)
	}
	return devices
}

func newDevice(seed uint64, number int) *Device {
	c := chanceOf(seed, uint64(number)+1)
	d := &Device{registration: register(&c, seed, number), repair: 25 * time.Minute}
	d.kind = string(d.registration.Type)
	d.registration.Settings = hoursOf(&c, d.kind)
	d.crowd = usualCrowd[d.kind] * math.Exp(0.5*c.normal())
	d.dbm = c.between(-76, -46)
	d.uplink = pick(&c, uplinks)
	d.appetite = c.between(2_000, 60_000)
	d.testsAt = time.Duration(c.unit() * float64(testEvery))
	switch roll := c.unit(); {
	case roll < 0.80: // most are reliable
		d.fails = 12 * 24 * time.Hour
	case roll < 0.95:
		d.fails = 30 * time.Hour
	default: // some are not
		d.fails = 5 * time.Hour
	}
	d.chance = c
	d.reboot()
	return d
}

// Beat is one heartbeat.
type Beat struct {
	boot, seq, rx, tx uint64
	clients, dbm      int
	test              uplink // zero: none
}

// Beat returns the heartbeat at a time, or false while the device is out of order.
// Times must not go back.
func (d *Device) Beat(now time.Time) (b Beat, due bool) {
	if !d.works(now) {
		return Beat{}, false
	}
	since := time.Minute
	if !d.last.IsZero() {
		since = min(now.Sub(d.last), 5*time.Minute)
	}
	d.last = now
	d.seq++
	clients := max(0, int(math.Round(d.crowd*crowdAt(d.kind, now)*(1+0.3*d.chance.normal()))))
	moved := float64(clients) * d.appetite * since.Seconds() * d.chance.between(0.5, 1.5)
	d.tx += uint64(moved * 0.86)
	d.rx += uint64(moved * 0.14)
	b = Beat{boot: d.boot, seq: d.seq, rx: d.rx, tx: d.tx, clients: clients}
	b.dbm = d.hears()
	b.test, _ = d.tests(now)
	return b, true
}

func (d *Device) hears() (dbm int) {
	return int(math.Round(max(-115, min(-20, d.dbm+3*d.chance.normal()))))
}

// tests returns a speed test when one is due.
func (d *Device) tests(now time.Time) (test uplink, due bool) {
	number := now.Add(-d.testsAt).Unix() / int64(testEvery/time.Second)
	if number == d.tested {
		return uplink{}, false
	}
	d.tested = number
	return d.testSpeed(), true
}

// works reports whether the device works now, and lets it fail and recover. After
// most failures it has rebooted.
func (d *Device) works(now time.Time) bool {
	if d.failsAt.IsZero() {
		d.failsAt = now.Add(d.chance.after(d.fails))
	}
	if !now.Before(d.failsAt) {
		d.downUntil = now.Add(time.Minute + d.chance.after(d.repair))
		d.failsAt = d.downUntil.Add(d.chance.after(d.fails))
		if d.chance.unit() < 0.7 {
			d.reboot()
		}
	}
	return !now.Before(d.downUntil)
}

// reboot resets all counters.
func (d *Device) reboot() {
	d.boot, d.seq, d.rx, d.tx = d.chance.next(), 0, 0, 0
}

func (d *Device) testSpeed() uplink {
	part := d.chance.between(0.75, 1.1)
	return uplink{
		down:    roundTo(d.uplink.down*part, 1),
		up:      roundTo(d.uplink.up*part, 1),
		latency: roundTo(d.uplink.latency/part, 1),
	}
}

// Append appends the heartbeat as the body of a request.
func (b *Beat) Append(out []byte) []byte {
	out = append(out, `{"boot_id":"`...)
	out = strconv.AppendUint(out, b.boot, 16)
	out = append(out, `","seq":`...)
	out = strconv.AppendUint(out, b.seq, 10)
	out = append(out, `,"clients":`...)
	out = strconv.AppendInt(out, int64(b.clients), 10)
	out = append(out, `,"rx_bytes":`...)
	out = strconv.AppendUint(out, b.rx, 10)
	out = append(out, `,"tx_bytes":`...)
	out = strconv.AppendUint(out, b.tx, 10)
	out = append(out, `,"rssi_dbm":`...)
	out = strconv.AppendInt(out, int64(b.dbm), 10)
	if b.test != (uplink{}) {
		out = append(out, `,"speedtest":{"down_mbps":`...)
		out = strconv.AppendFloat(out, b.test.down, 'f', -1, 64)
		out = append(out, `,"up_mbps":`...)
		out = strconv.AppendFloat(out, b.test.up, 'f', -1, 64)
		out = append(out, `,"latency_ms":`...)
		out = strconv.AppendFloat(out, b.test.latency, 'f', -1, 64)
		out = append(out, '}')
	}
	return append(out, '}')
}

// Character describes a device, for callers that have their own hotspots.
type Character struct {
	Seed     uint64        // of the random numbers
	Place    string        // its rhythm: Home, Business, Public, Street, Station, Library or Park
	Crowd    float64       // mean number of clients
	DBM      float64       // the signal strength of the clients
	Appetite float64       // bytes a client moves per second
	Down, Up float64       // the speed of its line, in Mbit/s,
	Latency  float64       // and its latency in milliseconds
	Line     int           // devices on different lines, from 1 on, send from different addresses; 0: from any
	Fails    time.Duration // mean time between outages
	Repair   time.Duration // mean duration of an outage
}

// Device returns the device. The caller registers and links it.
func (c Character) Device() *Device {
	d := &Device{
		kind: c.Place, crowd: c.Crowd, dbm: c.DBM, appetite: c.Appetite,
		uplink: uplink{c.Down, c.Up, c.Latency}, line: c.Line, fails: c.Fails, repair: c.Repair, chance: chanceOf(c.Seed, 0),
	}
	d.testsAt = time.Duration(d.chance.unit() * float64(testEvery))
	d.reboot()
	return d
}

// Serve sets the hotspot of the device, and the key that it uses.
func (d *Device) Serve(hotspot, key string) { d.hotspot, d.key = hotspot, key }

// Restart switches the device off and on again.
func (d *Device) Restart() { d.reboot() }
