package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// observer watches a server and its database at work.
type observer struct {
	b       *testing.B
	subject *process
	on      engine
	log     *tail
	loads   map[string]*steady
	moments []moment
}

// moment is what was used up to it.
type moment struct {
	at            time.Time
	cpu, database float64 // seconds
	memory        float64 // bytes, right now
}

// wait lets some time pass, and takes a look.
func (o *observer) wait() {
	time.Sleep(250 * time.Millisecond)
	o.moments = append(o.moments, moment{time.Now(), o.subject.cpu(o.b), o.on.cpu(), o.subject.memory(o.b)})
}

// report says what a phase took, of time, of processors and of memory, and how
// long requests waited meanwhile.
func (o *observer) report(phase string, from, to time.Time) {
	o.b.Helper()
	var seen []moment
	for _, m := range o.moments {
		if !m.at.Before(from) && !m.at.After(to) {
			seen = append(seen, m)
		}
	}
	o.b.ReportMetric(to.Sub(from).Seconds(), phase+"-s")
	if len(seen) > 0 {
		first, last, most := seen[0], seen[len(seen)-1], 0.0
		for _, m := range seen {
			most = max(most, m.memory)
		}
		o.b.ReportMetric(last.cpu-first.cpu, phase+"-cpu-s")
		o.b.ReportMetric(last.database-first.database, phase+"-cpu-s-database")
		o.b.ReportMetric(most/(1<<20), phase+"-MB-rss")
	}
	for name, load := range o.loads {
		took, failed := load.between(from, to)
		if len(failed) > 0 {
			o.b.Logf("%s, %s: %d of %d failed, the first with %v", phase, name, len(failed), len(failed)+len(took), failed[0])
		}
		o.b.ReportMetric(float64(len(failed)), phase+"-"+name+"-errors")
		if len(took) > 0 {
			o.b.ReportMetric(took[len(took)/2], phase+"-"+name+"-ms-p50")
			o.b.ReportMetric(took[len(took)*99/100], phase+"-"+name+"-ms-p99")
			o.b.ReportMetric(took[len(took)-1], phase+"-"+name+"-ms-max")
		}
	}
}

// tail reads a log as it grows.
type tail struct {
	in   *bufio.Reader
	part []byte // of a line that is not complete
}

func newTail(b *testing.B, name string) *tail {
	b.Helper()
	file, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	return &tail{in: bufio.NewReaderSize(file, 1<<20)}
}

type closedLine struct {
	Day          string `json:"day"`
	Hotspots     int    `json:"hotspots"`
	Milliseconds int64  `json:"took_ms"`
}

// closed reads up to where the log says that a day was closed, or up to its end.
func (t *tail) closed(b *testing.B) (line closedLine, any bool) {
	b.Helper()
	for {
		text, err := t.in.ReadBytes('\n')
		t.part = append(t.part, text...)
		if errors.Is(err, io.EOF) {
			return line, false
		}
		if err != nil {
			b.Fatal(err)
		}
		whole := t.part
		t.part = nil
		if bytes.Contains(whole, []byte(`"msg":"day closed"`)) {
			if err := json.Unmarshal(whole, &line); err != nil {
				b.Fatal(err)
			}
			return line, true
		}
	}
}

// cityPlaces are some of the places where hotspots stand.
func cityPlaces() (some []geo.Point) {
	random := rand.New(rand.NewPCG(1, 2))
	all := cities(random)
	for range 1000 {
		some = append(some, place(random, all))
	}
	return some
}
