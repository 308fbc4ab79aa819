package statement_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
)

// book has a policy that begins in the middle of October 2026, soon one that pays places, and
// then one that counts minutes.
func book() policy.Set {
	first := policy.Devices()[0]
	second := policy.Policy{
		Version: 2, From: mustDay("2026-10-16"), Availability: 1_234567,
		Performance: [3]beacon.Amount{100000, 333333, 777777}, PerGB: 30003, Cap: 2_500000,
	}
	third := policy.Policy{
		Version: 3, From: mustDay("2026-10-24"), Availability: 1_111111,
		Performance: [3]beacon.Amount{10, 300003, 700007}, PerGB: 20002, Cap: 234567, Radius: 50, Unproven: 499999,
	}
	fourth := third
	fourth.Version, fourth.From, fourth.StandingADay = 4, mustDay("2026-10-28"), 500
	return policy.Set{first, second, third, fourth}
}

func mustDay(text string) beacon.Day {
	day, err := beacon.ParseDay(text)
	if err != nil {
		panic(err)
	}
	return day
}

const user beacon.UserID = "usr_01k8a0000000000000000000zz"

// books are a user's month as the ledger has it.
type books struct {
	statement ledger.Statement
	policies  policy.Set
	rows      []ledger.Row
}

func (b *books) inForce() []*policy.Policy { return b.policies.In(b.statement.Month) }

func (b *books) each(fn func(ledger.Row, ledger.Hash) error) error {
	chain := ledger.Seed(b.statement.User, b.statement.Month)
	for _, row := range b.rows {
		chain = chain.Next(&row)
		if err := fn(row, chain); err != nil {
			return err
		}
	}
	return nil
}

func (b *books) json(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := statement.WriteJSON(&out, &b.statement, b.inForce(), b.each); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// settle makes the statement of a month over rows.
func settle(policies policy.Set, month beacon.Month, previous ledger.Hash, rows []ledger.Row) *books {
	b := &books{policies: policies, rows: rows}
	m := ledger.UserMonth{Month: month, User: user, Rows: len(rows), Chain: ledger.Seed(user, month)}
	hotspots := map[beacon.HotspotID]bool{}
	for _, row := range rows {
		m.Chain = m.Chain.Next(&row)
		sum := ledger.Sum{Served: int64(row.Served), Expected: int64(row.Expected), Earned: row.Earned}
		if row.Kind == ledger.Correction {
			m.Sum = m.Minus(sum)
			continue
		}
		m.Sum = m.Plus(sum)
		hotspots[row.Hotspot] = true
	}
	m.Hotspots = len(hotspots)
	b.statement = ledger.Statement{
		UserMonth: m, Previous: previous, SettledAt: (month + 1).Start().Add(72*time.Hour + 1234567),
	}
	var lines []string
	for _, p := range b.inForce() {
		lines = append(lines, p.Lines()...)
	}
	b.statement.Hash = ledger.Seal(previous, &m, lines)
	return b
}

// sample is a month with some rows on some days.
func sample(seed uint64, days, hotspots int, previous ledger.Hash) *books {
	month := mustDay("2026-10-01").Month()
	var rows []ledger.Row
	random := rand.New(rand.NewPCG(seed, 6))
	before := map[int]ledger.Row{}
	for n := range days {
		for hotspot := range hotspots {
			if random.IntN(8) > 0 {
				day := month.First() + beacon.Day(n)
				if days == 4 {
					day = month.First() + []beacon.Day{0, 15, 24, 30}[n] // a day of each policy
				}
				row := randomRow(random, day, hotspot)
				if row.Counts == beacon.InMinutes {
					p, was := book()[3], before[hotspot]
					if was.Day > 0 && random.IntN(4) > 0 { // it has not moved
						row.Standing, row.Lat, row.Lng = was.Standing+p.Standing(was.Served, was.Proof > 0), was.Lat, was.Lng
					}
					if was.Day == day-1 && row.Proof > 0 {
						row.Spare = p.Spare(was.Facts, was.Utilization)
					}
					row.Earned = p.Reward(row.Facts)
					before[hotspot] = row
				}
				rows = append(rows, row)
			}
		}
	}
	return settle(book(), month, previous, rows)
}

func randomRow(random *rand.Rand, day beacon.Day, hotspot int) ledger.Row {
	f := beacon.Facts{Tier: beacon.Tier(random.IntN(3))}
	f.Closed = random.IntN(2) * random.IntN(700)
	f.Excused = random.IntN(2) * random.IntN(300)
	f.Expected = random.IntN(beacon.MinutesADay - f.Closed - f.Excused + 1)
	f.Outside = beacon.MinutesADay - f.Closed - f.Excused - f.Expected
	f.Served = random.IntN(f.Expected + 1)
	f.Bytes = [...]uint64{0, random.Uint64N(200e9), math.MaxUint64 - 1}[random.IntN(3)]
	p := book().On(day)
	if p.PaysPlaces() {
		f.Ground = randomGround(random, &f, p)
	}
	return ledger.Row{
		Day: day, Owned: beacon.Owned{User: user, Hotspot: beacon.HotspotID(fmt.Sprintf("hs_%026d", hotspot*7+1))},
		Policy: p.Version, Facts: f, Earned: p.Reward(f),
	}
}

func randomGround(random *rand.Rand, f *beacon.Facts, p *policy.Policy) beacon.Ground {
	served := f.Served
	g := beacon.Ground{
		Counts: p.Counts(), Standing: random.IntN(1000),
		Own: int64(served) * 1_000_000, Recent: random.Int64N(1_000_001), Proof: 1_000_000,
		Lat: random.Int32N(1_800_000_001) - 900_000_000, Lng: random.Int32N(1_800_000_000) * (random.Int32N(2)*2 - 1),
	}
	if random.IntN(2) == 0 {
		g.Proof = int64(p.Unproven)
	}
	if served > 0 && random.IntN(3) > 0 {
		g.Own, g.Shared, g.Older = random.Int64N(g.Own), 1+random.IntN(served), 1+random.IntN(5)
	}
	if g.Counts == beacon.InMinutes {
		if g.Due = random.Int64N(int64(f.Excused)*1_000_000 + 1); random.IntN(5) == 0 {
			g.Proof, g.Own, g.Recent, g.Due, g.Shared, g.Older = 0, 0, 0, 0, 0, 0
		}
	}
	return g
}

func verify(text []byte) (statement.Report, error) {
	return statement.Verify(bytes.NewReader(text), book())
}
