package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// What the fast path saves: CPU time per nearby request and per heartbeat of the same
// binary, with it and without, in turns. Each process has a copy of the database.
func BenchmarkFastPath(b *testing.B) {
	w := newLiveWorld(b, 300_000)
	settings := []string{"on", "off"}
	var servers []*process
	for _, setting := range settings {
		file := filepath.Join(b.TempDir(), setting+".db")
		if err := copyFile(file, w.file); err != nil {
			b.Fatal(err)
		}
		servers = append(servers, serveBeacon(b, "--db", file, "--rate-limit", hugeLimit, "--load-shedding", "off", "--fast-path", setting))
	}
	var requests []string
	for _, at := range w.places {
		request := get(fmt.Sprintf("/v1/hotspots/nearby?lat=%.6f&lng=%.6f&status=all", at.Lat, at.Lng), "Authorization: Bearer "+w.key)
		if answer := fetch(b, servers[0], request); len(answer.Body) > 6000 {
			requests = append(requests, request)
		}
	}
	next := newBeats(w.devices)
	b.ReportMetric(0, "ns/op")
	report := func(name string, perTurn int, send func(p *process, turn int)) {
		medians := cpuInTurns(b, servers, 11, perTurn, send)
		for i, setting := range settings {
			b.ReportMetric(medians[i], "µs-cpu/"+name+"-"+setting)
		}
		b.ReportMetric(100*(1-medians[0]/medians[1]), "%-saved/"+name)
	}
	report("nearby", 10*perTurn, func(p *process, turn int) { load(b, p, requests, turn*10*perTurn, 10*perTurn) })
	report("beat", 64*crowd, func(p *process, _ int) { next.drum(b, p, 64*crowd, 0) })
}

// cpuInTurns lets each server handle n requests, in turns, and returns the median CPU
// time that each took for one, in microseconds. The first turn warms up.
func cpuInTurns(b *testing.B, servers []*process, turns, n int, send func(p *process, turn int)) []float64 {
	b.Helper()
	took := make([][]float64, len(servers))
	for turn := range turns + 1 {
		for i, p := range servers {
			before := p.cpu(b)
			send(p, turn)
			if turn > 0 {
				took[i] = append(took[i], (p.cpu(b)-before)/float64(n)*1e6)
			}
		}
	}
	medians := make([]float64, len(servers))
	for i, all := range took {
		b.Logf("server %d: %.1f µs a request", i, all)
		slices.Sort(all)
		medians[i] = all[len(all)/2]
	}
	return medians
}
