package trust_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/simulate"
	"github.com/beacon-wifi/beacon/test/harness"
)

// raid is an attack on a server. It has an operator of its own. Staff are honest: they
// verify what they are shown.
type raid struct {
	attack
	server          *url.URL
	staff, operator *client.Client
	lat, lng        float64
	seed            uint64
	devices         []*device
	wires           []*simulate.Wire
	began           time.Time

	lines    int            // the first of the lines that its devices use, on a network of its own
	accuracy float64        // of visits, in metres; 0: as usual
	together bool           // all devices send from one address
	app      *client.Client // with a key of someone else, at that address

	connections *http.Transport // of the app

	// checkIns is how many check-ins were sent, and counted how many of them counted.
	checkIns, counted int

	// heard has the minutes in which a heartbeat was accepted.
	heard []time.Time

	// next is an honest hotspot at the same place, of an operator of its own, or nil.
	next *raid
}

// device is a device that takes part in an attack.
type device struct {
	*simulate.Device
	form         client.Registration
	hotspot, key string
}

// newRaid prepares an attack, with an operator that is new to the server. Attacks with
// different numbers happen at different places.
func newRaid(ctx context.Context, server string, staff *client.Client, a attack, number int, seed uint64) (*raid, error) {
	base, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	r := &raid{attack: a, server: base, staff: staff, lat: 40.6 + 0.02*float64(number), lng: -73.95, seed: seed<<8 + uint64(number), lines: 250 * (2*number + int(seed%2))}
	made, err := staff.CreateKey(ctx, client.KeyCreation{UserID: "new", Name: "attack " + a.name, Scopes: []string{client.ScopeHotspotsWrite, client.ScopeRewardsRead}})
	if err != nil {
		return nil, fmt.Errorf("create a key: %w", err)
	}
	r.operator = staff.WithKey(made.Secret)
	if a.neighbor {
		r.next, err = newRaid(ctx, server, staff, honest, number, seed+1)
	}
	return r, err
}

// close closes its connections.
func (r *raid) close() {
	for _, w := range r.wires {
		w.Close()
	}
	if r.connections != nil {
		r.connections.CloseIdleConnections()
	}
	if r.next != nil {
		r.next.close()
	}
}

// shot is a heartbeat that an attack sends.
type shot struct {
	device *device
	beat   simulate.Beat
}

// step does what the attack does in a minute, and returns once the server has accepted
// it. It must be called for every minute, in order.
func (r *raid) step(ctx context.Context, now time.Time) error {
	if r.began.IsZero() {
		r.began = now
	}
	shots, err := r.minute(ctx, r, now)
	if err == nil {
		err = r.fire(ctx, shots)
	}
	if err != nil {
		return fmt.Errorf("attack %s at %s: %w", r.name, now.Format(time.DateTime), err)
	}
	if len(shots) > 0 {
		r.heard = append(r.heard, now)
	}
	if r.next != nil && now.After(r.began) { // it comes later
		return r.next.step(ctx, now)
	}
	return nil
}

// fire sends heartbeats, each over a connection of its own.
func (r *raid) fire(ctx context.Context, shots []shot) error {
	for len(r.wires) < len(shots) {
		r.wires = append(r.wires, simulate.NewWire(context.WithoutCancel(ctx), r.server))
	}
	sending, ctx := errgroup.WithContext(ctx)
	for i := range shots {
		sending.Go(func() error { return r.wires[i].Send(ctx, shots[i].device.Device, &shots[i].beat) })
	}
	return sending.Wait()
}

const usualAppetite = 10_000 // bytes a client moves per second

// slow and fast are the lines of devices. Attackers have slow ones.
var slow, fast = simulate.Uplink{Down: 24, Up: 3, Latency: 58}, simulate.Uplink{Down: 480, Up: 60, Latency: 8}

// device makes a device at a distance from the place of the attack, in metres. It never
// fails, has a slow line, and carries as much as all others of the attack.
func (r *raid) device(east, north float64, settings *client.SettingsForm) *device {
	return r.deviceLike(simulate.Character{Seed: r.seed, Appetite: usualAppetite, Uplink: slow}, east, north, settings)
}

func (r *raid) deviceLike(c simulate.Character, east, north float64, settings *client.SettingsForm) *device {
	c.Place, c.Crowd, c.DBM, c.Fails = simulate.Business, 14, -60, 20*365*24*time.Hour
	number := len(r.devices)
	if !r.together {
		c.Line = r.lines + 1 + number
	}
	d := &device{Device: c.Device(), form: client.Registration{
		Name: fmt.Sprintf("%s %d", r.name, number), Type: client.Business, Location: r.at(east, north), Settings: settings,
		Device: client.AccessPoint{SSID: r.name, MACAddress: fmt.Sprintf("02:%02x:%02x:00:%02x:%02x", byte(r.seed>>8), byte(r.seed), byte(number>>8), byte(number))},
	}}
	r.devices = append(r.devices, d)
	return d
}

// at returns the point at a distance from the place of the attack.
func (r *raid) at(east, north float64) client.Place {
	const metresADegree = 111_195
	round := func(v float64) float64 { return math.Round(v*1e7) / 1e7 }
	return client.Place{Lat: round(r.lat + north/metresADegree), Lng: round(r.lng + east/metresADegree/math.Cos(r.lat*math.Pi/180))}
}

// enroll registers, verifies and links a device. Staff find it at a place.
func (r *raid) enroll(ctx context.Context, d *device, found client.Place) error {
	made, err := r.operator.RegisterHotspot(ctx, d.form)
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	d.hotspot = made.ID
	if err := r.visit(ctx, d, found, nil); err != nil {
		return err
	}
	return r.link(ctx, d)
}

// visit lets staff find the device at a place, and measure its speed there.
func (r *raid) visit(ctx context.Context, d *device, at client.Place, speed *client.Speedtest) error {
	_, err := r.staff.VerifyHotspot(ctx, d.hotspot, client.Verification{Lat: at.Lat, Lng: at.Lng, AccuracyM: cmp.Or(r.accuracy, 5), Method: "gps", Speedtest: speed})
	return err
}

// find lets staff find the device at another place than before.
func (r *raid) find(ctx context.Context, d *device, at client.Place) error {
	_, err := r.staff.VerifyHotspot(ctx, d.hotspot, client.Verification{Lat: at.Lat, Lng: at.Lng, AccuracyM: 5, Method: "gps", Moved: true})
	return err
}

// link gets the device its key.
func (r *raid) link(ctx context.Context, d *device) error {
	made, err := r.operator.CreateLinkCode(ctx, d.hotspot)
	if err != nil {
		return fmt.Errorf("make a code: %w", err)
	}
	linked, err := r.operator.LinkDevice(ctx, made.Code, d.form.Device.MACAddress)
	if err != nil {
		return fmt.Errorf("link: %w", err)
	}
	d.serve(d.hotspot, linked.DeviceKey)
	return nil
}

// serve sets the hotspot of the device, and the key that it uses.
func (d *device) serve(hotspot, key string) {
	d.hotspot, d.key = hotspot, key
	d.Serve(hotspot, key)
}

// vouch checks an install in at all hotspots of the attack.
func (r *raid) vouch(ctx context.Context, install string) error {
	if r.app == nil {
		made, err := r.staff.CreateKey(ctx, client.KeyCreation{UserID: "new", Name: "app of " + r.name, Scopes: []string{client.ScopeCheckInsWrite}})
		if err != nil {
			return fmt.Errorf("create a key for an app: %w", err)
		}
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}} // as the devices
		r.connections = &http.Transport{DialContext: dialer.DialContext}
		if r.app, err = client.New(r.server.String(), made.Secret, client.WithHTTPClient(&http.Client{Transport: r.connections})); err != nil {
			return err
		}
	}
	for _, d := range r.devices {
		done, err := r.app.CheckIn(ctx, d.hotspot, client.CheckIn{Install: install, Works: true})
		if err != nil {
			return err
		}
		if done.Counts {
			r.counted++
		}
		r.checkIns++
	}
	return nil
}

// runRaids runs attacks by a clock that it advances, minute by minute, from one time to
// another. Then it waits until the server has closed the last day for the first of them,
// which must have served on it.
func runRaids(t *testing.T, raids []*raid, from, to time.Time, set func(time.Time)) {
	t.Helper()
	for now := from; now.Before(to); now = now.Add(time.Minute) {
		set(now)
		stepping, ctx := errgroup.WithContext(t.Context())
		for _, r := range raids {
			stepping.Go(func() error { return r.step(ctx, now) })
		}
		if err := stepping.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	day := to.Add(-time.Minute).Format(time.DateOnly)
	harness.Eventually(t, "the last day is closed", func() bool {
		set(to)
		to = to.Add(time.Minute)
		why, err := raids[0].operator.ExplainRewards(t.Context(), raids[0].devices[0].hotspot, day)
		if err != nil {
			t.Fatal(err)
		}
		return !why.Open
	})
}
