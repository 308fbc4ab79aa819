package simulate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

// Check checks that there is a server and that the key is valid.
func (c *Client) Check(ctx context.Context) error {
	var self struct{ Scopes []string }
	err := c.send(ctx, get("/v1/keys/self"), &self)
	if no, ok := errors.AsType[*refusal](err); ok && no.status == http.StatusUnauthorized {
		return errors.New("the server does not know this key; create one with: beacon keys create --user new --scopes admin")
	}
	if _, ok := errors.AsType[*refusal](err); !ok && err != nil && ctx.Err() == nil {
		return fmt.Errorf("cannot reach a server at %s: %w", c.base, err)
	}
	if err == nil && !slices.Contains(self.Scopes, "admin") {
		return fmt.Errorf("the key has the scopes %v; registering, verifying and linking hotspots needs admin", self.Scopes)
	}
	return err
}

// SetUp registers, verifies and links all devices, and counts those done. It may be
// repeated: it finds the devices that are already registered.
func (c *Client) SetUp(ctx context.Context, devices []*Device, done *atomic.Int64) error {
	found := sync.OnceValues(func() (map[string]string, error) { return c.registered(ctx) })
	return c.each(ctx, len(devices), func(ctx context.Context, i int) error {
		d := devices[i]
		if err := c.register(ctx, d, found); err != nil {
			return err
		}
		if err := c.link(ctx, d); err != nil {
			return err
		}
		d.registration = registration{} // free it: there may be a million
		done.Add(1)
		return nil
	})
}

func (c *Client) register(ctx context.Context, d *Device, found func() (map[string]string, error)) error {
	var made struct{ ID string }
	form := post("/v1/hotspots", d.registration)
	form.once = c.run + d.registration.Device.MAC
	err := c.call(ctx, form, &made)
	d.hotspot = made.ID
	if no, ok := errors.AsType[*refusal](err); ok && no.status == http.StatusConflict {
		own, err := found()
		if err != nil {
			return fmt.Errorf("look for existing hotspots: %w", err)
		}
		if d.hotspot = own[d.registration.Device.MAC]; d.hotspot == "" {
			return fmt.Errorf("the MAC address %s belongs to another user's hotspot; choose another --seed", d.registration.Device.MAC)
		}
	} else if err != nil {
		return fmt.Errorf("register a hotspot: %w", err)
	}
	at := d.registration.Location
	report := map[string]any{"lat": at.Lat, "lng": at.Lng, "accuracy_m": 5, "method": "gps"}
	if err := c.call(ctx, post("/v1/hotspots/"+d.hotspot+"/verification", report), nil); err != nil {
		return fmt.Errorf("verify hotspot %s: %w", d.hotspot, err)
	}
	return nil
}

// registered returns the hotspots of the key's user, by MAC address.
func (c *Client) registered(ctx context.Context) (map[string]string, error) {
	var self struct {
		UserID string `json:"user_id"`
	}
	if err := c.call(ctx, get("/v1/keys/self"), &self); err != nil {
		return nil, err
	}
	own := map[string]string{}
	for number := 1; ; number++ {
		var page []struct {
			ID     string
			Device accessPoint
		}
		path := fmt.Sprintf("/v1/users/%s/hotspots?per_page=100&page=%d", self.UserID, number)
		if err := c.call(ctx, get(path), &page); err != nil {
			return nil, err
		}
		for _, h := range page {
			own[h.Device.MAC] = h.ID
		}
		if len(page) == 0 {
			return own, nil
		}
	}
}

// link gets the device its key. A code can be used once: if the response is lost,
// link makes another code.
func (c *Client) link(ctx context.Context, d *Device) error {
	var err error
	for range 3 {
		err = c.linkOnce(ctx, d)
		if no, ok := errors.AsType[*refusal](err); !ok || no.status != http.StatusForbidden {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("link the device of hotspot %s: %w", d.hotspot, err)
	}
	return nil
}

func (c *Client) linkOnce(ctx context.Context, d *Device) error {
	var made struct{ Code string }
	if err := c.call(ctx, post("/v1/hotspots/"+d.hotspot+"/link-code", nil), &made); err != nil {
		return err
	}
	form := post("/v1/devices/link", map[string]string{"code": made.Code, "mac_address": d.registration.Device.MAC})
	form.open = true
	var linked struct {
		DeviceKey string `json:"device_key"`
	}
	err := c.call(ctx, form, &linked)
	d.key = linked.DeviceKey
	return err
}

// each calls do count times, over as many connections as allowed, until one call
// fails.
func (c *Client) each(ctx context.Context, count int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var working sync.WaitGroup
	for range min(c.connections, count) {
		working.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= count {
					return
				}
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	working.Wait()
	return context.Cause(ctx)
}
