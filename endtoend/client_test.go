//go:build linux

package endtoend_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// key is an API key, as "beacon keys create --json" prints it.
type key struct {
	Key    string `json:"key"`
	ID     string `json:"id"`
	UserID string `json:"user_id"`
}

// createKey makes a key for a new user on the command line, beside whatever
// server is running.
func createKey(t testing.TB, db string, scopes string) key {
	t.Helper()
	var k key
	out := command(t, "keys", "create", "--db", db, "--user", "new", "--scopes", scopes, "--json")
	if err := json.Unmarshal([]byte(out), &k); err != nil || k.Key == "" {
		t.Fatalf("keys create printed %s: %v", out, err)
	}
	return k
}

// client asks servers on behalf of a key.
type client struct {
	http *http.Client
	key  string

	mu        sync.Mutex
	malformed []string // answers that do not have the documented shape
}

func newClient(t testing.TB, apiKey string) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 512}
	t.Cleanup(transport.CloseIdleConnections)
	c := &client{http: &http.Client{Transport: transport, Timeout: 15 * time.Second}, key: apiKey}
	t.Cleanup(func() { // every answer of every test has the documented shape (invariant I10)
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.malformed) > 0 {
			t.Errorf("%d answers are malformed; the first: %s", len(c.malformed), c.malformed[0])
		}
	})
	return c
}

// answer is what came back. Without a status, nothing usable did.
type answer struct {
	status int
	header http.Header
	data   json.RawMessage
	code   string    // of the error
	at     time.Time // by the server's clock
	err    error
	took   time.Duration
}

// outcome is what a client knows about a write.
type outcome string

// A write that was done must be there, one that was refused must not, and of
// the others nothing is known.
const (
	done    outcome = "done"
	refused outcome = "refused"
	unknown outcome = "unknown"
)

// outcome reads an answer. A 503 promises that nothing was written; a
// connection that could not be made has carried nothing.
func (a answer) outcome() outcome {
	switch {
	case a.status >= 200 && a.status < 300:
		return done
	case a.status >= 400 && a.status < 500, a.status == 503:
		return refused
	case a.err != nil && strings.Contains(a.err.Error(), "connection refused"):
		return refused
	default:
		return unknown
	}
}

// do sends a request; body may be nil, headers are pairs of name and value.
func (c *client) do(ctx context.Context, method, url string, body any, header ...string) answer {
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
		return answer{err: err}
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	began := time.Now()
	response, err := c.http.Do(request)
	if err != nil {
		return answer{err: err, took: time.Since(began)}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{err: err, took: time.Since(began)}
	}
	a := answer{status: response.StatusCode, header: response.Header, took: time.Since(began)}
	if strings.Contains(url, "/v1/") {
		c.read(&a, text)
	} else {
		a.data = text
	}
	return a
}

// read takes the envelope apart, and notes one that is not as documented
// (decision N1).
func (c *client) read(a *answer, text []byte) {
	var envelope struct {
		Data  json.RawMessage                 `json:"data"`
		Error *struct{ Code, Message string } `json:"error"`
		Meta  struct {
			RequestID string `json:"request_id"`
			Timestamp time.Time
		}
	}
	err := json.Unmarshal(text, &envelope)
	if a.status == http.StatusNoContent && len(text) == 0 {
		return
	}
	good := err == nil && strings.HasPrefix(envelope.Meta.RequestID, "req_") && !envelope.Meta.Timestamp.IsZero()
	if a.status < 300 {
		good = good && envelope.Data != nil && envelope.Error == nil
	} else {
		good = good && envelope.Data == nil && envelope.Error != nil && envelope.Error.Code != "" && envelope.Error.Message != ""
	}
	if !good {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.malformed = append(c.malformed, fmt.Sprintf("%d %s", a.status, text))
		return
	}
	a.data, a.at = envelope.Data, envelope.Meta.Timestamp
	if envelope.Error != nil {
		a.code = envelope.Error.Code
	}
}

// fields are the members of a JSON object.
type fields = map[string]any

func (a answer) fields(t testing.TB) fields {
	t.Helper()
	var f fields
	if err := json.Unmarshal(a.data, &f); err != nil {
		t.Fatalf("answer %d %s %v: %v", a.status, a.data, a.err, err)
	}
	return f
}

// Hotspots stand in tiles that one nearby query sees whole.
const (
	perTile   = 80
	tileRadiM = 300
)

// placeOf spreads hotspots: 80 within 90 m, the next 80 some 800 m on.
func placeOf(n int) (lat, lng float64) {
	return 40 + float64(n%perTile)*1e-5, -74 + float64(n/perTile)*0.01
}

// registration is the body that registers hotspot n.
func registration(n int) fields {
	lat, lng := placeOf(n)
	return fields{
		"name":     fmt.Sprintf("Hotspot %d", n),
		"type":     []string{"home", "business", "public"}[n%3],
		"location": fields{"lat": lat, "lng": lng, "address": fmt.Sprintf("%d Main St", n)},
		"device":   fields{"ssid": fmt.Sprintf("net-%d", n), "mac_address": macOf(n)},
		"settings": fields{"max_connections": 1 + n%1000, "bandwidth_limit_mbps": 0.5 + float64(n%100)},
	}
}

func macOf(n int) string {
	return fmt.Sprintf("02:be:ac:%02x:%02x:%02x", n>>16&0xff, n>>8&0xff, n&0xff)
}

func (c *client) register(ctx context.Context, s *server, n int, header ...string) answer {
	return c.do(ctx, http.MethodPost, s.url+"/v1/hotspots", registration(n), header...)
}

func (c *client) patch(ctx context.Context, s *server, id string, change fields) answer {
	return c.do(ctx, http.MethodPatch, s.url+"/v1/hotspots/"+id, change)
}

// mustRegister registers hotspot n and answers its id.
func (c *client) mustRegister(t testing.TB, s *server, n int) string {
	t.Helper()
	a := c.register(t.Context(), s, n)
	if a.status != http.StatusCreated {
		t.Fatalf("registration answered %d %s %v", a.status, a.code, a.err)
	}
	return a.fields(t)["id"].(string)
}
