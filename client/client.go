package client

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client talks to one server with one key.
type Client struct {
	base     string // without a slash at its end
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

	// maxSilence is how long a stream of events may say nothing: the server says
	// every 15 s that it is there.
	maxSilence = 45 * time.Second
)

// Option changes how a client works.
type Option func(*Client)

// WithHTTPClient makes requests go through h. A Timeout of its would also end
// streams of events, and downloads of statements: see [WithTimeout].
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithTimeout bounds each try of a request, but for those that stream. The
// default is 30 s; 0 is no bound but that of the context.
func WithTimeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// WithRetries bounds how often a request is sent at most, and how long it waits
// in between: a server that asks for more patience than that gets none. The
// default is 5 times and 30 s; 1 try means that nothing is repeated.
func WithRetries(tries int, patience time.Duration) Option {
	return func(c *Client) { c.tries, c.patience = max(tries, 1), max(patience, 0) }
}

// WithUserAgent says who is asking, for the server's log.
func WithUserAgent(name string) Option { return func(c *Client) { c.agent = name } }

// New prepares to talk to the server at an address such as
// "https://wifi.example.org" or "http://127.0.0.1:8080". The key may be empty for
// what needs none: [Client.LinkDevice] and the OpenAPI documents.
func New(address, key string, options ...Option) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("%q is no address of a server; give it like http://127.0.0.1:8080", address)
	}
	c := &Client{
		base: strings.TrimRight(u.String(), "/"), key: key, http: &http.Client{}, agent: "beacon-client-go",
		timeout: defaultTimeout, tries: defaultTries, patience: defaultPatience, silence: maxSilence,
	}
	for _, option := range options {
		option(c)
	}
	return c, nil
}

// WithKey gives a client of the same server with another key, such as that of a
// device. Both share their connections.
func (c *Client) WithKey(key string) *Client {
	other := *c
	other.key = key
	return &other
}
