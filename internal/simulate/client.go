package simulate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/client"
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

// NewClient returns a client with an administrator's key, and at most so many
// concurrent connections.
func NewClient(address, key string, connections int) (*Client, error) {
	base, err := url.Parse(address)
	if err != nil || strings.Trim(base.Path, "/") != "" {
		return nil, fmt.Errorf("%q is no address of a server; give it like http://127.0.0.1:8080", address)
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
		if err == nil || try >= maxTries-1 || !pause(ctx, wait) {
			return err
		}
	}
}

// pause waits, and reports false if ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
