//go:build linux

package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is an API key, as "beacon keys create --json" prints it.
type Key struct {
	Key    string `json:"key"`
	ID     string `json:"id"`
	UserID string `json:"user_id"`
}

// CreateKey makes a key for a new user on the command line, beside whatever
// server is running.
func CreateKey(t testing.TB, db string, scopes string) Key {
	t.Helper()
	var k Key
	if u, err := url.Parse(db); err == nil && u.Scheme == "postgres" && !u.Query().Has("connect_timeout") {
		settings := u.Query()
		settings.Set("connect_timeout", fmt.Sprint(int(Patience.Seconds()))) // a key is no part of what is tested, and the machine may be busy
		u.RawQuery = settings.Encode()
		db = u.String()
	}
	out := Command(t, "keys", "create", "--db", db, "--user", "new", "--scopes", scopes, "--json")
	if err := json.Unmarshal([]byte(out), &k); err != nil || k.Key == "" {
		t.Fatalf("keys create printed %s: %v", out, err)
	}
	return k
}

// Client asks servers on behalf of a key.
type Client struct {
	HTTP *http.Client
	Key  string

	mu        sync.Mutex
	malformed []string // answers that do not have the documented shape
}

// NewClient makes a client that checks the shape of every answer.
func NewClient(t testing.TB, apiKey string) *Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 512}
	t.Cleanup(transport.CloseIdleConnections)
	c := &Client{HTTP: &http.Client{Transport: transport, Timeout: Patience}, Key: apiKey}
	t.Cleanup(func() { // every answer of every test has the documented shape (invariant I10)
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.malformed) > 0 {
			t.Errorf("%d answers are malformed; the first: %s", len(c.malformed), c.malformed[0])
		}
	})
	return c
}

// Answer is what came back. Without a status, nothing usable did.
type Answer struct {
	Status int
	Header http.Header
	Data   json.RawMessage
	Code   string    // of the error
	At     time.Time // by the server's clock
	Err    error
	Took   time.Duration
}

// Outcome is what a client knows about a write.
type Outcome string

// A write that was done must be there, one that was refused must not, and of
// the others nothing is known.
const (
	Done    Outcome = "done"
	Refused Outcome = "refused"
	Unknown Outcome = "unknown"
)

// Outcome returns what an answer says about a write. A 503 promises that nothing was written; a
// connection that could not be made has carried nothing.
func (a Answer) Outcome() Outcome {
	switch {
	case a.Status >= 200 && a.Status < 300:
		return Done
	case a.Status >= 400 && a.Status < 500, a.Status == 503:
		return Refused
	case a.Err != nil && strings.Contains(a.Err.Error(), "connection refused"):
		return Refused
	default:
		return Unknown
	}
}

// Do sends a request; body may be nil, headers are pairs of name and value.
func (c *Client) Do(ctx context.Context, method, url string, body any, header ...string) Answer {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			panic(err) // the tests' own maps
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, content)
	if err != nil {
		return Answer{Err: err}
	}
	request.Header.Set("Authorization", "Bearer "+c.Key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	began := time.Now()
	response, err := c.HTTP.Do(request)
	if err != nil {
		return Answer{Err: err, Took: time.Since(began)}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{Err: err, Took: time.Since(began)}
	}
	a := Answer{Status: response.StatusCode, Header: response.Header, Took: time.Since(began)}
	if strings.Contains(url, "/v1/") {
		c.read(&a, text)
	} else {
		a.Data = text
	}
	return a
}

// read takes the envelope apart, and notes one that is not as documented
// (decision N1).
func (c *Client) read(a *Answer, text []byte) {
	var envelope struct {
		Data  json.RawMessage                 `json:"data"`
		Error *struct{ Code, Message string } `json:"error"`
		Meta  struct {
			RequestID string `json:"request_id"`
			Timestamp time.Time
		}
	}
	err := json.Unmarshal(text, &envelope)
	if a.Status == http.StatusNoContent && len(text) == 0 {
		return
	}
	good := err == nil && strings.HasPrefix(envelope.Meta.RequestID, "req_") && !envelope.Meta.Timestamp.IsZero()
	if a.Status < 300 {
		good = good && envelope.Data != nil && envelope.Error == nil
	} else {
		good = good && envelope.Data == nil && envelope.Error != nil && envelope.Error.Code != "" && envelope.Error.Message != ""
	}
	if !good {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.malformed = append(c.malformed, fmt.Sprintf("%d %s", a.Status, text))
		return
	}
	a.Data, a.At = envelope.Data, envelope.Meta.Timestamp
	if envelope.Error != nil {
		a.Code = envelope.Error.Code
	}
}

// Fields are the members of a JSON object.
type Fields = map[string]any

// Fields are the members of the object that was answered.
func (a Answer) Fields(t testing.TB) Fields {
	t.Helper()
	var f Fields
	if err := json.Unmarshal(a.Data, &f); err != nil {
		t.Fatalf("answer %d %s %v: %v", a.Status, a.Data, a.Err, err)
	}
	return f
}

// Hotspots stand in tiles, each of which one nearby query sees whole.
const (
	perTile     = 80
	tileRadiusM = 300
)

// PlaceOf returns the place of hotspot n: 80 are within 90 m, the next 80 some 800 m on.
func PlaceOf(n int) (lat, lng float64) {
	return 40 + float64(n%perTile)*1e-5, -74 + float64(n/perTile)*0.01
}

// Registration returns the body that registers hotspot n.
func Registration(n int) Fields {
	lat, lng := PlaceOf(n)
	return Fields{
		"name":     fmt.Sprintf("Hotspot %d", n),
		"type":     []string{"home", "business", "public"}[n%3],
		"location": Fields{"lat": lat, "lng": lng, "address": fmt.Sprintf("%d Main St", n)},
		"device":   Fields{"ssid": fmt.Sprintf("net-%d", n), "mac_address": MACOf(n)},
		"settings": Fields{"max_connections": 1 + n%1000, "bandwidth_limit_mbps": 0.5 + float64(n%100)},
	}
}

// MACOf returns the MAC address of hotspot n.
func MACOf(n int) string {
	return fmt.Sprintf("02:be:ac:%02x:%02x:%02x", n>>16&0xff, n>>8&0xff, n&0xff)
}

// Register registers hotspot n.
func (c *Client) Register(ctx context.Context, s *Server, n int, header ...string) Answer {
	return c.Do(ctx, http.MethodPost, s.URL+"/v1/hotspots", Registration(n), header...)
}

// Patch changes a hotspot.
func (c *Client) Patch(ctx context.Context, s *Server, id string, change Fields) Answer {
	return c.Do(ctx, http.MethodPatch, s.URL+"/v1/hotspots/"+id, change)
}

// MustRegister registers hotspot n and returns its id.
func (c *Client) MustRegister(t testing.TB, s *Server, n int) string {
	t.Helper()
	a := Insist(func() Answer { return c.Register(t.Context(), s, n) })
	if a.Status != http.StatusCreated {
		t.Fatalf("registration answered %d %s %v", a.Status, a.Code, a.Err)
	}
	return a.Fields(t)["id"].(string)
}

// Owned reads all the user's hotspots, by their SSID. A connection to the
// database that was cut a moment ago may cost a 503: then it asks again.
func (c *Client) Owned(t testing.TB, s *Server) map[string]Fields {
	t.Helper()
	all := map[string]Fields{}
	for page := 1; ; page++ {
		var a Answer
		Eventually(t, fmt.Sprintf("page %d of the user's hotspots", page), func() bool {
			a = c.Do(t.Context(), http.MethodGet, fmt.Sprintf("%s/v1/users/me/hotspots?per_page=100&page=%d", s.URL, page), nil)
			return a.Status != http.StatusServiceUnavailable
		})
		var list []Fields
		if err := json.Unmarshal(a.Data, &list); a.Status != http.StatusOK || err != nil {
			t.Fatalf("page %d: %d %s %v %v", page, a.Status, a.Code, a.Err, err)
		}
		for _, h := range list {
			ssid := h["device"].(Fields)["ssid"].(string)
			if _, twice := all[ssid]; twice {
				t.Errorf("%s is there twice", ssid)
			}
			all[ssid] = h
		}
		if len(list) < 100 {
			return all
		}
	}
}
