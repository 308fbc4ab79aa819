package bench

import (
	"fmt"
	"math"
	"testing"
)

// benchPeersCoverage measures what it costs to know how many square kilometres
// the discs in a box cover together. The targets: 5,000 × faster than PostGIS over
// 100,000 discs, 2 × the cost with ten times the discs within the same border, and
// 100 µs to take in that one hotspot went on- or offline in a dense city.
func benchPeersCoverage(b *testing.B) {
	b.ReportMetric(0, "ns/op") // the tables say what there is to say
	n := monthHotspots() / 10
	wide := 40_000 * math.Sqrt(float64(n)/100_000)
	even := (&ground{
		name: "even city", discs: evenCity("hs", n, wide), box: boxOf(wide * 0.999),
	}).plant(b)
	clustered := (&ground{
		name: "towns", discs: towns(n*5/4, wide*7.5), box: boxOf(wide * 7.5 * 0.95),
	}).plant(b)
	unions(b, even, clustered)
	wholeRequest(b, even)
	growth(b, even, n, wide)
	updates(b, even, n, wide)
}

// unions compares Beacon with PostGIS, on discs of as many corners as PostGIS
// gives them by itself, and on such that come closer to the truth.
func unions(b *testing.B, grounds ...*ground) {
	b.Helper()
	t := table{
		title: fmt.Sprintf("Coverage: km² of the union of the discs in a box (load average %s)", loadAverage()),
		columns: []string{
			"Discs", "Online in the box", "Beacon, CPU", "PostGIS, CPU (and time)", "Times faster", "Target", "km²", "PostGIS differs by",
		},
	}
	db := newPostGIS(b)
	for _, g := range grounds {
		db.draw(b, g)
		for _, way := range []struct {
			quadSegs, rounds int
			timeout          string
		}{{8, 3, "0"}, {32, 1, "60s"}} {
			db.exec(b, `SET statement_timeout = '`+way.timeout+`'`)
			name, held, exact := fmt.Sprintf("%s, `quad_segs=%d`", g.name, way.quadSegs), fmt.Sprint(g.held()), fmt.Sprintf("%.3f", g.area())
			ours, theirs, ok := unionInTurns(b, db, g, way.quadSegs, way.rounds)
			b.Logf("%s: Beacon %.2f ms, PostGIS %.2f s", name, ours*1e3, theirs.cpu)
			if !ok {
				t.add(name, held, fmt.Sprintf("%.2f ms", ours*1e3), "**not run** to its end: longer than "+way.timeout, "", "5,000", exact, "")
				continue
			}
			t.add(name, held, fmt.Sprintf("%.2f ms", ours*1e3), fmt.Sprintf("%.2f s (%.2f s)", theirs.cpu, theirs.wall),
				fmt.Sprintf("%.0f", theirs.cpu/ours), "5,000", exact, fmt.Sprintf("%+.3f %%", 100*theirs.check(b, g.area(), way.quadSegs)))
		}
	}
	t.print()
}

// unionInTurns gives the seconds of CPU for one area of ours, and theirs, in the
// mean. It reports false where PostGIS was not given the time.
func unionInTurns(b *testing.B, db *postgis, g *ground, quadSegs, rounds int) (ours float64, theirs union, ok bool) {
	b.Helper()
	for range rounds {
		ours += spell(b, 0.5, func(int) { g.area() }) / float64(rounds)
		u, ok := db.union(b, g.box, quadSegs)
		if !ok {
			return ours, theirs, false
		}
		theirs.area = u.area
		theirs.cpu += u.cpu / float64(rounds)
		theirs.wall += u.wall / float64(rounds)
	}
	return ours, theirs, true
}

// growth compares boxes that hold ten times the discs.
func growth(b *testing.B, even *ground, n int, wide float64) {
	b.Helper()
	within := (&ground{
		name:  "as many, and nine times as many within the same border",
		discs: append(evenCity("in", 9*n, wide*0.95), even.discs...), box: even.box,
	}).plant(b)
	larger := (&ground{
		name:  "ten times as many that stand as close, in a box of ten times the area",
		discs: evenCity("hs", 10*n, wide*math.Sqrt(10)), box: boxOf(wide * math.Sqrt(10) * 0.999),
	}).plant(b)
	all := []*ground{even, within, larger}
	costs := make([]float64, len(all))
	const rounds = 5
	for range rounds {
		for i, g := range all {
			costs[i] += spell(b, 0.2, func(int) { g.area() }) / rounds
		}
	}
	t := table{
		title:   fmt.Sprintf("Coverage: how Beacon's cost grows (load average %s)", loadAverage()),
		columns: []string{"Discs", "Online in the box", "CPU", "Of the first", "Target"},
	}
	for i, target := range []string{"", "2", "(the border: 3.16)"} {
		t.add(all[i].name, fmt.Sprint(all[i].held()), fmt.Sprintf("%.3f ms", costs[i]*1e3), fmt.Sprintf("%.2f", costs[i]/costs[0]), target)
	}
	t.print()
}

// updates measures what it takes to publish that one disc went offline, or online
// again.
func updates(b *testing.B, even *ground, n int, wide float64) {
	b.Helper()
	dense := (&ground{name: "a dense city", discs: evenCity("hs", n, wide*0.375)}).plant(b)
	t := table{
		title:   fmt.Sprintf("Coverage: one hotspot goes offline or online, published on its own (load average %s)", loadAverage()),
		columns: []string{"Discs", "How many cover a place", "CPU", "Target"},
	}
	for _, g := range []struct {
		*ground
		meters float64
	}{{even, wide}, {dense, wide * 0.375}} {
		covered := 0.0
		for _, d := range g.discs {
			covered += math.Pi * d.RadiusM * d.RadiusM
		}
		cost := spell(b, 1, func(i int) {
			d := &g.discs[i/2*7919%len(g.discs)] // anywhere: a prime
			d.Online = i%2 == 1
			if err := g.tree.Apply([]disc{*d}, nil); err != nil {
				b.Fatal(err)
			}
		})
		t.add(g.name, fmt.Sprintf("%.1f", covered/(g.meters*g.meters)), fmt.Sprintf("%.1f µs", cost*1e6), "100 µs")
	}
	t.print()
}
