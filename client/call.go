package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// request is a request to send.
type request struct {
	method string
	path   string
	query  url.Values
	header http.Header
	body   any
	open   bool // sent without the key
	again  bool // safe to repeat
}

func get(path string, query url.Values) request {
	return request{method: http.MethodGet, path: path, query: query, again: true}
}

func post(path string, body any) request {
	return request{method: http.MethodPost, path: path, body: body}
}

// with adds a header, unless its value is empty.
func (r request) with(name, value string) request {
	if value == "" {
		return r
	}
	r.header = r.header.Clone()
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set(name, value)
	return r
}

// path joins the parts of a path, escaping each.
func path(parts ...string) string {
	joined := "/v1"
	for _, part := range parts {
		joined += "/" + url.PathEscape(part)
	}
	return joined
}

// given returns the query of some pairs of a name and a value. Those without a value are
// left to the server's default.
func given(pairs ...string) url.Values {
	query := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			query.Set(pair[0], pair[1])
		}
	}
	return query
}

// whole formats a number; 0 is no value.
func whole(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// decimal formats a number with all its digits, and without an exponent.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Envelope is the body of a successful response.
type Envelope[T any] struct {
	Data       *T          `json:"data"`
	Meta       Meta        `json:"meta"`
	Pagination *Pagination `json:"pagination,omitempty"` // of a list in pages
}

// Meta says which request a response is for.
type Meta struct {
	RequestID string    `json:"request_id"`
	Timestamp time.Time `json:"timestamp"` // of the server
}

// answer is a successful response.
type answer[T any] struct {
	Envelope[T]
	header http.Header
}

// call sends a request and returns the data of the response.
func call[T any](ctx context.Context, c *Client, r request) (T, error) {
	result, err := enveloped[T](ctx, c, r)
	return *result.Data, err
}

// enveloped sends a request and returns the response. With an error, its data is zero.
func enveloped[T any](ctx context.Context, c *Client, r request) (result answer[T], err error) {
	err = c.do(ctx, r, func(response *http.Response) error {
		result = answer[T]{header: response.Header}
		err := json.NewDecoder(response.Body).Decode(&result.Envelope)
		if err == nil && result.Data == nil {
			err = errors.New("it is not from a Beacon server")
		}
		if err != nil {
			return fmt.Errorf("read the response to %s %s: %w", r.method, r.path, err)
		}
		return nil
	})
	if err != nil {
		return answer[T]{Envelope: Envelope[T]{Data: new(T)}}, err
	}
	return result, nil
}

// silent sends a request whose response has no data.
func (c *Client) silent(ctx context.Context, r request) error {
	return c.do(ctx, r, func(*http.Response) error { return nil })
}

// do sends a request and calls read with the response. It retries both if that helps
// and is safe.
func (c *Client) do(ctx context.Context, r request, read func(*http.Response) error) error {
	return c.repeating(ctx, r, func() error {
		ctx, cancel := c.bounded(ctx)
		defer cancel()
		response, err := c.send(ctx, r)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		return read(response)
	})
}

func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.timeout)
}

// repeating calls try until it succeeds, the error is final, or the retries are used
// up.
func (c *Client) repeating(ctx context.Context, r request, try func() error) error {
	for n := 1; ; n++ {
		err := try()
		if err == nil || !r.again || n >= c.tries || ctx.Err() != nil {
			return err
		}
		wait := backoff(n)
		if e, ok := errors.AsType[*Error](err); ok {
			if !e.asksForPatience() || e.RetryAfter > c.patience {
				return err
			}
			wait = max(wait, e.RetryAfter)
		}
		if !pause(ctx, min(wait, c.patience)) {
			return err
		}
	}
}

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// backoff returns how long to wait after the n-th failure. It grows, and is random,
// so that clients do not retry at the same time.
func backoff(n int) time.Duration {
	longest := min(firstPause<<min(n-1, 10), maxPause)
	return longest/2 + rand.N(longest/2)
}

// pause waits, and reports false if ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	waiting, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-waiting.Done()
	return ctx.Err() == nil
}

// send sends a request once. It returns only successful responses, which the caller
// closes.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	request, err := c.encode(ctx, r)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 == 2 || response.StatusCode == http.StatusNotModified {
		return response, nil
	}
	defer response.Body.Close()
	return nil, readFault(response)
}

func (c *Client) encode(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("encode %s %s: %w", r.method, r.path, err)
		}
		body = bytes.NewReader(text)
	}
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, r.header)
	request.Header.Set("User-Agent", c.agent)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" && !r.open {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	return request, nil
}

// Download sends a GET request for a representation of the caller's choice: coverage
// as "application/geo+json", rewards as "text/csv". The path begins with "/v1/" and
// may have a query. The caller closes the result.
func (c *Client) Download(ctx context.Context, path, accept string) (io.ReadCloser, error) {
	var response *http.Response
	r := get(path, nil).with("Accept", accept)
	err := c.repeating(ctx, r, func() (err error) {
		response, err = c.send(ctx, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}
