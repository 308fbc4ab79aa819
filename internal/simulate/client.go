package simulate

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

// Client talks to a server.
type Client struct {
	// Clock is the devices' clock, for a server with a simulated clock.
	Clock func() time.Time

	base        *url.URL
	key         string
	connections int
	run         string // distinguishes retries from a new run
	http        *http.Client
	limited     atomic.Bool
}

// answerTime is how long a response may take.
const answerTime = 30 * time.Second

// NewClient returns a client with an administrator's key, and at most so many
// concurrent connections.
func NewClient(address, key string, connections int) (*Client, error) {
	base, err := url.Parse(address)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.Path != "" && base.Path != "/" || base.RawQuery != "" {
		return nil, fmt.Errorf("%q is not the URL of a server; it must look like http://127.0.0.1:8080", address)
	}
	base.Path = ""
	return &Client{
		Clock: time.Now, base: base, key: key, connections: connections, run: rand.Text(),
		http: &http.Client{
			Timeout:   answerTime,
			Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, IdleConnTimeout: time.Minute},
		},
	}, nil
}

// Limited reports whether the server has rate limited any request other than a
// device's.
func (c *Client) Limited() bool { return c.limited.Load() }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// refusal is an error response.
type refusal struct {
	status     int
	code       string
	message    string
	retryAfter time.Duration
}

func (r *refusal) Error() string {
	return fmt.Sprintf("the server returned %d %s: %s", r.status, r.code, r.message)
}

// worthRepeating reports whether to retry after a refusal.
func (r *refusal) worthRepeating() bool {
	return r.status == http.StatusTooManyRequests || r.status >= 500
}

const (
	maxTries   = 8
	firstPause = 100 * time.Millisecond
)

// request is a request to send.
type request struct {
	method, path string
	open         bool   // needs no key
	once         string // the idempotency key, or empty
	body         any
}

func get(path string) request { return request{method: http.MethodGet, path: path} }

func post(path string, body any) request {
	return request{method: http.MethodPost, path: path, body: body}
}

// call sends a request and decodes the data of the response into out. It waits and
// retries if the server asks for that or is down.
func (c *Client) call(ctx context.Context, r request, out any) error {
	for try := 0; ; try++ {
		err := c.send(ctx, r, out)
		wait := firstPause << min(try, 6)
		if no, ok := errors.AsType[*refusal](err); ok {
			if !no.worthRepeating() {
				return err
			}
			if no.status == http.StatusTooManyRequests {
				c.limited.Store(true)
			}
			if no.retryAfter > 0 {
				wait, try = no.retryAfter, min(try, maxTries-2) // the server knows best
			}
		}
		if err == nil || try >= maxTries-1 || !pause(ctx, wait) {
			return err
		}
	}
}

// send makes one attempt.
func (c *Client) send(ctx context.Context, r request, out any) error {
	request, err := c.encode(ctx, r)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var envelope struct {
		Data  json.RawMessage
		Error struct{ Code, Message string }
	}
	err = json.Unmarshal(text, &envelope)
	if response.StatusCode/100 != 2 {
		return &refusal{response.StatusCode, envelope.Error.Code, envelope.Error.Message, seconds(response.Header.Get("Retry-After"))}
	}
	if err == nil && out != nil {
		err = json.Unmarshal(envelope.Data, out)
	}
	if err != nil {
		return fmt.Errorf("the response to %s %s is not from a Beacon server: %w", r.method, r.path, err)
	}
	return nil
}

func (c *Client) encode(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	encoded, err := http.NewRequestWithContext(ctx, r.method, c.base.String()+r.path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		encoded.Header.Set("Content-Type", "application/json")
	}
	if !r.open {
		encoded.Header.Set("Authorization", "Bearer "+c.key)
	}
	if r.once != "" {
		encoded.Header.Set("Idempotency-Key", r.once)
	}
	return encoded, nil
}

func seconds(header string) time.Duration {
	n, err := strconv.Atoi(header)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
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
