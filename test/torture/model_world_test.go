//go:build linux

package torture_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// tester is what *testing.T and *rapid.T have in common and the model needs.
type tester interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// world is one of the servers that the model is compared with, and what the
// names that the model gives to things are there. The model says "hs3" where a
// server says "hs_01kb…": the value is bound when it is first seen.
type world struct {
	name  string
	url   string
	http  *http.Client
	clock *serverClock
	bound map[string]string // name → value
	names map[string]string // value → name
	beats map[string][]span // when each beat of a hotspot came

	repeats map[string]span // when the last that was repeated came

	happened *[]happening // what its events must tell, over all runs
}

// happening is an event, as far as the model knows it.
type happening struct{ kind, hotspot string }

// fresh is the same server as seen by another run.
func (w *world) fresh() *world {
	copied := *w
	copied.bound, copied.names, copied.beats = maps.Clone(w.bound), maps.Clone(w.names), maps.Clone(w.beats)
	copied.repeats = maps.Clone(w.repeats)
	return &copied
}

// request is what is asked of every world. Names in braces are replaced.
type request struct {
	method, path string
	key          *apiKey // nil for none
	header       map[string]string
	body         any // nil, raw text as a string, or what is encoded as JSON
}

func (r request) String() string {
	text, _ := r.text()
	bearer := "nobody"
	if r.key != nil {
		bearer = r.key.secret
	}
	return fmt.Sprintf("%s %s by %s %v %.600s", r.method, r.path, bearer, r.header, text)
}

func (r request) text() (text string, there bool) {
	switch body := r.body.(type) {
	case nil:
		return "", false
	case string:
		return body, true
	default:
		encoded, err := json.Marshal(body)
		if err != nil {
			panic(err) // the model's own values
		}
		return string(encoded), true
	}
}

// answer is what came back, and when by the server's own clock.
type answer struct {
	status int
	header http.Header
	text   []byte
	at     span
	err    error
}

var nameInBraces = regexp.MustCompile(`\{[a-z]+[0-9:a-z]*\}`)

// fill writes what this world calls the things that a text names.
func (w *world) fill(text string) string {
	return nameInBraces.ReplaceAllStringFunc(text, func(name string) string {
		if value, known := w.bound[name[1:len(name)-1]]; known {
			return value
		}
		return name
	})
}

// ask sends a request. A server that says it is overloaded has done nothing
// (decision D10), and is asked again.
func (w *world) ask(r request) answer {
	for deadline := time.Now().Add(harness.Patience); ; {
		a := w.once(r)
		if a.status != http.StatusServiceUnavailable || time.Now().After(deadline) {
			return a
		}
	}
}

func (w *world) once(r request) answer {
	var content io.Reader
	text, there := r.text()
	if there {
		content = strings.NewReader(w.fill(text))
	}
	asked, err := http.NewRequest(r.method, w.url, content)
	if err != nil {
		return answer{err: err}
	}
	asked.URL.Opaque = w.fill(r.path) // as it is written, right or wrong
	if there {
		asked.Header.Set("Content-Type", "application/json")
	}
	if r.key != nil {
		asked.Header.Set("Authorization", "Bearer "+w.fill("{"+r.key.secret+"}"))
	}
	for name, value := range r.header {
		asked.Header.Set(name, w.fill(value))
	}
	sent := time.Now()
	response, err := w.http.Do(asked)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	came := time.Now()
	w.clock.observe(sent, came, timestampOf(body))
	return answer{status: response.StatusCode, header: response.Header, text: body, at: w.clock.between(sent, came), err: err}
}

var metaTimestamp = regexp.MustCompile(`"timestamp":"([^"]+)"\}\}\s*$`)

func timestampOf(body []byte) time.Time {
	if found := metaTimestamp.FindSubmatch(body[max(0, len(body)-100):]); found != nil {
		at, _ := time.Parse(time.RFC3339, string(found[1]))
		return at
	}
	return time.Time{}
}

// span is when something was, by a server's clock: not before from, not after
// to.
type span struct{ from, to time.Time }

// serverClock tells a simulated clock from what answers say. It runs evenly at a
// known rate, so each answer narrows down how far it is ahead.
type serverClock struct {
	rate      float64
	base      time.Time
	low, high time.Duration // how far ahead it was at base
}

func newServerClock(rate float64) *serverClock {
	return &serverClock{rate: rate, base: time.Now(), low: math.MinInt64, high: math.MaxInt64}
}

func (c *serverClock) ran(until time.Time) time.Duration {
	return time.Duration(float64(until.Sub(c.base)) * c.rate)
}

// observe takes in that the clock said a time at some moment between sent and
// came. Times are cut to milliseconds.
func (c *serverClock) observe(sent, came, said time.Time) {
	if said.IsZero() {
		return
	}
	ahead := said.Sub(c.base)
	c.low = max(c.low, ahead-c.ran(came))
	c.high = min(c.high, ahead+time.Millisecond-c.ran(sent))
}

// between is what the clock may have said between two moments.
func (c *serverClock) between(sent, came time.Time) span {
	return span{c.base.Add(c.ran(sent) + c.low), c.base.Add(c.ran(came) + c.high)}
}

// What differs from server to server in texts that are otherwise equal.
var (
	ids        = regexp.MustCompile(`(hs|usr|key|req)_[0-7][0-9a-hjkmnp-tv-z]{25}`)
	secretKeys = regexp.MustCompile(`bcn_[0-9a-z]{26}_[0-9A-Za-z]{36}`)
	times      = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z`)
	linkCodes  = regexp.MustCompile(`"code":"[0-9A-Z]{4}-[0-9A-Z]{4}"`)
	cursors    = regexp.MustCompile(`"next":"[0-9A-Za-z_-]+"`) // they have an id in them
	openOrNot  = regexp.MustCompile(`"open_now":(true|false)(,"(open_until|opens_at)":("[^"]*"|null))?`)
	uptimes    = regexp.MustCompile(`"uptime(_30d)?":([0-9.e-]+|null)`)
	numbers    = regexp.MustCompile(`[:\[,]-?[0-9][0-9.e+-]*|"(online|offline|pending|standard|enhanced|premium)"`)
)

// neutral is an answer with the same text in every world: with the model's names
// for what servers name themselves, and without times.
func (w *world) neutral(text []byte) string {
	text = secretKeys.ReplaceAll(text, []byte("SECRET"))
	text = ids.ReplaceAllFunc(text, func(id []byte) []byte {
		prefix, _, _ := bytes.Cut(id, []byte("_"))
		name, known := w.names[string(id)]
		if !known {
			name = "some " + string(prefix)
		}
		return []byte(name)
	})
	text = openOrNot.ReplaceAll(text, []byte(`"open_now":OPEN`)) // clocks decide it
	text = times.ReplaceAll(text, []byte("TIME"))
	text = linkCodes.ReplaceAll(text, []byte(`"code":"CODE"`))
	text = cursors.ReplaceAll(text, []byte(`"next":"CURSOR"`))
	return string(uptimes.ReplaceAll(text, []byte(`"uptime$1":0`)))
}

// outline is what is left of a neutral text when clocks decide its numbers.
func outline(text string) string { return numbers.ReplaceAllString(text, "#") }
