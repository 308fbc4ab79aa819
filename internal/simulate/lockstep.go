package simulate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// March runs all devices in lockstep with a clock that it advances itself, minute by
// minute, from one time to another: all heartbeats of a minute are accepted before
// the next minute begins. A heartbeat that is refused for good ends it.
func (c *Client) March(ctx context.Context, devices []*Device, from, to time.Time, set func(time.Time), meter *Meter) error {
	senders := c.startPool(ctx, meter, min(c.connections, len(devices)))
	defer senders.stop()
	outcomes := make(chan error, len(devices))
	for now := from; now.Before(to); now = now.Add(time.Minute) {
		set(now)
		sent := 0
		for _, d := range devices {
			if b, due := d.Beat(now); due {
				senders.add(delivery{device: d, beat: b, done: func(err error) { outcomes <- err }})
				sent++
			}
		}
		for range sent {
			select {
			case err := <-outcomes:
				if err != nil {
					return err
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	set(to)
	return nil
}

// Digest hashes what the server returns about all hotspots: status, metrics, and each
// day of their history. It omits ids and creation times, so that two servers with the
// same input have the same digest.
func (c *Client) Digest(ctx context.Context, devices []*Device, from, to time.Time) (string, error) {
	texts := make([][]byte, len(devices))
	err := c.each(ctx, len(devices), func(ctx context.Context, i int) (err error) {
		texts[i], err = c.describe(ctx, devices[i], from, to)
		return err
	})
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, text := range texts {
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// describe returns what the server says about one hotspot, on one line.
func (c *Client) describe(ctx context.Context, d *Device, from, to time.Time) ([]byte, error) {
	var whole struct {
		Status  string          `json:"status"`
		Metrics json.RawMessage `json:"metrics"`
	}
	if err := c.read(ctx, "/v1/hotspots/"+d.hotspot, &whole); err != nil {
		return nil, fmt.Errorf("read hotspot %s: %w", d.hotspot, err)
	}
	var past struct {
		Points json.RawMessage `json:"points"`
	}
	query := url.Values{"from": {from.Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}, "step": {"1d"}}
	if err := c.read(ctx, "/v1/hotspots/"+d.hotspot+"/history?"+query.Encode(), &past); err != nil {
		return nil, fmt.Errorf("read the history of hotspot %s: %w", d.hotspot, err)
	}
	return fmt.Appendf(nil, "%s %s %s\n", whole.Status, whole.Metrics, past.Points), nil
}

// read decodes the data of a response into out, which keeps the server's text where
// package client would not.
func (c *Client) read(ctx context.Context, path string, out any) error {
	return c.repeating(ctx, func() error {
		body, err := c.api.Download(ctx, path, "application/json")
		if err != nil {
			return err
		}
		defer body.Close()
		return json.NewDecoder(body).Decode(&struct{ Data any }{out})
	})
}
