package simulate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/client"
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
func (c *Client) describe(ctx context.Context, d *Device, from, to time.Time) (line []byte, err error) {
	err = c.repeating(ctx, func() error {
		h, err := c.api.Hotspot(ctx, d.hotspot)
		if err != nil {
			return fmt.Errorf("read hotspot %s: %w", d.hotspot, err)
		}
		past, err := c.api.History(ctx, d.hotspot, client.HistoryQuery{From: from, To: to, Step: "1d"})
		if err != nil {
			return fmt.Errorf("read the history of hotspot %s: %w", d.hotspot, err)
		}
		line, err = json.Marshal([]any{h.Status, h.Metrics, past.Points})
		return err
	})
	return append(line, '\n'), err
}
