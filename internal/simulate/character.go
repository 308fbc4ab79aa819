package simulate

import "time"

// Character is what a device is like, for who has hotspots of its own and wants
// devices for them.
type Character struct {
	Seed     uint64        // of all that chance decides
	Place    string        // whose rhythm it has: Home, Business, Public, Street, Station, Library or Park
	Crowd    float64       // clients on average
	DBM      float64       // how well they are heard
	Appetite float64       // bytes a client moves in a second
	Down, Up float64       // what its line can do, in Mbit/s,
	Latency  float64       // and in milliseconds
	Fails    time.Duration // between two outages, on average
	Repair   time.Duration // how long an outage lasts, on average
}

// Device makes the device. It is registered and linked by whoever made it up.
func (c Character) Device() *Device {
	d := &Device{
		kind: c.Place, crowd: c.Crowd, dbm: c.DBM, appetite: c.Appetite,
		uplink: uplink{c.Down, c.Up, c.Latency}, fails: c.Fails, repair: c.Repair, chance: chanceOf(c.Seed, 0),
	}
	d.testsAt = time.Duration(d.chance.unit() * float64(testEvery))
	d.reboot()
	return d
}

// Serve says which hotspot the device is of, and with which key it signs in.
func (d *Device) Serve(hotspot, key string) { d.hotspot, d.key = hotspot, key }

// Restart is a device that was switched off and on again.
func (d *Device) Restart() { d.reboot() }
