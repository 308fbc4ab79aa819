package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// newLiveGround registers a hotspot for each disc of a ground; see newLiveWorld.
func newLiveGround(b *testing.B, g *ground) liveWorld {
	b.Helper()
	folder := os.Getenv(worldVariable)
	if folder == "" {
		folder = b.TempDir()
	}
	w := liveWorld{world: world{file: filepath.Join(folder, fmt.Sprintf("covered-%d.db", len(g.discs)))}}
	keys := w.file + ".keys"
	types := map[int]beacon.Type{}
	for kind, radius := range radii {
		types[radius] = kind
	}
	makeOnce(b, w.file, func(file string) {
		makeLiveWorld(b, file, keys, len(g.discs), time.Now().Add(-time.Hour), func(i int, h *beacon.Hotspot) {
			h.Location.Point, h.Type = g.discs[i].Place, types[int(g.discs[i].RadiusM)]
		})
	})
	w.devices = readKeys(b, keys)
	w.addKey(b)
	return w
}

// wholeRequest measures GET /v1/coverage beside the area alone: the server knows
// the same discs by the heartbeats of their hotspots.
func wholeRequest(b *testing.B, g *ground) {
	b.Helper()
	w := newLiveGround(b, g)
	subject := serveBeacon(b, "--db", w.file, "--rate-limit", hugeLimit)
	everyone := (len(w.devices) + crowd - 1) / crowd * crowd
	newBeats(w.devices).drum(b, subject, everyone, 0)
	request := get(fmt.Sprintf("/v1/coverage?north=%v&south=%v&east=%v&west=%v", g.box.North, g.box.South, g.box.East, g.box.West),
		"Authorization: Bearer "+w.key)
	answer := awaitArea(b, subject, request, g.area())
	limit := bare(b, answer)

	// A server does more than to answer, after so many heartbeats above all: the
	// median of many short turns leaves out those that it was busy in. And one asks
	// at a time: while it is short of processors, a server turns away who can wait.
	const rounds, perRound = 21, 100
	var alone, whole, least []float64
	asked := func(p *process) float64 {
		began := p.cpu(b)
		if err := drive(p.addr, []string{request}, 0, perRound); err != nil {
			b.Fatal(err)
		}
		return (p.cpu(b) - began) / perRound
	}
	for range rounds {
		alone = append(alone, spell(b, 0.2, func(int) { g.area() }))
		whole = append(whole, asked(subject))
		least = append(least, asked(limit))
	}
	t := table{
		title:   fmt.Sprintf("Coverage: the whole request, of a server with %d hotspots that beat (load average %s)", len(w.devices), loadAverage()),
		columns: []string{"What", "CPU", "Of the first"},
	}
	for _, row := range []struct {
		name  string
		costs []float64
	}{
		{"the area alone, in-process", alone},
		{fmt.Sprintf("`GET /v1/coverage`: the area and the clusters, %.0f KB", float64(len(answer.Body))/1e3), whole},
		{"bare `net/http` handler that writes the same bytes", least},
	} {
		t.add(row.name, fmt.Sprintf("%.3f ms", median(row.costs)*1e3), fmt.Sprintf("%.2f", median(row.costs)/median(alone)))
	}
	t.print()
}

// awaitArea asks until the server has drawn all who came online, and fails
// where it then says another area than the one computed here.
func awaitArea(b *testing.B, subject *process, request string, exact float64) canned {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		status, raw, err := exchange(subject, request)
		if err != nil {
			b.Fatal(err)
		}
		var answer struct {
			Data struct {
				Area float64 `json:"coverage_area_km2"`
			}
		}
		if err := json.Unmarshal(raw.Body, &answer); err != nil {
			b.Fatal(err)
		}
		if math.Abs(answer.Data.Area/exact-1) < 1e-6 {
			return raw
		}
		if time.Now().After(deadline) { // until then it may also have other things to do, and say so
			b.Fatalf("status %d, %v km²; want %v km²", status, answer.Data.Area, exact)
		}
	}
}
