// Package client is a client of a Beacon server. It has a method for each operation
// of the API under /v1, and needs only the standard library.
//
//	c, err := client.New("https://wifi.example.org", os.Getenv("BEACON_KEY"))
//	…
//	found, err := c.Nearby(ctx, client.NearbyQuery{Lat: 40.7536, Lng: -73.9832})
//
// An error response is an [*Error], with its code, its status, the faulty fields and
// the id of the request:
//
//	if errors.Is(err, client.ErrNotFound) { … }
//	if e, ok := errors.AsType[*client.Error](err); ok { log.Print(e.RequestID) }
//
// Paged lists are sequences that request one page after the other. So are events,
// which resume where they stopped when the connection is lost:
//
//	for event, err := range c.Events(ctx, client.FromNow) { … }
//
// A request is retried if the server asks for that (408, 429, 503), after the time that it
// gave, or if the connection fails, but only if repeating it is safe: reads, heartbeats,
// which have an identity, and whatever else is a POST, since it carries an
// Idempotency-Key. Changes and deletions are sent once.
//
// The package does not validate requests: the server does, and names every faulty
// field at once. A Client has no state but its connections, and is safe for
// concurrent use.
package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client talks to one server with one key. It is safe for concurrent use.
type Client struct {
	base     string // without a trailing slash
	key      string
	http     *http.Client
	agent    string
	timeout  time.Duration
	tries    int
	patience time.Duration
	silence  time.Duration
}

const (
	defaultTimeout  = 30 * time.Second
	defaultTries    = 5
	defaultPatience = 30 * time.Second

	// maxSilence is how long a stream of events may be silent. The server sends
	// something at least every 15 s.
	maxSilence = 45 * time.Second
)

// Option configures a client.
type Option func(*Client)

// WithHTTPClient sends requests through h. A Timeout of h would also end streams of
// events and downloads of statements: see [WithTimeout].
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithTimeout limits each attempt of a request, except streams. The default is 30 s;
// 0 means no limit but that of the context.
func WithTimeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// WithRetries limits how often a request is sent, and how long it waits in between:
// if the server asks for a longer wait, the request fails. The default is 5 times and
// 30 s; 1 try means no retries.
func WithRetries(tries int, patience time.Duration) Option {
	return func(c *Client) { c.tries, c.patience = max(tries, 1), max(patience, 0) }
}

// WithUserAgent sets the User-Agent, for the server's log.
func WithUserAgent(name string) Option { return func(c *Client) { c.agent = name } }

// New returns a client of the server at an address such as "https://wifi.example.org"
// or "http://127.0.0.1:8080", with or without the /v1 at the end. The key may be empty for operations that need none:
// [Client.LinkDevice] and the OpenAPI documents.
func New(address, key string, options ...Option) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("%q is not the URL of a server; it must look like http://127.0.0.1:8080", address)
	}
	c := &Client{
		base: strings.TrimRight(strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), "/"), key: key, http: &http.Client{}, agent: "beacon-client-go",
		timeout: defaultTimeout, tries: defaultTries, patience: defaultPatience, silence: maxSilence,
	}
	for _, option := range options {
		option(c)
	}
	return c, nil
}

// WithKey returns a client of the same server with another key, such as a device's.
// Both share their connections.
func (c *Client) WithKey(key string) *Client {
	other := *c
	other.key = key
	return &other
}

// OpenAPIYAML returns the OpenAPI document of the API, as YAML. It needs no key.
func (c *Client) OpenAPIYAML(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "openapi.yaml")
}

// OpenAPIJSON returns the same document as JSON.
func (c *Client) OpenAPIJSON(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "openapi.json")
}

func (c *Client) document(ctx context.Context, name string) (text []byte, err error) {
	r := get(path(name), nil)
	r.open = true
	err = c.do(ctx, r, func(response *http.Response) (err error) {
		text, err = io.ReadAll(response.Body)
		return err
	})
	return text, err
}
