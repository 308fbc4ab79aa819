package statement_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func TestVerify(t *testing.T) {
	for seed := range uint64(50) {
		previous := ledger.Hash{byte(seed)}
		b := sample(seed, 31, 3, previous)
		got, err := verify(b.json(t))
		if err != nil {
			t.Fatal(err)
		}
		s := &b.statement
		want := statement.Report{
			User: user, Month: s.Month, Rows: len(b.rows), Hotspots: 3, Earned: s.Earned, Hash: s.Hash, Previous: previous,
			SettledAt: s.SettledAt.Truncate(1e6),
		}
		if got.Bare() != want {
			t.Fatalf("got\n%+v; want\n%+v", got, want)
		}
	}
}

// Statements come in the answer of a server, or were laid out by another tool.
func TestVerify_Layouts(t *testing.T) {
	text := string(sample(3, 4, 4, ledger.Hash{}).json(t))
	spaced := strings.NewReplacer(",", " ,\n\t", ":{", ": {", "[", "[ \r\n").Replace(text)
	for name, layout := range map[string]string{
		"bare":               text,
		"spaced":             spaced,
		"answer":             `{"data":` + text + `,"meta":{"request_id":"req_1","timestamp":"2026-11-15T09:00:00.000Z"}}` + "\n",
		"answer, meta first": `{"meta":{"a":[1,{"b":null}]},"data":` + spaced + `}`,
		"long meta":          `{"meta":{"a":"\\","b":[` + strings.Repeat("1000,", 300) + `0]},"data":` + text + `}`,
		"more digits":        strings.Replace(text, `"utilization_cap":1}`, `"utilization_cap":1.000000}`, 1),
		"escaped":            strings.Replace(text, `"user_id"`, `"\u0075ser_id"`, 1),
	} {
		if _, err := verify([]byte(layout)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := statement.Verify(iotest.OneByteReader(strings.NewReader(layout)), book()); err != nil {
			t.Errorf("%s, byte by byte: %v", name, err)
		}
	}
}

func TestVerify_EmbeddedPolicies(t *testing.T) {
	text := oneRow().json(t)
	if _, err := statement.Verify(bytes.NewReader(text), nil); err != nil {
		t.Error(err)
	}
	if _, err := verify(text); err != nil {
		t.Error(err)
	}
}

// What is known of a policy decides, whatever a statement says of it.
func TestVerify_Policies(t *testing.T) {
	text := sample(3, 4, 4, ledger.Hash{}).json(t)
	for name, test := range map[string]struct {
		change func(policy.Set) policy.Set
		want   string
	}{
		"unknown":      {func(b policy.Set) policy.Set { return b[:1] }, "policy 2 is unknown here (the newest is 1)"},
		"other radius": {func(b policy.Set) policy.Set { b[2].Radius++; return b }, "policy 3: radius_m is 50, but policy 3 has 51 here"},
		"other share":  {func(b policy.Set) policy.Set { b[2].Unproven++; return b }, "policy 3: unproven_share is 0.499999, but policy 3 has 0.5 here"},
		"other day":    {func(b policy.Set) policy.Set { b[1].From--; return b }, "policy 2: effective_from is 2026-10-16, but policy 2 has 2026-10-15 here"},
		"other amount": {func(b policy.Set) policy.Set { b[0].Cap++; return b }, "policy 1: utilization_cap is 1, but policy 1 has 1.000001 here"},
		"one more": {func(b policy.Set) policy.Set {
			return append(b, policy.Policy{Version: 5, From: mustDay("2026-10-31")})
		}, "policies: policy 5 was in force in 2026-10 but is missing"},
	} {
		_, err := statement.Verify(bytes.NewReader(text), test.change(book()))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %s", name, err, test.want)
		}
	}
	old := settle(book(), mustDay("2026-09-01").Month(), ledger.Hash{}, nil)
	var out bytes.Buffer
	both := book()
	if err := statement.WriteJSON(&out, &old.statement, []*policy.Policy{&both[0], &both[1]}, old.each); err != nil {
		t.Fatal(err)
	}
	if _, err := verify(out.Bytes()); err == nil || !strings.Contains(err.Error(), "policy 2 was not in force in 2026-09") {
		t.Errorf("a policy of later: %v", err)
	}
}

// A month that is consistent within itself and wrong all the same.
func TestVerify_WellMadeLies(t *testing.T) {
	for name, test := range map[string]struct {
		lie  func(rows []ledger.Row) []ledger.Row
		want string
	}{
		"a millionth more": {func(rows []ledger.Row) []ledger.Row { rows[2].Availability++; return rows }, "row 3 ("},
		"a wrong policy":   {func(rows []ledger.Row) []ledger.Row { rows[1].Policy = 2; return rows }, "row 2 (2026-10-01, hs_00000000000000000000000008): policy: is 2, but policy 1 was in force"},
		"other month":      {func(rows []ledger.Row) []ledger.Row { rows[len(rows)-1].Day++; return rows }, "date: is not a day of 2026-10"},
		"twice":            {func(rows []ledger.Row) []ledger.Row { rows[1] = rows[0]; return rows }, "row 2 (2026-10-01, hs_00000000000000000000000001): comes after"},
		"unordered":        {func(rows []ledger.Row) []ledger.Row { rows[0], rows[1] = rows[1], rows[0]; return rows }, "row 2 ("},
		"a long day":       {func(rows []ledger.Row) []ledger.Row { rows[0].Closed++; return rows }, "row 1 (2026-10-01, hs_00000000000000000000000001): expected, closed, excused and outside minutes add up to 1441"},
		"minutes past 64 bits": {func(rows []ledger.Row) []ledger.Row {
			f := &rows[0].Facts
			f.Closed, f.Excused, f.Outside = math.MaxInt, math.MaxInt, 2+beacon.MinutesADay-f.Expected
			return rows
		}, "row 1 (2026-10-01, hs_00000000000000000000000001): a day has at most 1440 minutes"},
		"an earlier day": {func(rows []ledger.Row) []ledger.Row {
			last := &rows[len(rows)-1]
			last.Day, last.Ground = rows[0].Day, beacon.Ground{} // a day on which devices are paid
			return rows
		}, "comes after the row of 2026-10-31"},
		"overserved":             {func(rows []ledger.Row) []ledger.Row { rows[0].Served = rows[0].Expected + 1; return rows }, "row 1 (2026-10-01, hs_00000000000000000000000001): served_minutes: is "},
		"more ground than time":  {last(func(r *ledger.Row) { r.Own = int64(r.Served)*1e6 + 1 }), "): owned_minutes: is "},
		"less than none":         {last(func(r *ledger.Row) { r.Own = -1 }), "): owned_minutes: is -0.000001, but "},
		"a rate above one":       {last(func(r *ledger.Row) { r.Recent = 1_000_001 }), "): recent_share: is 1.000001, but must be from 0 to 1"},
		"half a proof":           {last(func(r *ledger.Row) { r.Proof = 500000 }), "): proof: is 0.5, but must be 1 or 0.499999"},
		"north of the pole":      {last(func(r *ledger.Row) { r.Lat = 900_000_001 }), "there is no such place"},
		"shared all the time":    {last(func(r *ledger.Row) { r.Shared = r.Served + 1 }), "): shared_minutes: is "},
		"shared with nobody":     {last(func(r *ledger.Row) { r.Shared, r.Own, r.Older = 1, int64(r.Served)*1e6-1, 0 }), "): shared_minutes is 1 and shared_with is 0"},
		"shared without a loss":  {last(func(r *ledger.Row) { r.Shared, r.Own, r.Older = 1, int64(r.Served)*1e6, 1 }), "): shared_minutes is 1 and shared_with is 1"},
		"lost to nobody":         {last(func(r *ledger.Row) { r.Shared, r.Own, r.Older = 0, int64(r.Served)*1e6-1, 0 }), "): shared_minutes is 0 and shared_with is 0"},
		"ground that is not his": {last(func(r *ledger.Row) { r.Own, r.Shared, r.Older = r.Own/2, r.Shared+1, 1; r.Earned.Utilization++ }), "but policy 4 gives"},
		"more due than excused":  {last(func(r *ledger.Row) { r.Due = int64(r.Excused)*1e6 + 1 }), "): due_minutes: is "},
		"found nowhere, and own": {last(func(r *ledger.Row) { r.Proof = 0 }), "): proof: is 0, so nothing can be said of the ground"},
		"days for minutes":       {last(func(r *ledger.Row) { r.Counts, r.Due = beacon.InDays, 0 }), "): only another policy has days_served"},
		"no ground":              {last(func(r *ledger.Row) { r.Ground = beacon.Ground{} }), "): owned_minutes is missing"},
		"ground of devices": {func(rows []ledger.Row) []ledger.Row {
			rows[0].Ground = beacon.Ground{Counts: beacon.InDays, Proof: 1_000_000}
			return rows
		}, "row 1 (2026-10-01, hs_00000000000000000000000001): only another policy has owned_minutes"},
		"an id with a comma": {func(rows []ledger.Row) []ledger.Row { rows[0].Hotspot = "hs_1,1"; return rows }, `row 1 (2026-10-01): hotspot_id: must be an id such as hs_…, but is "hs_1,1"`},
	} {
		honest := sample(1, 4, 6, ledger.Hash{})
		b := settle(book(), honest.statement.Month, ledger.Hash{}, test.lie(honest.rows))
		if _, err := verify(b.json(t)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %s", name, err, test.want)
		}
	}
}

// last changes the last row, whose policy pays places.
func last(lie func(*ledger.Row)) func([]ledger.Row) []ledger.Row {
	return func(rows []ledger.Row) []ledger.Row {
		lie(&rows[len(rows)-1])
		return rows
	}
}

func TestFollows(t *testing.T) {
	month := mustDay("2026-10-01").Month()
	a := statement.Report{User: "usr_1", Month: month, Hash: ledger.Hash{1}}
	b := statement.Report{User: "usr_1", Month: month + 2, Hash: ledger.Hash{2}, Previous: ledger.Hash{1}}
	if err := statement.Follows(a, b); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*statement.Report){
		"belongs to usr_2":  func(r *statement.Report) { r.User = "usr_2" },
		"cannot follow":     func(r *statement.Report) { r.Month = month },
		"is the first":      func(r *statement.Report) { r.Previous = ledger.Hash{} },
		"one with the hash": func(r *statement.Report) { r.Previous = ledger.Hash{3} },
	} {
		changed := b
		change(&changed)
		if err := statement.Follows(a, changed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// A statement of 310,000 rows and 130 MB is written and verified in little
// memory.
func TestVerify_Large(t *testing.T) {
	level.Repeats(t)
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const hotspots = 10_000
	b := large(hotspots)
	out, in := io.Pipe()
	most, rows := uint64(0), 0
	watch := func(fn func(ledger.Row, ledger.Hash) error) error {
		return eachLarge(hotspots, func(row ledger.Row, chain ledger.Hash) error {
			if rows++; rows%10_000 == 0 {
				var stats runtime.MemStats
				runtime.ReadMemStats(&stats)
				most = max(most, stats.HeapAlloc)
			}
			return fn(row, chain)
		})
	}
	var size counter
	done := make(chan error)
	go func() {
		err := statement.WriteJSON(io.MultiWriter(in, &size), &b, policy.Devices().In(b.Month), watch)
		done <- in.CloseWithError(err)
	}()
	report, err := statement.Verify(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if report.Rows != 31*hotspots || report.Hotspots != hotspots {
		t.Errorf("got %+v", report)
	}
	t.Logf("%d bytes, at most %d of memory", size, most)
	if most == 0 || most > 32<<20 || size < 100<<20 {
		t.Errorf("%d bytes were verified in %d bytes of memory", size, most)
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// large is the statement of many hotspots that all do the same.
func large(hotspots int) ledger.Statement {
	s := ledger.Statement{UserMonth: ledger.UserMonth{Month: mustDay("2026-10-01").Month(), User: user, Hotspots: hotspots}}
	_ = eachLarge(hotspots, func(row ledger.Row, chain ledger.Hash) error {
		s.Rows++
		s.Chain = chain
		s.Sum = s.Plus(ledger.Sum{Served: int64(row.Served), Expected: int64(row.Expected), Earned: row.Earned})
		return nil
	})
	s.SettledAt = (s.Month + 1).Start()
	s.Hash = ledger.Seal(s.Previous, &s.UserMonth, []string{policy.Devices()[0].Line()})
	return s
}

func eachLarge(hotspots int, fn func(ledger.Row, ledger.Hash) error) error {
	p := policy.Devices()
	f := beacon.Facts{Served: 1311, Expected: 1434, Excused: 6, Bytes: 23_456_789_012, Tier: beacon.Enhanced}
	month := mustDay("2026-10-01").Month()
	chain := ledger.Seed(user, month)
	for day := month.First(); day <= month.Last(); day++ {
		for i := range hotspots {
			row := ledger.Row{
				Day: day, Owned: beacon.Owned{User: user, Hotspot: beacon.HotspotID(fmt.Sprintf("hs_%026d", i))},
				Policy: 1, Facts: f, Earned: p[0].Reward(f),
			}
			chain = chain.Next(&row)
			if err := fn(row, chain); err != nil {
				return err
			}
		}
	}
	return nil
}

func BenchmarkVerify(b *testing.B) {
	const hotspots = 1000
	s := large(hotspots)
	var text bytes.Buffer
	err := statement.WriteJSON(&text, &s, policy.Devices().In(s.Month), func(fn func(ledger.Row, ledger.Hash) error) error {
		return eachLarge(hotspots, fn)
	})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := statement.Verify(bytes.NewReader(text.Bytes()), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/31/hotspots, "ns/row")
}

// Terms that are built in are known whenever they were adopted; their first days are then
// those that the statement has.
func TestVerify_Adopted(t *testing.T) {
	month := mustDay("2026-10-01").Month()
	adopted := func(from string) policy.Set {
		places := policy.BuiltIn()[1]
		places.From = mustDay(from)
		return append(policy.Devices(), places)
	}
	minutes := func(from string, version int) policy.Policy {
		p := policy.Newest()
		p.Version, p.From = version, mustDay(from)
		return p
	}
	for name, test := range map[string]struct {
		book policy.Set
		lie  func([]*policy.Policy) []*policy.Policy
		want string // empty: it holds
	}{
		"new network":        {policy.BuiltIn(), nil, ""},
		"before":             {adopted("2026-11-01"), nil, ""},
		"in the month":       {adopted("2026-10-16"), nil, ""},
		"after":              {adopted("2026-10-01"), nil, ""},
		"first not in force": {adopted("2026-10-16"), func(p []*policy.Policy) []*policy.Policy { return p[1:] }, "policies: the one in force on 2026-10-01 is missing"},
		"last not in force": {adopted("2026-11-01"), func(p []*policy.Policy) []*policy.Policy {
			later := adopted("2026-11-01")
			return append(p, &later[1])
		}, "policies: policy 2 was not in force in 2026-10"},
		"both from before": {
			adopted("2026-10-01"), func(p []*policy.Policy) []*policy.Policy { return append([]*policy.Policy{&policy.Devices()[0]}, p...) },
			"policies: policy 1 was not in force in 2026-10",
		},
		"other terms": {
			adopted("2026-10-16"), func(p []*policy.Policy) []*policy.Policy { p[1].Cap++; return p },
			"policy 2: utilization_cap is 0.250001, but policy 2 has 0.25 here",
		},
		"a third": {
			append(adopted("2026-10-16"), policy.Policy{Version: 3, From: mustDay("2026-10-20"), Cap: 1}), nil,
			"policy 3: availability is 0, but policy 3 has 1 here",
		},
		"a fourth": {
			append(adopted("2026-10-16"), minutes("2026-10-18", 3), policy.Policy{Version: 4, From: mustDay("2026-10-20"), Cap: 1}), nil,
			"policy 4 is not built into this program",
		},
		"minutes": {append(policy.Devices(), minutes("2026-10-16", 2)), nil, ""},
		"more minutes": {
			append(adopted("2026-10-16"), minutes("2026-10-18", 3)), func(p []*policy.Policy) []*policy.Policy { p[2].StandingADay++; return p },
			"policy 3: standing_minutes_a_day is 601, but policy 3 has 600 here",
		},
		"devices again": {append(adopted("2026-10-16"), func() policy.Policy {
			again := policy.Devices()[0]
			again.Version, again.From = 3, mustDay("2026-10-20")
			return again
		}()), nil, ""},
	} {
		b := settle(test.book, month, ledger.Hash{}, nil)
		in := b.inForce()
		if test.lie != nil {
			in = test.lie(in)
		}
		var out bytes.Buffer
		if err := statement.WriteJSON(&out, &b.statement, in, b.each); err != nil {
			t.Fatal(err)
		}
		_, err := statement.Verify(&out, nil)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", name, err, test.want)
		}
	}
}

// Standing in minutes grows from row to row by what a day adds. Where a hotspot has moved, and
// after a correction, a statement alone does not say what it was.
func TestVerify_Standing(t *testing.T) {
	p := &book()[3]
	first := p.From
	row := func(n int, at int32, served, standing int, proof int64) ledger.Row {
		f := beacon.Facts{Served: served, Expected: 1440, Ground: beacon.Ground{Counts: beacon.InMinutes, Standing: standing, Proof: proof, Lat: at}}
		if proof > 0 {
			f.Own = int64(served) * 1_000_000
		}
		return ledger.Row{Day: first + beacon.Day(n), Owned: beacon.Owned{User: user, Hotspot: "hs_1"}, Policy: p.Version, Facts: f, Earned: p.Reward(f)}
	}
	const proven, never = 1_000_000, 0
	for name, test := range map[string]struct {
		rows []ledger.Row
		want string
	}{
		"it grows":        {[]ledger.Row{row(0, 1, 1440, 70, proven), row(1, 1, 30, 570, proven), row(3, 1, 1, 600, proven)}, ""},
		"too much":        {[]ledger.Row{row(0, 1, 1440, 70, proven), row(1, 1, 30, 571, proven)}, "row 2 (2026-10-29, hs_1): standing_minutes: is 571, but with its row of 2026-10-28 the hotspot has 570"},
		"too little":      {[]ledger.Row{row(0, 1, 20, 70, proven), row(2, 1, 30, 70, proven)}, "the hotspot has 90"},
		"nobody found it": {[]ledger.Row{row(0, 1, 1440, 0, never), row(1, 1, 30, 0, never), row(2, 1, 1, 0, proven)}, ""},
		"and it counts":   {[]ledger.Row{row(0, 1, 1440, 0, never), row(1, 1, 30, 500, never)}, "the hotspot has 0"},
		"elsewhere":       {[]ledger.Row{row(0, 1, 1440, 70, proven), row(1, 2, 30, 0, proven), row(2, 2, 30, 30, proven)}, ""},
		"and back":        {[]ledger.Row{row(0, 1, 1440, 70, proven), row(1, 2, 30, 0, proven), row(2, 1, 30, 570, proven), row(3, 1, 30, 600, proven)}, ""},
		"and back, with too much": {
			[]ledger.Row{row(0, 1, 1440, 70, proven), row(1, 2, 30, 0, proven), row(2, 1, 30, 571, proven)}, "row 3 (2026-10-30, hs_1): standing_minutes: is 571, but with its row of 2026-10-28 the hotspot has 570",
		},
		"and back, as a new place":      {[]ledger.Row{row(0, 1, 1440, 70, proven), row(1, 2, 30, 0, proven), row(2, 1, 30, 0, proven), row(3, 1, 30, 30, proven)}, ""},
		"to and fro":                    {[]ledger.Row{row(0, 1, 20, 70, proven), row(1, 2, 30, 5, proven), row(2, 1, 40, 90, proven), row(3, 2, 50, 35, proven)}, ""},
		"to and fro, with what was not": {[]ledger.Row{row(0, 1, 20, 70, proven), row(1, 2, 30, 5, proven), row(2, 1, 40, 90, proven), row(3, 2, 50, 36, proven)}, "the hotspot has 35"},
		"someone else's in between":     {[]ledger.Row{row(0, 1, 1440, 70, proven), row(3, 1, 30, 1570, proven)}, ""},
		"with more than they can add":   {[]ledger.Row{row(0, 1, 1440, 70, proven), row(3, 1, 30, 1571, proven)}, "the hotspot has 570"},
		"with less than before":         {[]ledger.Row{row(0, 1, 1440, 70, proven), row(3, 1, 30, 569, proven)}, "the hotspot has 570"},
		"elsewhere, and not":            {[]ledger.Row{row(0, 1, 1440, 70, proven), row(1, 2, 30, 0, proven), row(2, 2, 30, 0, proven)}, "the hotspot has 30"},
	} {
		_, err := verify(settle(book(), first.Month(), ledger.Hash{}, test.rows).json(t))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", name, err, test.want)
		}
	}
}

// Days that were closed again follow the rows above the correction that hold, and not those
// that it made void.
func TestVerify_StandingAgain(t *testing.T) {
	p := &book()[3]
	row := func(n, revision, standing, served int) ledger.Row {
		f := beacon.Facts{Served: served, Expected: 1440, Ground: beacon.Ground{Counts: beacon.InMinutes, Standing: standing, Own: int64(served) * 1_000_000, Proof: 1_000_000}}
		r := ledger.Row{Day: p.From + beacon.Day(n), Owned: beacon.Owned{User: user, Hotspot: "hs_1"}, Policy: p.Version, Facts: f, Earned: p.Reward(f)}
		r.Revision = int64(revision)
		return r
	}
	for name, test := range map[string]struct {
		again []ledger.Row
		want  string
	}{
		"as they hold":          {[]ledger.Row{row(1, 1, 300, 100), row(2, 1, 400, 50), row(3, 1, 450, 1)}, ""},
		"by what is void":       {[]ledger.Row{row(1, 1, 300, 100), row(2, 1, 800, 50)}, "the hotspot has 400"},
		"one that is not there": {[]ledger.Row{row(2, 1, 300, 50), row(3, 1, 350, 50)}, ""},
	} {
		rows := []ledger.Row{row(0, 0, 200, 100), row(1, 0, 300, 500), row(2, 0, 800, 9)}
		chain, void := ledger.Seed(user, p.From.Month()).Next(&rows[0]), ledger.Sum{}
		for i := range rows[1:] {
			void = void.Plus(rows[1+i].Sum())
		}
		correction := ledger.Row{
			Kind: ledger.Correction, Day: p.From + 1, Owned: beacon.Owned{User: user}, Earned: void.Earned, Revision: 1, Corrects: chain,
			Facts: beacon.Facts{Served: int(void.Served), Expected: int(void.Expected)},
		}
		_, err := verify(settle(book(), p.From.Month(), ledger.Hash{}, append(append(rows, correction), test.again...)).json(t))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", name, err, test.want)
		}
	}
}
