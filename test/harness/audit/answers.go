//go:build linux

package audit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// Micros is an amount in millionths, read from the digits of an answer: no float
// comes between them and a sum.
type Micros int64

// UnmarshalJSON reads an amount of credits.
func (m *Micros) UnmarshalJSON(text []byte) error {
	whole, part, _ := strings.Cut(string(text), ".")
	var n int64
	if _, err := fmt.Sscanf(whole+(part + "000000")[:6], "%d", &n); err != nil || len(part) > 6 || strings.ContainsAny(string(text), "eE-") {
		return fmt.Errorf("%s is no amount of credits", text)
	}
	*m = Micros(n)
	return nil
}

// Parts are the three amounts that everything is the sum of.
type Parts struct{ Availability, Performance, Utilization Micros }

// Sum is all three.
func (p Parts) Sum() Micros { return p.Availability + p.Performance + p.Utilization }

// Plus adds each to its like.
func (p Parts) Plus(other Parts) Parts {
	return Parts{p.Availability + other.Availability, p.Performance + other.Performance, p.Utilization + other.Utilization}
}

// Summary is an answer of GET /users/{id}/rewards.
type Summary struct {
	Unit    string
	Period  struct{ Start, End, Status string }
	Summary struct {
		TotalEarned Micros `json:"total_earned"`
		Payment
	}
	Breakdown Parts
	Hotspots  []EarnedBy
}

// EarnedBy is what one hotspot earned.
type EarnedBy struct {
	HotspotID string `json:"hotspot_id"`
	Earned    Micros
	Breakdown Parts
	Payment
}

// Payment is what became of what was earned.
type Payment struct{ Pending, Settled, Held, Voided Micros }

// Sum is all that was earned.
func (p Payment) Sum() Micros { return p.Pending + p.Settled + p.Held + p.Voided }

func (p Payment) plus(other Payment) Payment {
	return Payment{p.Pending + other.Pending, p.Settled + other.Settled, p.Held + other.Held, p.Voided + other.Voided}
}

// Month is the month that a summary of one begins with.
func (s *Summary) Month() string { return s.Period.Start[:len("2026-10")] }

// Problem says which sum of decision N17 does not hold.
func (s *Summary) Problem() string {
	var all Parts
	var paid Payment
	for _, h := range s.Hotspots {
		if h.Earned != h.Breakdown.Sum() || h.Earned != h.Payment.Sum() {
			return fmt.Sprintf("%s earned %d; its parts are %d, and %+v became of it", h.HotspotID, h.Earned, h.Breakdown.Sum(), h.Payment)
		}
		all, paid = all.Plus(h.Breakdown), paid.plus(h.Payment)
	}
	total := s.Summary.TotalEarned
	switch {
	case total != s.Summary.Sum():
		return fmt.Sprintf("the total is %d; this became of it: %+v", total, s.Summary.Payment)
	case paid != s.Summary.Payment:
		return fmt.Sprintf("this became of the total: %+v; the hotspots make %+v", s.Summary.Payment, paid)
	case total != s.Breakdown.Sum():
		return fmt.Sprintf("the total is %d; the parts make %d", total, s.Breakdown.Sum())
	case all != s.Breakdown:
		return fmt.Sprintf("the parts are %v; the hotspots make %v", s.Breakdown, all)
	case s.Unit != "credit":
		return "the unit is " + s.Unit
	case s.Period.Status == "settled" && s.Summary.Pending != 0:
		return fmt.Sprintf("the month is settled, and %d is pending", s.Summary.Pending)
	}
	return ""
}

// HistoryMonth is a month of GET /users/{id}/rewards/history.
type HistoryMonth struct {
	Period       string
	TotalEarned  Micros `json:"total_earned"`
	HotspotCount int    `json:"hotspot_count"`
	Payment
}

// Facts are those of an explanation, or of a row of a statement.
type Facts struct {
	Served   int64  `json:"served_minutes"`
	Expected int64  `json:"expected_minutes"`
	Closed   int64  `json:"closed_minutes"`
	Excused  int64  `json:"excused_minutes"`
	Outside  int64  `json:"outside_minutes"`
	Bytes    uint64 `json:"traffic_bytes"`
	Tier     string `json:"performance_tier"`
}

// Reward is decision N18, by policy 1, computed once more.
func (f Facts) Reward() Parts {
	var p Parts
	if f.Expected > 0 {
		p.Availability = Micros(1_000_000 * f.Served / f.Expected)
	}
	p.Performance = p.Availability * map[string]Micros{"standard": 0, "enhanced": 25, "premium": 50}[f.Tier] / 100
	// 0.02 credits for 10^9 bytes are a millionth for every 50,000.
	p.Utilization = Micros(min(f.Bytes/50_000, 1_000_000))
	return p
}

// Explanation is an answer of GET /hotspots/{id}/rewards/explain.
type Explanation struct {
	Date      string
	Open      bool
	Status    string
	Facts     Facts
	Potential totalled
	Losses    []struct {
		Reason      string
		Explanation string
		totalled
	}
	Earned totalled
}

type totalled struct {
	Parts
	Total Micros
}

// Problem says what does not add up, or is not what the facts are worth.
func (e *Explanation) Problem() string {
	sum := e.Earned.Parts
	all := []totalled{e.Earned, e.Potential}
	for _, l := range e.Losses {
		sum = sum.Plus(l.Parts)
		all = append(all, l.totalled)
	}
	for _, t := range all {
		if t.Total != t.Sum() {
			return fmt.Sprintf("a total is %d; its parts make %d", t.Total, t.Sum())
		}
	}
	f := e.Facts
	minutes := f.Expected + f.Closed + f.Excused + f.Outside
	switch {
	case sum != e.Potential.Parts:
		return fmt.Sprintf("the potential is %v; losses and earnings make %v", e.Potential.Parts, sum)
	case f.Reward() != e.Earned.Parts:
		return fmt.Sprintf("earned %v; by its facts %+v that is %v", e.Earned.Parts, f, f.Reward())
	case f.Served > f.Expected || minutes > 24*60 || !e.Open && minutes != 24*60:
		return fmt.Sprintf("these are no minutes of a day: %+v", f)
	}
	return ""
}

// Statement is an answer of GET /users/{id}/rewards/statements/{month}.
type Statement struct {
	UserID string `json:"user_id"`
	Period string
	Rows   []struct {
		Date      string
		HotspotID string `json:"hotspot_id"`
		Facts
		Parts
	}
}

// Fetch reads an answer that must come, on any goroutine. A machine that has too
// much to do may turn it away for a while.
func Fetch[T any](t testing.TB, c *harness.Client, url string) (value T, a harness.Answer, ok bool) {
	for deadline := time.Now().Add(harness.Patience); ; {
		a = c.Do(t.Context(), http.MethodGet, url, nil)
		if a.Status != http.StatusServiceUnavailable || time.Now().After(deadline) {
			break
		}
		time.Sleep(50 * time.Millisecond) // between two tries, up to a deadline
	}
	if a.Status != http.StatusOK {
		t.Errorf("GET %s answered %d %s %v", url, a.Status, a.Code, a.Err)
		return value, a, false
	}
	if err := json.Unmarshal(a.Data, &value); err != nil {
		t.Errorf("GET %s: %v: %.500s", url, err, a.Data)
		return value, a, false
	}
	return value, a, true
}

// SaveStatement keeps a statement as it was answered, and verifies it without
// the server.
func SaveStatement(t testing.TB, c *harness.Client, s *harness.Server, user, month string) (Statement, bool) {
	t.Helper()
	statement, a, ok := Fetch[Statement](t, c, s.URL+"/v1/users/"+user+"/rewards/statements/"+month)
	if !ok {
		return statement, false
	}
	file := filepath.Join(t.TempDir(), month+".json")
	if err := os.WriteFile(file, a.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	harness.Command(t, "rewards", "verify", file)
	return statement, true
}
