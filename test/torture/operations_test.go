//go:build linux

package torture_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/beacon-wifi/beacon/test/harness"
)

// ask does one operation and notes what became of it.
func (c *client) ask(ctx context.Context, s *harness.Server, k kind) harness.Answer {
	h := c.load.history
	switch k {
	case beat:
		return c.beat(ctx, s)
	case register:
		return c.register(ctx, s)
	case earned:
		u := c.load.users[c.rng.IntN(len(c.load.users))]
		o := &op{kind: earned, client: c.number, user: u, target: u.id, call: h.now()}
		a := u.Do(ctx, http.MethodGet, s.URL+"/v1/users/me/rewards?period=all", nil)
		h.note(nil, o, a)
		return a
	}
	hotspot := c.pick()
	if hotspot == nil { // nobody has registered anything yet
		return c.register(ctx, s)
	}
	switch k {
	case change:
		return c.load.change(ctx, s, hotspot, c.number, c.someChange(hotspot))
	case read:
		return c.load.read(ctx, s, hotspot, c.number)
	case nearby:
		return c.look(ctx, s, hotspot)
	default:
		return c.survey(ctx, s, hotspot)
	}
}

// pick chooses a hotspot: half of the time one of the few newest, so that
// clients meet.
func (c *client) pick() *hotspot {
	const hot = 4
	h := c.load.history
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.there)
	switch {
	case n == 0:
		return nil
	case c.rng.IntN(2) == 0:
		return h.there[n-1-c.rng.IntN(min(hot, n))]
	default:
		return h.there[c.rng.IntN(n)]
	}
}

// beat is the next heartbeat of one of the client's own devices.
func (c *client) beat(ctx context.Context, s *harness.Server) harness.Answer {
	h, d := c.load.history, c.load.devices[c.number+clients*c.rng.IntN(devices/clients)]
	o := &op{kind: beat, client: c.number, target: d.Hotspot, asked: d.Next(), call: h.now()}
	a := d.Send(ctx, c.load.admin, s, o.asked)
	d.Hear(a, o.asked)
	h.note(nil, o, a)
	return a
}

// register registers a hotspot; one in eight asks for a MAC that is taken.
func (c *client) register(ctx context.Context, s *harness.Server) harness.Answer {
	n := int(c.load.number.Add(1)) - 1
	mac := harness.MACOf(n)
	if other := c.pick(); other != nil && c.rng.IntN(8) == 0 {
		mac = harness.MACOf(other.number)
	}
	owner := c.load.users[c.rng.IntN(len(c.load.users))]
	_, a := c.load.register(ctx, s, owner, n, c.number, mac)
	return a
}

// register registers hotspot n.
func (l *load) register(ctx context.Context, s *harness.Server, owner *user, n, client int, mac string) (*hotspot, harness.Answer) {
	mine := &hotspot{number: n, owner: owner}
	body := harness.Registration(n)
	body["device"].(harness.Fields)["mac_address"] = mac
	l.add(mine)
	o := &op{kind: register, client: client, user: owner, asked: body, call: l.now()}
	a := owner.Do(ctx, http.MethodPost, s.URL+"/v1/hotspots", body)
	l.note(mine, o, a)
	return mine, a
}

// someChange sets some fields of a hotspot to values that nobody else writes, as
// far as there are enough of them.
func (c *client) someChange(hotspot *hotspot) harness.Fields {
	body, settings := harness.Fields{}, harness.Fields{}
	for len(body) == 0 {
		if c.rng.IntN(2) == 0 {
			body["name"] = fmt.Sprintf("Hotspot %d %x", hotspot.number, c.rng.Uint32())
		}
		if c.rng.IntN(2) == 0 {
			settings["max_connections"] = 1 + c.rng.IntN(10_000)
		}
		if c.rng.IntN(2) == 0 {
			settings["bandwidth_limit_mbps"] = 0.5 + float64(c.rng.IntN(100_000))/2
		}
		if c.rng.IntN(4) == 0 {
			settings["operating_hours"] = someHours(c.rng.IntN(60))
		}
		if len(settings) > 0 {
			body["settings"] = settings
		}
	}
	return body
}

// someHours are operating hours that end at a minute, or none.
func someHours(minute int) any {
	if minute%3 == 0 {
		return nil
	}
	return harness.Fields{
		"timezone": "UTC", "exceptions": []any{},
		"weekly": []any{harness.Fields{"days": []any{"mon", "thu"}, "open": "08:00", "close": fmt.Sprintf("20:%02d", minute)}},
	}
}

// change changes a hotspot.
func (l *load) change(ctx context.Context, s *harness.Server, hotspot *hotspot, client int, body harness.Fields) harness.Answer {
	o := &op{kind: change, client: client, user: hotspot.owner, target: hotspot.id, asked: body, call: l.now()}
	a := hotspot.owner.Patch(ctx, s, hotspot.id, body)
	l.note(hotspot, o, a)
	return a
}

// read reads a hotspot by its id.
func (l *load) read(ctx context.Context, s *harness.Server, hotspot *hotspot, client int) harness.Answer {
	o := &op{kind: read, client: client, user: hotspot.owner, target: hotspot.id, call: l.now()}
	a := hotspot.owner.Do(ctx, http.MethodGet, s.URL+"/v1/hotspots/"+hotspot.id, nil)
	l.note(hotspot, o, a)
	return a
}

// look looks for a hotspot on the map: for one that must be there, or for one
// that is just being registered.
func (c *client) look(ctx context.Context, s *harness.Server, hotspot *hotspot) harness.Answer {
	h, acknowledged := c.load.history, true
	if c.rng.IntN(2) == 0 {
		hotspot, acknowledged = h.newest()
	}
	o := &op{kind: nearby, client: c.number, user: hotspot.owner, call: h.now()}
	a := hotspot.owner.Do(ctx, http.MethodGet, s.URL+placeOf(hotspot), nil)
	h.note(nil, o, a)
	ids := hotspotIDs(a)
	switch {
	case a.Outcome() != harness.Done:
	case len(ids) > 0:
		h.show(hotspot)
	case acknowledged && len(c.servers) == 1: // others hear of it a moment later
		c.t.Errorf("hotspot %d was acknowledged, and nearby does not show it", hotspot.number)
	}
	return a
}

// placeOf asks what is at the place of a hotspot. Within this radius, each is the
// only one.
func placeOf(hotspot *hotspot) (query string) {
	const metres = 0.4
	lat, lng := harness.PlaceOf(hotspot.number)
	return fmt.Sprintf("/v1/hotspots/nearby?status=all&radius=%v&lat=%v&lng=%v", metres, lat, lng)
}

// survey asks what is covered around a hotspot.
func (c *client) survey(ctx context.Context, s *harness.Server, hotspot *hotspot) harness.Answer {
	const reach = 1e-4
	h := c.load.history
	lat, lng := harness.PlaceOf(hotspot.number)
	o := &op{kind: covered, client: c.number, user: hotspot.owner, call: h.now()}
	url := fmt.Sprintf("%s/v1/coverage?north=%v&south=%v&east=%v&west=%v&zoom=18", s.URL, lat+reach, lat-reach, lng+reach, lng-reach)
	a := hotspot.owner.Do(ctx, http.MethodGet, url, nil)
	h.note(nil, o, a)
	return a
}
