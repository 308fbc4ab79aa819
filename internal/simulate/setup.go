package simulate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/clock"
)

// Client talks to a server: as an operator through api, and as devices through wires.
type Client struct {
	// Clock is the devices' clock, for a server with a simulated clock.
	Clock func() time.Time

	api         *client.Client // sends each request once: see repeating
	http        *http.Client
	base        *url.URL
	connections int
	run         string // distinguishes retries from a new run
	limited     atomic.Bool
}

// answerTime is how long a response may take.
const answerTime = 30 * time.Second

// NewClient returns a client with an administrator's key and a limit on concurrent
// connections.
func NewClient(address, key string, connections int) (*Client, error) {
	base, err := url.Parse(address)
	if err != nil || strings.Trim(base.Path, "/") != "" {
		return nil, fmt.Errorf("%q is not the URL of a server; it must look like http://127.0.0.1:8080", address)
	}
	c := &Client{Clock: time.Now, base: base, connections: connections, run: rand.Text(), http: &http.Client{
		Timeout:   answerTime,
		Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, IdleConnTimeout: time.Minute},
	}}
	c.api, err = client.New(address, key, client.WithHTTPClient(c.http), client.WithRetries(1, 0))
	return c, err
}

// Limited reports whether the server has rate limited any request other than a
// device's.
func (c *Client) Limited() bool { return c.limited.Load() }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

const (
	maxTries   = 8
	firstPause = 100 * time.Millisecond
)

// repeating calls send until it succeeds or fails for good. It waits if the server
// asks for that or is down. It has more patience than package client: a server that
// limits requests slows a simulation down, but does not end it.
func (c *Client) repeating(ctx context.Context, send func() error) error {
	for try := 0; ; try++ {
		err := send()
		wait := firstPause << min(try, 6)
		if no, ok := errors.AsType[*client.Error](err); ok {
			if no.Status != http.StatusTooManyRequests && no.Status < 500 {
				return err
			}
			if no.Status == http.StatusTooManyRequests {
				c.limited.Store(true)
			}
			if no.RetryAfter > 0 {
				wait, try = no.RetryAfter, min(try, maxTries-2) // the server knows best
			}
		}
		if err == nil || try >= maxTries-1 || !clock.Pause(ctx, wait) {
			return err
		}
	}
}

// Check checks that there is a server and that the key is valid.
func (c *Client) Check(ctx context.Context) error {
	self, err := c.api.OwnKey(ctx)
	if errors.Is(err, client.ErrUnauthorized) {
		return errors.New("the server does not know this key; create one with: beacon keys create --user new --scopes admin")
	}
	if _, ok := errors.AsType[*client.Error](err); !ok && err != nil && ctx.Err() == nil {
		return fmt.Errorf("cannot reach a server at %s: %w", c.base, err)
	}
	if err == nil && !slices.Contains(self.Scopes, client.ScopeAdmin) {
		return fmt.Errorf("the key has the scopes %v; registering, verifying and linking hotspots needs admin", self.Scopes)
	}
	return err
}

// SetUp registers, verifies and links all devices, and counts those done. It may be
// repeated: it finds the devices that are already registered.
func (c *Client) SetUp(ctx context.Context, devices []*Device, done *atomic.Int64) error {
	found := sync.OnceValues(func() (map[string]client.Hotspot, error) { return c.registered(ctx) })
	// A visit by their own operator would prove nothing: another user verifies hotspots.
	var key client.CreatedKey
	err := c.repeating(ctx, func() (err error) {
		key, err = c.api.CreateKey(ctx, client.KeyCreation{UserID: "new", Name: "simulated staff", Scopes: []string{client.ScopeHotspotsVerify}})
		return err
	})
	if err != nil {
		return fmt.Errorf("create a key for staff: %w", err)
	}
	defer func() { _ = c.api.RevokeKey(context.WithoutCancel(ctx), key.ID) }() // it can do no more than verify
	staff := c.api.WithKey(key.Secret)
	return c.each(ctx, len(devices), func(ctx context.Context, i int) error {
		d := devices[i]
		if err := c.register(ctx, d, found); err != nil {
			return err
		}
		if err := c.verify(ctx, staff, d); err != nil {
			return err
		}
		if err := c.link(ctx, d); err != nil {
			return err
		}
		d.registration = client.Registration{} // free it: there may be a million
		done.Add(1)
		return nil
	})
}

func (c *Client) register(ctx context.Context, d *Device, found func() (map[string]client.Hotspot, error)) error {
	form := d.registration
	form.IdempotencyKey = c.run + form.Device.MACAddress
	err := c.repeating(ctx, func() error {
		made, err := c.api.RegisterHotspot(ctx, form)
		d.hotspot = made.ID
		return err
	})
	if errors.Is(err, client.ErrConflict) {
		own, err := found()
		if err != nil {
			return fmt.Errorf("look for existing hotspots: %w", err)
		}
		was, known := own[form.Device.MACAddress]
		d.hotspot = was.ID
		d.registration.Location = client.Place{Lat: was.Location.Lat, Lng: was.Location.Lng} // it stays where it is
		if !known {
			return fmt.Errorf("the MAC address %s belongs to another user's hotspot; choose another --seed", form.Device.MACAddress)
		}
	} else if err != nil {
		return fmt.Errorf("register a hotspot: %w", err)
	}
	return nil
}

// verify lets staff find the hotspot where it is registered.
func (c *Client) verify(ctx context.Context, staff *client.Client, d *Device) error {
	at := d.registration.Location
	err := c.repeating(ctx, func() error {
		_, err := staff.VerifyHotspot(ctx, d.hotspot, client.Verification{Lat: at.Lat, Lng: at.Lng, AccuracyM: 5, Method: "gps"})
		return err
	})
	if err != nil {
		return fmt.Errorf("verify hotspot %s: %w", d.hotspot, err)
	}
	return nil
}

// registered returns the hotspots of the key's user, by MAC address.
func (c *Client) registered(ctx context.Context) (map[string]client.Hotspot, error) {
	own := map[string]client.Hotspot{}
	for number, last := 1, 1; number <= last; number++ {
		err := c.repeating(ctx, func() error {
			page, err := c.api.HotspotsPage(ctx, "me", client.PageQuery{Page: number, PerPage: 100})
			for _, h := range page.Items {
				own[h.Device.MACAddress] = h
			}
			last = page.TotalPages
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return own, nil
}

// link gets the device its key. A code can be used once: if the response is lost,
// link makes another code.
func (c *Client) link(ctx context.Context, d *Device) error {
	err := c.repeating(ctx, func() error {
		made, err := c.api.CreateLinkCode(ctx, d.hotspot)
		if err != nil {
			return err
		}
		linked, err := c.api.LinkDevice(ctx, made.Code, d.registration.Device.MACAddress)
		d.key = linked.DeviceKey
		return err
	})
	if err != nil {
		return fmt.Errorf("link the device of hotspot %s: %w", d.hotspot, err)
	}
	return nil
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
