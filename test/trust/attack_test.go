package trust_test

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/simulate"
)

// attack is a way to earn more than the service that is given.
type attack struct {
	name  string
	about string // in a few words, which docs/trust.md has too

	size     int  // how many hotspots or addresses it uses
	neighbor bool // an honest hotspot stands at the same place
	minute   tactic
}

// tactic is what an attack does in a minute.
type tactic func(context.Context, *raid, time.Time) ([]shot, error)

// honest is no attack: one hotspot that serves at all times.
var honest = attack{name: "honest", about: "a real device that serves at all times", size: 1, minute: always(asIs)}

// attacks returns all attacks that docs/trust.md names.
func attacks() []attack {
	return []attack{
		{"script", "a loop without a radio, with the same figures every minute", 1, false, always(script)},
		{"invented-tests", "a slow line, and speed tests that were never made", 1, false, always(inventTests)},
		{"ramp", "no clients, and traffic that grows faster and faster", 1, false, always(ramp)},
		{"absurd-boots", "a reboot every minute, and gigabytes carried since", 1, false, always(reboot)},
		{"one-minute-hours", "open for one minute a day, and online in that one", 1, false, oneMinuteHours},
		{"link-unlink", "linked for five minutes at a time, so never offline", 1, false, atTimes(every(120, 0), every(120, 5), full(60))},
		{"late-link", "linked at 23:59 and unlinked at midnight, every day", 1, false, atTimes(every(24*60, 24*60-1), every(24*60, 0), full(1))},
		{"early-delete", "registered at 23:57 and deleted at 00:02, every day", 1, false, earlyDelete},
		{"same-mac", "one router, registered and deleted six times a day", 6, false, sameMAC},
		{"point", "many hotspots of one operator on one point", 40, false, crowd(0, false)},
		{"ring", "many hotspots, registered around the one point that staff visit", 40, false, crowd(95, false)},
		{"vague-visit", "found by a careless visit, somewhere within 100 m", 1, false, vague},
		{"many-addresses", "the key of one device, used from many addresses at once", 50, false, clones},
		{"interleaved", "two devices at two places that take turns with one key", 2, false, clones},
		{"one-in-four", "one heartbeat in four minutes, which is just enough", 1, false, sometimes(every(4, 0))},
		{"squatter", "31 minutes an hour by the oldest, next to one that always serves", 1, true, sometimes(through(30))},
		{"grow", "a radius of 500 m, claimed after the visit", 1, false, grow},
		{"app-farm", "apps at home that vouch every day for three scripts without a radio", 3, false, appFarm},
		{"imitator", "a script that imitates a real device in every figure", 1, false, always(asIs)},
		{"best-imitator", "a script that imitates a fast and busy device", 1, false, imitateBest},
	}
}

// deed is what a device reports in a minute, given what a real one would.
type deed func(d *device, b *simulate.Beat)

// always is an attack by one hotspot that reports every minute.
func always(do deed) tactic {
	return func(ctx context.Context, r *raid, now time.Time) ([]shot, error) {
		d, err := r.first(ctx, 0, nil)
		if err != nil {
			return nil, err
		}
		return []shot{d.shoot(now, do)}, nil
	}
}

// first returns the first device, which it enrolls if there is none yet, some metres east of
// the place of the attack.
func (r *raid) first(ctx context.Context, east float64, settings *client.SettingsForm) (*device, error) {
	if len(r.devices) > 0 {
		return r.devices[0], nil
	}
	d := r.device(east, 0, settings)
	return d, r.enroll(ctx, d, d.form.Location)
}

// imitateBest reports what the best device would: fast tests that differ, and more traffic
// than is paid.
func imitateBest(ctx context.Context, r *raid, now time.Time) ([]shot, error) {
	if len(r.devices) == 0 {
		d := r.deviceLike(simulate.Character{Seed: r.seed, Appetite: 3 * usualAppetite, Uplink: fast}, 0, 0, nil)
		if err := r.enroll(ctx, d, d.form.Location); err != nil {
			return nil, err
		}
	}
	return []shot{r.devices[0].shoot(now, asIs)}, nil
}

// shoot returns the heartbeat of a device.
func (d *device) shoot(now time.Time, do deed) shot {
	b, _ := d.Beat(now)
	do(d, &b)
	return shot{d, b}
}

func asIs(*device, *simulate.Beat) {}

var invented = simulate.Uplink{Down: 950, Up: 900, Latency: 2}

const paidADay = 50_000_000_000 // bytes: policy 1 pays no more

// inventTests replaces each test.
func inventTests(_ *device, b *simulate.Beat) {
	if b.Test != (simulate.Uplink{}) {
		b.Test = invented
	}
}

// script reports the same figures at all times.
func script(d *device, b *simulate.Beat) {
	inventTests(d, b)
	b.Clients, b.DBM = 3, -60
	b.Rx, b.Tx = b.Seq*(paidADay/1440/10), b.Seq*(paidADay/1440*9/10)
}

// ramp reports traffic that grows with the square of time: 100 GB on the second day.
func ramp(_ *device, b *simulate.Beat) {
	b.Clients, b.Rx, b.Tx = 0, 0, b.Seq*b.Seq*16_000
}

// reboot reports a boot that carried 5 GB before its first heartbeat.
func reboot(_ *device, b *simulate.Beat) {
	b.Boot, b.Seq, b.Rx, b.Tx = b.Boot+b.Seq, 1, 0, 5_000_000_000
}

// full reports as much as is paid for a day in a few minutes of it, and the best tier.
func full(minutes uint64) deed {
	return func(_ *device, b *simulate.Beat) {
		b.Test = invented
		b.Rx, b.Tx = 0, b.Seq*(paidADay/minutes)
	}
}

func oneMinuteHours(ctx context.Context, r *raid, now time.Time) ([]shot, error) {
	everyDay := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	hours := client.OperatingHours{Timezone: "UTC", Weekly: []client.WeeklyHours{{Days: everyDay, Open: "12:00", Close: "12:01"}}}
	d, err := r.first(ctx, 0, &client.SettingsForm{OperatingHours: &hours})
	if err != nil {
		return nil, err
	}
	if now.Hour() != 12 || now.Minute() != 0 {
		return nil, nil
	}
	return []shot{d.shoot(now, full(1))}, nil
}

// every reports whether a minute is so many after the start of a period.
func every(period, after int) func(minute int) bool {
	return func(minute int) bool { return minute%period == after }
}

// through reports whether a minute of an hour is not after the last one.
func through(last int) func(minute int) bool {
	return func(minute int) bool { return minute <= last }
}

// atTimes links the device when a minute of the day begins a service, and unlinks it when
// one ends it.
func atTimes(begins, ends func(minute int) bool, do deed) tactic {
	return func(ctx context.Context, r *raid, now time.Time) ([]shot, error) {
		minute := now.Hour()*60 + now.Minute()
		if len(r.devices) == 0 {
			if !begins(minute) {
				return nil, nil
			}
			if _, err := r.first(ctx, 0, nil); err != nil {
				return nil, err
			}
		} else if d := r.devices[0]; begins(minute) {
			if err := r.link(ctx, d); err != nil {
				return nil, err
			}
		} else if ends(minute) && d.key != "" {
			d.key = ""
			return nil, r.operator.UnlinkDevice(ctx, d.hotspot)
		}
		if d := r.devices[0]; d.key != "" {
			return []shot{d.shoot(now, do)}, nil
		}
		return nil, nil
	}
}

// anew registers the router another time, and deletes the hotspot that it had.
func (r *raid) anew(ctx context.Context) error {
	if len(r.devices) == 0 {
		_, err := r.first(ctx, 0, nil)
		return err
	}
	d := r.devices[0]
	if err := r.leave(ctx, d); err != nil {
		return err
	}
	d.Restart()
	return r.enroll(ctx, d, r.at(0, 0))
}

// leave deletes the hotspot, if there is one.
func (r *raid) leave(ctx context.Context, d *device) error {
	if d.hotspot == "" {
		return nil
	}
	gone := d.hotspot
	d.hotspot, d.key = "", ""
	return r.operator.DeleteHotspot(ctx, gone, "")
}

func earlyDelete(ctx context.Context, r *raid, now time.Time) ([]shot, error) {
	var err error
	switch now.Hour()*60 + now.Minute() {
	case 23*60 + 57:
		err = r.anew(ctx)
	case 2:
		if len(r.devices) > 0 {
			err = r.leave(ctx, r.devices[0])
		}
	}
	if err != nil || len(r.devices) == 0 || r.devices[0].key == "" {
		return nil, err
	}
	return []shot{r.devices[0].shoot(now, full(2))}, nil
}

func sameMAC(ctx context.Context, r *raid, now time.Time) ([]shot, error) {
	every := 24 * 60 / r.size
	if minute := now.Hour()*60 + now.Minute(); minute%every == 0 {
		if err := r.anew(ctx); err != nil {
			return nil, err
		}
	}
	if len(r.devices) == 0 {
		return nil, nil // it begins with the next registration
	}
	return []shot{r.devices[0].shoot(now, asIs)}, nil
}

// crowd is many hotspots in a ring of some metres around the place of the attack. Staff
// find each where it stands, or all of them in the middle.
func crowd(metres float64, apart bool) tactic {
	return func(ctx context.Context, r *raid, now time.Time) (shots []shot, err error) {
		for i := len(r.devices); i < r.size; i++ {
			angle := 2 * math.Pi * float64(i) / float64(r.size)
			d := r.device(metres*math.Sin(angle), metres*math.Cos(angle), nil)
			found := r.at(0, 0)
			if apart {
				found = d.form.Location
			}
			if err := r.enroll(ctx, d, found); err != nil {
				return nil, err
			}
		}
		for _, d := range r.devices {
			shots = append(shots, d.shoot(now, asIs))
		}
		return shots, nil
	}
}

// vague is a hotspot whose pin its operator chose, and that staff found somewhere near there.
func vague(ctx context.Context, r *raid, now time.Time) ([]shot, error) {
	if len(r.devices) == 0 {
		d := r.device(90, 0, nil)
		r.accuracy = 100
		if err := r.enroll(ctx, d, r.at(0, 0)); err != nil {
			return nil, err
		}
	}
	return []shot{r.devices[0].shoot(now, asIs)}, nil
}

// crowdAround is the attack point with the hotspots some metres away from it.
func crowdAround(metres float64) attack {
	return attack{fmt.Sprintf("clones-%.0f", metres), "Many hotspots of one operator stand close together.", 40, false, crowd(metres, true)}
}

// moved is a hotspot that has served next to another one, and is found at its door on the
// second day.
func moved() attack {
	const besideM = 95
	return attack{"moved", "A hotspot moves to the door of another.", 1, true, func(ctx context.Context, r *raid, now time.Time) ([]shot, error) {
		d, err := r.first(ctx, besideM, nil)
		if err != nil {
			return nil, err
		}
		if now.Equal(r.began.Add(24 * time.Hour)) {
			if err := r.find(ctx, d, r.at(0, 0)); err != nil {
				return nil, err
			}
		}
		return []shot{d.shoot(now, asIs)}, nil
	}}
}

// measured is the attack invented-tests on a hotspot that is visited again once it is linked,
// by staff who test how fast it is.
func measured() attack {
	invent := always(inventTests)
	return attack{"measured-tests", "Staff measure the speed of a device that invents its tests.", 1, false, func(ctx context.Context, r *raid, now time.Time) ([]shot, error) {
		linked := len(r.devices) > 0
		shots, err := invent(ctx, r, now)
		if err == nil && !linked {
			err = r.visit(ctx, r.devices[0], r.at(0, 0), &client.Speedtest{DownMbps: slow.Down, UpMbps: slow.Up, LatencyMS: slow.Latency})
		}
		return shots, err
	}}
}

// clones is many devices with one key, each with its own counters.
func clones(ctx context.Context, r *raid, now time.Time) (shots []shot, err error) {
	for i := len(r.devices); i < r.size; i++ {
		d := r.deviceLike(simulate.Character{Seed: r.seed + uint64(i)<<32, Appetite: usualAppetite, Uplink: slow}, 0, 0, nil)
		if i == 0 {
			if err := r.enroll(ctx, d, r.at(0, 0)); err != nil {
				return nil, err
			}
		}
		d.serve(r.devices[0].hotspot, r.devices[0].key)
	}
	for i, d := range r.devices {
		if r.size > 2 || now.Minute()%2 == i {
			shots = append(shots, d.shoot(now, asIs))
		}
	}
	return shots, nil
}

// sometimes is an attack by one hotspot that reports in some minutes of an hour.
func sometimes(in func(minute int) bool) tactic {
	return func(ctx context.Context, r *raid, now time.Time) ([]shot, error) {
		if !in(now.Minute()) {
			return nil, nil
		}
		return always(asIs)(ctx, r, now)
	}
}

func grow(ctx context.Context, r *raid, now time.Time) ([]shot, error) {
	first := len(r.devices) == 0
	shots, err := always(asIs)(ctx, r, now)
	if err != nil || !first {
		return shots, err
	}
	radius := 500.0
	_, err = r.operator.ChangeHotspot(ctx, r.devices[0].hotspot, client.Change{Settings: &client.SettingsForm{CoverageRadiusM: &radius}})
	return shots, err
}

const (
	farmInstalls = 10
	farmApartM   = 300
)

// appFarm is hotspots at several places that are scripts at one, and as many apps as can
// vouch for them from there, with keys of new users. Each install checks in at all of them.
func appFarm(ctx context.Context, r *raid, now time.Time) (shots []shot, err error) {
	r.together = true
	for i := len(r.devices); i < r.size; i++ {
		d := r.device(float64(i)*farmApartM, 0, nil)
		if err := r.enroll(ctx, d, d.form.Location); err != nil {
			return nil, err
		}
	}
	for _, d := range r.devices {
		shots = append(shots, d.shoot(now, asIs))
	}
	if now.Hour() == 12 && now.Minute() < farmInstalls {
		err = r.vouch(ctx, fmt.Sprintf("farmed-install-%04d", now.Minute()))
	}
	return shots, err
}
