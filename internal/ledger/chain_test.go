package ledger_test

import (
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

func day(t *testing.T, text string) beacon.Day {
	t.Helper()
	d, err := beacon.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func sample(t *testing.T) ledger.Row {
	return ledger.Row{
		Day: day(t, "2026-10-05"), Owned: beacon.Owned{User: "usr_1", Hotspot: "hs_9"}, Policy: 1,
		Facts: beacon.Facts{
			Served: 600, Expected: 1200, Closed: 200, Excused: 30, Outside: 10, Bytes: 18446744073709551615, Tier: beacon.Enhanced,
		},
		Earned: beacon.Earned{Availability: 500000, Performance: 125000, Utilization: 1000000},
	}
}

const line = "2026-10-05,hs_9,1,600,1200,200,30,10,18446744073709551615,enhanced,500000,125000,1000000"

func TestRow_Line(t *testing.T) {
	row := sample(t)
	if got := string(row.AppendLine([]byte("x"))); got != "x"+line {
		t.Errorf("got x%s; want %s", got, line)
	}
	if names, values := strings.Split(ledger.Columns, ","), strings.Split(line, ","); len(names) != len(values) {
		t.Errorf("%d names for %d values", len(names), len(values))
	}
}

// placed is a row whose policy pays places.
func placed(t *testing.T) ledger.Row {
	row := sample(t)
	row.Policy, row.Ground = 2, beacon.Ground{
		Counts: beacon.InDays, Standing: 41, Own: 412_500000, Recent: 950000, Proof: 500000, Lat: 407_127_837, Lng: -740_059_413, Shared: 312, Older: 2,
	}
	return row
}

const placedLine = "2026-10-05,hs_9,2,600,1200,200,30,10,18446744073709551615,enhanced,500000,125000,1000000," +
	"412500000,950000,500000,41,407127837,-740059413,312,2"

func TestRow_LineOfPlaces(t *testing.T) {
	row := placed(t)
	inMinutes := row
	inMinutes.Counts, inMinutes.Due, inMinutes.Spare = beacon.InMinutes, 12_250000, 7
	for _, test := range []struct {
		row  ledger.Row
		want string
	}{{row, placedLine}, {inMinutes, placedLine + ",12250000,7"}} {
		if got := string(test.row.AppendLine(nil)); got != test.want {
			t.Errorf("got %s; want %s", got, test.want)
		}
		if names := strings.Split(ledger.ColumnsOf(test.row.Counts), ","); len(names) != strings.Count(test.want, ",")+1 {
			t.Errorf("%d names for %s", len(names), test.want)
		}
	}
}

// The hashes were made with printf and sha256sum:
//
//	seed=$(printf 'beacon rewards\nusr_1\n2026-10\n' | sha256sum | cut -c1-64)
//	next=$(printf '%s\n%s\n' "$seed" "$line" | sha256sum | cut -c1-64)
//	printf '%064d\n%s\nusr_1,2026-10,1,1,600,1200,500000,125000,1000000\npolicy,1\npolicy,2\n' 0 "$next" | sha256sum
func TestChain_KnownAnswer(t *testing.T) {
	row := sample(t)
	seed := ledger.Seed("usr_1", row.Day.Month())
	next := seed.Next(&row)
	seal := ledger.Seal(ledger.Hash{}, monthOf(&row, next), []string{"policy,1", "policy,2"})
	for _, test := range []struct {
		name      string
		got, want string
	}{
		{"seed", seed.String(), "88e6ae913d88d500ea4daade1e3d45005369f490dde1526924fe1e6ae2648225"},
		{"next", next.String(), "e778e0aa284c6a1a48693671f7e4662173e3c7e800017b007054e97fcb16b2e8"},
		{"seal", seal.String(), "451fd7d81ceb491021ab99469ec9dffb7c3a0be82f5244a43063374010291509"},
	} {
		if test.got != test.want {
			t.Errorf("%s is %s; want %s", test.name, test.got, test.want)
		}
	}
}

func monthOf(row *ledger.Row, chain ledger.Hash) *ledger.UserMonth {
	return &ledger.UserMonth{
		Month: row.Day.Month(), User: row.User, Hotspots: 1, Rows: 1, Chain: chain,
		Sum: ledger.Sum{Served: int64(row.Served), Expected: int64(row.Expected), Earned: row.Earned},
	}
}

// Whatever is changed in a row changes its hash. The user is not in the line: the
// chain begins with them.
func TestChain_EveryField(t *testing.T) {
	seen := map[ledger.Hash]string{}
	see := func(name string, h ledger.Hash) {
		if other, twice := seen[h]; twice {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[h] = name
	}
	row := sample(t)
	seed := ledger.Seed(row.User, row.Day.Month())
	see("the row", seed.Next(&row))
	see("another user", ledger.Seed("usr_2", row.Day.Month()).Next(&row))
	see("another month", ledger.Seed(row.User, row.Day.Month()+1).Next(&row))
	see("another row before it", seed.Next(&row).Next(&row))
	for name, change := range map[string]func(*ledger.Row){
		"day": func(r *ledger.Row) { r.Day++ }, "hotspot": func(r *ledger.Row) { r.Hotspot += "0" },
		"policy": func(r *ledger.Row) { r.Policy++ }, "served": func(r *ledger.Row) { r.Served++ },
		"expected": func(r *ledger.Row) { r.Expected++ }, "closed": func(r *ledger.Row) { r.Closed++ },
		"excused": func(r *ledger.Row) { r.Excused++ }, "outside": func(r *ledger.Row) { r.Outside++ },
		"bytes": func(r *ledger.Row) { r.Bytes-- }, "tier": func(r *ledger.Row) { r.Tier++ },
		"availability": func(r *ledger.Row) { r.Availability++ }, "performance": func(r *ledger.Row) { r.Performance++ },
		"utilization": func(r *ledger.Row) { r.Utilization++ },
	} {
		changed := sample(t)
		change(&changed)
		see(name, seed.Next(&changed))
	}
	ground := map[string]func(*ledger.Row){
		"places": func(*ledger.Row) {},
		"own":    func(r *ledger.Row) { r.Own++ }, "recent": func(r *ledger.Row) { r.Recent++ }, "proof": func(r *ledger.Row) { r.Proof++ },
		"days": func(r *ledger.Row) { r.Standing++ }, "lat": func(r *ledger.Row) { r.Lat++ }, "lng": func(r *ledger.Row) { r.Lng++ },
		"shared": func(r *ledger.Row) { r.Shared++ }, "older": func(r *ledger.Row) { r.Older++ },
		"due": func(r *ledger.Row) { r.Due++ }, "spare": func(r *ledger.Row) { r.Spare++ },
	}
	for name, change := range ground {
		changed := placed(t)
		changed.Counts = beacon.InMinutes
		change(&changed)
		see(name, seed.Next(&changed))
	}
	columns := ledger.ColumnsOf(beacon.InMinutes)
	if want := 5 + strings.Count(columns, ",") + 1; len(seen) != want {
		t.Errorf("saw %d hashes; want %d, with one for each column", len(seen), want)
	}
}

func TestSeal_EveryField(t *testing.T) {
	seen := map[ledger.Hash]bool{}
	row := sample(t)
	seal := func(change func(*ledger.UserMonth), previous ledger.Hash, policies ...string) {
		m := monthOf(&row, ledger.Hash{9})
		change(m)
		seen[ledger.Seal(previous, m, policies)] = true
	}
	same := func(*ledger.UserMonth) {}
	seal(same, ledger.Hash{})
	seal(same, ledger.Hash{1})
	seal(same, ledger.Hash{}, "policy,1")
	seal(same, ledger.Hash{}, "policy,2")
	seal(same, ledger.Hash{}, "policy,1", "policy,2")
	changes := []func(*ledger.UserMonth){
		func(m *ledger.UserMonth) { m.User += "0" }, func(m *ledger.UserMonth) { m.Month++ },
		func(m *ledger.UserMonth) { m.Rows++ }, func(m *ledger.UserMonth) { m.Hotspots++ },
		func(m *ledger.UserMonth) { m.Served++ }, func(m *ledger.UserMonth) { m.Expected++ },
		func(m *ledger.UserMonth) { m.Availability++ }, func(m *ledger.UserMonth) { m.Performance++ },
		func(m *ledger.UserMonth) { m.Utilization++ }, func(m *ledger.UserMonth) { m.Chain[31]++ },
	}
	for _, change := range changes {
		seal(change, ledger.Hash{})
	}
	if want := 5 + len(changes); len(seen) != want {
		t.Errorf("saw %d different seals; want %d", len(seen), want)
	}
}

func TestHash_Text(t *testing.T) {
	h := ledger.Seed("usr_1", 0)
	text := h.String()
	if got := string(h.Append([]byte("a"))); got != "a"+text || h.IsZero() || !(ledger.Hash{}).IsZero() {
		t.Fatalf("%s is written as %s", h, got)
	}
	if read, err := ledger.ParseHash(text); err != nil || read != h {
		t.Errorf("%s is read as %s, %v", text, read, err)
	}
	for _, bad := range []string{"", "00", text[1:], text + "0", text[2:] + "zz", strings.ToUpper(text)} {
		if read, err := ledger.ParseHash(bad); err == nil || !read.IsZero() {
			t.Errorf("%q is read as %s, %v; want an error, and no hash", bad, read, err)
		}
	}
}

// What a row says of the ground is stored as in its line.
func TestGroundText(t *testing.T) {
	row := placed(t)
	text := ledger.GroundText(&row.Ground)
	if !strings.HasSuffix(placedLine, ",1000000,"+text) {
		t.Errorf("%s is not the end of %s", text, placedLine)
	}
	inMinutes := row.Ground
	inMinutes.Counts, inMinutes.Due, inMinutes.Proof = beacon.InMinutes, 7, 0
	for _, want := range []beacon.Ground{row.Ground, inMinutes, {}} {
		if got, err := ledger.ParseGround(ledger.GroundText(&want)); err != nil || got != want {
			t.Errorf("%+v is read as %+v, %v", want, got, err)
		}
	}
	for _, bad := range []string{",", text + ",1", text + ",1,01", text + ",1,1,1", text + "x", " " + text, strings.Replace(text, "407127837", "4294967297", 1), strings.Replace(text, ",41,", ",041,", 1), "1,1,0,1,1,1,1"} {
		if got, err := ledger.ParseGround(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
}
