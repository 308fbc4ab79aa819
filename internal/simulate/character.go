package simulate

import "time"

// Character describes a device, for callers that have their own hotspots.
type Character struct {
	Seed     uint64        // of the random numbers
	Place    string        // its rhythm: Home, Business, Public, Street, Station, Library or Park
	Crowd    float64       // mean number of clients
	DBM      float64       // the signal strength of the clients
	Appetite float64       // bytes a client moves per second
	Down, Up float64       // the speed of its line, in Mbit/s,
	Latency  float64       // and its latency in milliseconds
	Fails    time.Duration // mean time between outages
	Repair   time.Duration // mean duration of an outage
}

// Device returns the device. The caller registers and links it.
func (c Character) Device() *Device {
	d := &Device{
		kind: c.Place, crowd: c.Crowd, dbm: c.DBM, appetite: c.Appetite,
		uplink: uplink{c.Down, c.Up, c.Latency}, fails: c.Fails, repair: c.Repair, chance: chanceOf(c.Seed, 0),
	}
	d.testsAt = time.Duration(d.chance.unit() * float64(testEvery))
	d.reboot()
	return d
}

// Serve sets the hotspot of the device, and the key that it uses.
func (d *Device) Serve(hotspot, key string) { d.hotspot, d.key = hotspot, key }

// Restart switches the device off and on again.
func (d *Device) Restart() { d.reboot() }
