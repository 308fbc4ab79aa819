// Package simulate simulates devices that talk to a server over HTTP as real ones do.
// It shares no code with the server, so that it is a fair client. Package client
// registers and links the devices; heartbeats go over connections of our own, because
// a generator that uses net/http costs about as much as the server under test.
//
// Its one invariant: what a device sends depends only on the seed and on the times at
// which it is asked, and on the run if runs are to be distinguished.
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

	character Character
	rhythm    *rhythm // of its place
	chance    chance
	testsAt   time.Duration // when in its six hours it tests its speed

	run       uint64 // distinguishes its boots from those of another run of the same seed
	boot      uint64
	seq       uint64
	rx, tx    uint64
	last      epoch // time of its latest heartbeat; zero: none yet
	failsAt   epoch
	downUntil epoch
	tested    epoch // the number of the six-hour slot of its last test

	waiting atomic.Bool // for its last heartbeat to be accepted
}

// epoch is the time since 1970. A history compares millions of them, and a time.Time takes
// several times as long.
type epoch = time.Duration

func epochOf(t time.Time) epoch { return epoch(t.UnixNano()) }

// Uplink is the speed of a line: Mbit/s down and up, and milliseconds.
type Uplink struct{ Down, Up, Latency float64 }

var uplinks = []Uplink{{480, 60, 8}, {210, 22, 14}, {120, 12, 19}, {62, 6.5, 41}, {24, 3, 58}}

// testEvery is how often a device tests its speed.
const testEvery = 6 * time.Hour

// Devices makes count devices.
func Devices(count int, seed uint64, around Around) []*Device {
	devices := make([]*Device, count)
	for i := range devices {
		devices[i] = newDevice(seed, i, around)
	}
	return devices
}

func newDevice(seed uint64, number int, around Around) *Device {
	c := chanceOf(seed, uint64(number)+1)
	d := &Device{registration: register(&c, seed, number, around), character: Character{Repair: 25 * time.Minute}}
	of := &d.character
	of.Place = string(d.registration.Type)
	d.rhythm = rhythms[of.Place]
	zone, east := around.clock()
	d.registration.Settings, of.East = hoursOf(&c, of.Place, zone), east
	of.Crowd = usualCrowd[of.Place] * math.Exp(0.5*c.normal())
	of.DBM = c.between(-76, -46)
	of.Uplink = pick(&c, uplinks)
	of.Appetite = c.between(2_000, 60_000)
	d.testsAt = time.Duration(c.unit() * float64(testEvery))
	switch roll := c.unit(); {
	case roll < 0.80: // most are reliable
		of.Fails = 12 * 24 * time.Hour
	case roll < 0.95:
		of.Fails = 30 * time.Hour
	default: // some are not
		of.Fails = 5 * time.Hour
	}
	d.chance = c
	d.Restart()
	return d
}

// Beat is one heartbeat.
type Beat struct {
	Boot, Seq uint64
	Rx, Tx    uint64 // bytes since the boot
	Clients   int
	DBM       int    // their signal strength
	Test      Uplink // zero: none
}

// BootID returns the device's id of the boot.
func (b *Beat) BootID() string { return strconv.FormatUint(b.Boot, 16) }

// Beat returns the heartbeat at a time, or false while the device is out of order.
// Times must not go back.
func (d *Device) Beat(at time.Time) (b Beat, due bool) {
	now := epochOf(at)
	if !d.works(now) {
		return Beat{}, false
	}
	since := time.Minute
	if d.last != 0 {
		since = min(now-d.last, 5*time.Minute)
	}
	clients := max(0, int(math.Round(d.character.Crowd*d.rhythm.at(now+d.character.East)*(1+0.3*d.chance.normal()))))
	moved := float64(clients) * d.character.Appetite * since.Seconds() * d.chance.between(0.5, 1.5)
	return d.report(now, 1, clients, moved), true
}

// report counts heartbeats up to a time, and returns the last of them.
func (d *Device) report(last epoch, count, clients int, moved float64) Beat {
	d.last = last
	d.seq += uint64(count)
	d.tx += uint64(moved * 0.86)
	d.rx += uint64(moved * 0.14)
	dbm := max(-115, min(-20, d.character.DBM+3*d.chance.normal()))
	return Beat{Boot: d.boot ^ d.run, Seq: d.seq, Rx: d.rx, Tx: d.tx, Clients: clients, DBM: int(math.Round(dbm)), Test: d.tests(last)}
}

// tests returns a speed test when one is due.
func (d *Device) tests(now epoch) (test Uplink) {
	number := (now - d.testsAt) / testEvery
	if number == d.tested {
		return Uplink{}
	}
	d.tested = number
	part := d.chance.between(0.75, 1.1)
	return Uplink{
		Down:    roundTo(d.character.Down*part, 1),
		Up:      roundTo(d.character.Up*part, 1),
		Latency: roundTo(d.character.Latency/part, 1),
	}
}

// works reports whether the device works now, and lets it fail and recover. After
// most failures it has rebooted.
func (d *Device) works(now epoch) bool {
	if d.failsAt == 0 {
		d.failsAt = now + d.chance.after(d.character.Fails)
	}
	if now >= d.failsAt {
		d.downUntil = now + time.Minute + d.chance.after(d.character.Repair)
		d.failsAt = d.downUntil + d.chance.after(d.character.Fails)
		if d.chance.unit() < 0.7 {
			d.Restart()
		}
	}
	return now >= d.downUntil
}

// Distinguish gives all boots of devices other ids than a run of the same seed has used
// before: on a server that knows those, their heartbeats would be repetitions.
func Distinguish(devices []*Device, run uint64) {
	for _, d := range devices {
		d.run = run
	}
}

// Restart switches the device off and on again, which resets all counters.
func (d *Device) Restart() {
	d.boot, d.seq, d.rx, d.tx = d.chance.next(), 0, 0, 0
}

// Append appends the heartbeat as the body of a request.
func (b *Beat) Append(out []byte) []byte {
	out = append(out, `{"boot_id":"`...)
	out = strconv.AppendUint(out, b.Boot, 16)
	out = append(out, `","seq":`...)
	out = strconv.AppendUint(out, b.Seq, 10)
	out = append(out, `,"clients":`...)
	out = strconv.AppendInt(out, int64(b.Clients), 10)
	out = append(out, `,"rx_bytes":`...)
	out = strconv.AppendUint(out, b.Rx, 10)
	out = append(out, `,"tx_bytes":`...)
	out = strconv.AppendUint(out, b.Tx, 10)
	out = append(out, `,"rssi_dbm":`...)
	out = strconv.AppendInt(out, int64(b.DBM), 10)
	if b.Test != (Uplink{}) {
		out = append(out, `,"speedtest":{"down_mbps":`...)
		out = strconv.AppendFloat(out, b.Test.Down, 'f', -1, 64)
		out = append(out, `,"up_mbps":`...)
		out = strconv.AppendFloat(out, b.Test.Up, 'f', -1, 64)
		out = append(out, `,"latency_ms":`...)
		out = strconv.AppendFloat(out, b.Test.Latency, 'f', -1, 64)
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
	Uplink                 // the speed of its line
	Line     int           // devices on different lines, from 1 on, send from different addresses; 0: from any
	East     time.Duration // how far its clock is ahead of the one in New York
	Fails    time.Duration // mean time between outages
	Repair   time.Duration // mean duration of an outage
}

// Device returns the device. The caller registers and links it.
func (c Character) Device() *Device {
	d := &Device{character: c, rhythm: rhythms[c.Place], chance: chanceOf(c.Seed, 0)}
	d.testsAt = time.Duration(d.chance.unit() * float64(testEvery))
	d.Restart()
	return d
}

// Serve sets the hotspot of the device, and the key that it uses.
func (d *Device) Serve(hotspot, key string) { d.hotspot, d.key = hotspot, key }
