package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/client"
)

// Raid is an attack on a server. It has an operator of its own. Staff are honest: they
// verify what they are shown.
type Raid struct {
	Attack
	Size int // how many hotspots or addresses it uses, where the attack is about a number

	staff, operator *Client
	place           neighbourhood
	seed            uint64
	devices         []*Device
	wires           []*wire
	began           time.Time

	together bool           // all devices send from one address
	app      *client.Client // with a key of someone else, at that address

	connections *http.Transport // of the app

	// CheckIns is how many check-ins were sent, and Counted how many of them counted.
	CheckIns, Counted int

	// Heard has the minutes in which a heartbeat was accepted.
	Heard []time.Time

	// Neighbor is an honest hotspot at the same place, of an operator of its own, or nil.
	Neighbor *Raid
}

// NewRaid prepares an attack, with an operator that is new to the server. Attacks with
// different numbers happen at different places, up to 24 of them.
func (c *Client) NewRaid(ctx context.Context, a Attack, number int, seed uint64) (*Raid, error) {
	r := &Raid{
		Attack: a, Size: a.size, staff: c, seed: seed<<8 + uint64(number),
		place: neighbourhoods[number%len(neighbourhoods)],
	}
	made, err := c.createKey(ctx, "attack "+a.Name, client.ScopeHotspotsWrite, client.ScopeRewardsRead)
	if err != nil {
		return nil, fmt.Errorf("create a key: %w", err)
	}
	r.operator = c.as(made.Secret)
	if a.neighbor {
		r.Neighbor, err = c.NewRaid(ctx, honest, number, seed+1)
	}
	return r, err
}

// Close closes its connections.
func (r *Raid) Close() {
	for _, w := range r.wires {
		w.close()
	}
	if r.connections != nil {
		r.connections.CloseIdleConnections()
	}
	if r.Neighbor != nil {
		r.Neighbor.Close()
	}
}

// shot is a heartbeat that an attack sends.
type shot struct {
	device *Device
	beat   Beat
}

// Minute does what the attack does in a minute, and returns once the server has accepted
// it. It must be called for every minute, in order.
func (r *Raid) Minute(ctx context.Context, now time.Time) error {
	if r.began.IsZero() {
		r.began = now
	}
	shots, err := r.minute(ctx, r, now)
	if err == nil {
		err = r.fire(ctx, shots)
	}
	if err != nil {
		return fmt.Errorf("attack %s at %s: %w", r.Name, now.Format(time.DateTime), err)
	}
	if len(shots) > 0 {
		r.Heard = append(r.Heard, now)
	}
	if r.Neighbor != nil && now.After(r.began) { // it comes later
		return r.Neighbor.Minute(ctx, now)
	}
	return nil
}

// fire sends heartbeats, each over a connection of its own, and from an address of its
// own if that is possible.
func (r *Raid) fire(ctx context.Context, shots []shot) error {
	for len(r.wires) < len(shots) {
		w := newWire(context.WithoutCancel(ctx), r.staff.base)
		number := len(r.wires)
		if r.together {
			number = 0
		}
		w.from = loopback(r.staff.base.Hostname(), number)
		r.wires = append(r.wires, w)
	}
	return r.staff.each(ctx, len(shots), func(ctx context.Context, i int) error {
		w, s := r.wires[i], &shots[i]
		for try := 0; ; try++ {
			got, err := w.send(ctx, s.device, &s.beat)
			wait := firstPause // if there was no response
			if err == nil {
				wait, err = got.judge(s.device)
			}
			if wait == 0 || try >= maxTries || !pause(ctx, wait) {
				return err
			}
		}
	})
}

const (
	never         = 20 * 365 * 24 * time.Hour // longer than any attack takes
	usualAppetite = 10_000                    // bytes a client moves per second
)

// device makes a device at a distance from the place of the attack, in metres. It never
// fails, has a slow line, and carries as much as all others of the attack.
func (r *Raid) device(east, north float64, settings *client.SettingsForm) *Device {
	d := newDevice(r.seed, 0)
	d.character = Character{
		Place: Business, Crowd: usualCrowd[Business], DBM: d.character.DBM, Appetite: usualAppetite, Uplink: uplinks[len(uplinks)-1], Fails: never,
	}
	form := &d.registration
	form.Type, form.Settings = client.Business, settings
	form.Location = r.at(east, north)
	form.Device.MACAddress = macOf(r.seed, len(r.devices))
	r.devices = append(r.devices, d)
	return d
}

// at returns the point at a distance from the place of the attack.
func (r *Raid) at(east, north float64) client.Place {
	const metresADegree = 111_195
	return client.Place{
		Lat: roundTo(r.place.lat+north/metresADegree, 7),
		Lng: roundTo(r.place.lng+east/metresADegree/math.Cos(r.place.lat*math.Pi/180), 7),
	}
}

// enroll registers, verifies and links a device. Staff find it at a place.
func (r *Raid) enroll(ctx context.Context, d *Device, found client.Place) error {
	err := r.operator.register(ctx, d, func() (map[string]string, error) { return nil, errors.New("it is taken") })
	if err == nil {
		err = r.staff.verify(ctx, r.staff.api, d, found)
	}
	if err == nil {
		err = r.operator.link(ctx, d)
	}
	return err
}

// Measured is an attack whose first hotspot is visited again once it is linked, by staff who
// test how fast it is.
func Measured(a Attack) Attack {
	attack := a.minute
	a.minute = func(ctx context.Context, r *Raid, now time.Time) ([]shot, error) {
		linked := len(r.devices) > 0
		shots, err := attack(ctx, r, now)
		if err != nil || linked || len(r.devices) == 0 {
			return shots, err
		}
		at, line := r.at(0, 0), r.devices[0].character.Uplink
		return shots, r.staff.report(ctx, r.staff.api, r.devices[0], client.Verification{
			Lat: at.Lat, Lng: at.Lng, AccuracyM: 5, Method: "gps",
			Speedtest: &client.Speedtest{DownMbps: line.Down, UpMbps: line.Up, LatencyMS: line.Latency},
		})
	}
	return a
}

// vouch checks an install in at all hotspots of the attack.
func (r *Raid) vouch(ctx context.Context, install string) error {
	if r.app == nil {
		made, err := r.staff.createKey(ctx, "app of "+r.Name, client.ScopeCheckInsWrite)
		if err != nil {
			return fmt.Errorf("create a key for an app: %w", err)
		}
		dialer := &net.Dialer{}
		if from := loopback(r.staff.base.Hostname(), 0); from != nil {
			dialer.LocalAddr = from
		}
		r.connections = &http.Transport{DialContext: dialer.DialContext}
		if r.app, err = client.New(r.staff.base.String(), made.Secret, client.WithHTTPClient(&http.Client{Transport: r.connections})); err != nil {
			return err
		}
	}
	for _, d := range r.devices {
		err := r.staff.repeating(ctx, func() error {
			done, err := r.app.CheckIn(ctx, d.hotspot, client.CheckIn{Install: install, Works: true})
			if err == nil && done.Counts {
				r.Counted++
			}
			return err
		})
		if err != nil {
			return err
		}
		r.CheckIns++
	}
	return nil
}

// Earned returns what the attack has earned in a period, such as client.AllMonths.
func (r *Raid) Earned(ctx context.Context, period string) (earned client.Rewards, err error) {
	err = r.operator.repeating(ctx, func() error {
		earned, err = r.operator.api.Rewards(ctx, "me", period)
		return err
	})
	return earned, err
}

// Raids runs attacks by a clock that it advances, minute by minute, from one time to
// another. Then it waits until the server has closed the last day for the first of them,
// which must have served on it.
func (c *Client) Raids(ctx context.Context, raids []*Raid, from, to time.Time, set func(time.Time)) error {
	for now := from; now.Before(to); now = now.Add(time.Minute) {
		set(now)
		if err := c.each(ctx, len(raids), func(ctx context.Context, i int) error { return raids[i].Minute(ctx, now) }); err != nil {
			return err
		}
	}
	for day := to.Add(-time.Minute).Format(time.DateOnly); ; to = to.Add(time.Minute) {
		set(to)
		if closed, err := raids[0].closed(ctx, day); closed || err != nil {
			return err
		}
		if !pause(ctx, firstPause) {
			return ctx.Err()
		}
	}
}

// closed reports whether a day is closed for its first hotspot.
func (r *Raid) closed(ctx context.Context, day string) (closed bool, err error) {
	err = r.operator.repeating(ctx, func() error {
		why, err := r.operator.api.ExplainRewards(ctx, r.devices[0].hotspot, day)
		closed = !why.Open
		return err
	})
	return closed, err
}

// Drive runs the attack in real time until ctx ends.
func (r *Raid) Drive(ctx context.Context) error {
	for {
		now := r.staff.Clock().UTC()
		if err := r.Minute(ctx, now); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if !pause(ctx, now.Truncate(time.Minute).Add(time.Minute).Sub(r.staff.Clock())) {
			return nil
		}
	}
}
