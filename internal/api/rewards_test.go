package api_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

type rewardsOf struct {
	UserID    string    `json:"user_id"`
	Unit      string    `json:"unit"`
	Period    rewarded  `json:"period"`
	Summary   sums      `json:"summary"`
	Breakdown breakdown `json:"breakdown"`
	Hotspots  []struct {
		ID        string    `json:"hotspot_id"`
		Name      string    `json:"name"`
		Earned    micros    `json:"earned"`
		Score     micros    `json:"availability_score"`
		Tier      string    `json:"performance_tier"`
		Breakdown breakdown `json:"breakdown"`
	} `json:"hotspots"`
}

type rewarded struct{ Start, End, Status string }

type sums struct {
	Total   micros `json:"total_earned"`
	Pending micros `json:"pending"`
	Settled micros `json:"settled"`
	Held    micros `json:"held"`
	Voided  micros `json:"voided"`
}

type breakdown struct{ Availability, Performance, Utilization, Total micros }

func (b breakdown) sum() micros { return b.Availability + b.Performance + b.Utilization }

// micros is a number of the wire in millionths, read from its digits.
type micros int64

func (m *micros) UnmarshalJSON(text []byte) error {
	whole, part, _ := strings.Cut(string(text), ".")
	n, err := strconv.ParseInt(whole+(part + "000000")[:6], 10, 64)
	*m = micros(n)
	if err == nil && (len(part) > 6 || strings.HasSuffix(part, "0")) {
		err = &json.UnsupportedValueError{Str: string(text)}
	}
	return err
}

type explained struct {
	HotspotID string `json:"hotspot_id"`
	Date      string `json:"date"`
	Open      bool   `json:"open"`
	Status    string `json:"status"`
	Facts     struct {
		Served   int   `json:"served_minutes"`
		Expected int   `json:"expected_minutes"`
		Bytes    int64 `json:"traffic_bytes"`
	} `json:"facts"`
	Potential breakdown `json:"potential"`
	Losses    []struct {
		breakdown
		Reason      string `json:"reason"`
		Explanation string `json:"explanation"`
	} `json:"losses"`
	Earned breakdown `json:"earned"`
}

// addsUp holds a summary to decision N17.
func (r rewardsOf) addsUp(t testing.TB) rewardsOf {
	t.Helper()
	var hotspots micros
	for _, h := range r.Hotspots {
		hotspots += h.Earned
		if h.Earned != h.Breakdown.sum() || h.Score < 0 || h.Score > 1_000_000 {
			t.Errorf("a hotspot does not add up: %+v", h)
		}
	}
	if s := r.Summary; s.Total != s.Pending+s.Settled+s.Held+s.Voided || s.Total != r.Breakdown.sum() || s.Total != hotspots || r.Unit != "credit" {
		t.Errorf("the rewards do not add up: %+v", r)
	}
	return r
}

// addsUp holds an explanation to decision X6.
func (e explained) addsUp(t testing.TB) explained {
	t.Helper()
	left := e.Potential
	for _, l := range e.Losses {
		left.Availability -= l.Availability
		left.Performance -= l.Performance
		left.Utilization -= l.Utilization
		left.Total -= l.Total
		if l.Total != l.sum() || l.Explanation == "" {
			t.Errorf("a loss does not add up: %+v", l)
		}
	}
	if left != e.Earned || e.Earned.Total != e.Earned.sum() {
		t.Errorf("the explanation does not add up: %+v", e)
	}
	return e
}

func (c client) rewards(t testing.TB, period string) rewardsOf {
	t.Helper()
	return data[rewardsOf](t, c.get(t, "/v1/users/me/rewards?period="+period), http.StatusOK).addsUp(t)
}

func (c client) explain(t testing.TB, hotspot, date string) explained {
	t.Helper()
	return data[explained](t, c.get(t, hotspot+"/rewards/explain?date="+date), http.StatusOK).addsUp(t)
}

// From the first beat to a statement that verifies, on each store.
func TestRewards(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, admin, stranger := s.anyone(t, "hotspots:write", "rewards:read"), s.anyone(t, "admin"), s.anyone(t, "rewards:read")
		busy, silent := c.install(t, 1, "name", `"=cmd|' /C calc'!A0"`), c.install(t, 2, "name", `"Naïve \"Café\", Ort"`)
		s.verify(t, busy.hotspot)
		s.verify(t, silent.hotspot)
		for i := range 10 { // from 12:00 to 12:09
			busy.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":%d,"tx_bytes":0}`, i, 1_000_000_000*i)).want(t, http.StatusOK)
			s.advance(time.Minute)
		}
		// 9 GB at 0.02; six minutes are decided, and each was served.
		today := c.explain(t, busy.hotspot, "2026-11-15")
		if !today.Open || today.Status != "in_progress" || today.Facts.Bytes != 9e9 || today.Earned.Utilization != 180_000 || today.Earned.Availability != 1_000_000 {
			t.Errorf("today is explained by %+v", today)
		}
		now := c.rewards(t, "current")
		if now.Period != (rewarded{"2026-11-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z", "in_progress"}) || now.Summary.Pending != 1_180_000 || now.UserID != string(c.user) {
			t.Errorf("the rewards of this month are %+v", now)
		}
		if all := c.rewards(t, "all"); all.Summary.Total != now.Summary.Total {
			t.Errorf("all rewards are %+v; those of this month %+v", all, now)
		}
		c.delete(t, silent.hotspot).want(t, http.StatusNoContent)

		mine, theirs, everyones := c.listen(t, ""), stranger.listen(t, ""), admin.listen(t, "")
		s.time.Store(time.Date(2026, 12, 4, 0, 10, 0, 0, time.UTC).UnixMicro())
		harness.Eventually(t, "the settlement", func() bool {
			s.advance(10 * time.Second)
			for _, period := range []string{"current", "last", "all"} { // whatever is being closed or settled
				c.rewards(t, period)
			}
			return c.get(t, "/v1/users/me/rewards/statements/2026-11").StatusCode == http.StatusOK
		})
		checkSettled(t, c, admin, busy.hotspot, silent.hotspot)
		for _, l := range []*listener{mine, everyones} {
			e := l.next()
			for e.Type != "rewards.settled" {
				e = l.next()
			}
			if e.User != string(c.user) || e.Period != "2026-11" || e.At < "2026-12-04T00:10:00.000Z" {
				t.Errorf("the settlement is told as %+v", e)
			}
		}
		c.register(t, 3)
		for e := theirs.next(); e.Type != "hotspot.registered"; e = theirs.next() {
			if e.Type == "rewards.settled" {
				t.Errorf("a stranger hears of %+v", e)
			}
		}
	})
}

// checkSettled looks at November from all sides, three days after its end.
func checkSettled(t *testing.T, c, admin client, busy, silent string) {
	t.Helper()
	last := c.rewards(t, "last")
	if last.Period.Status != "settled" || last.Summary.Pending != 0 || last.Summary.Settled == 0 || len(last.Hotspots) != 2 {
		t.Errorf("the rewards of November are %+v", last)
	}
	if now := c.rewards(t, "current"); now.Period.Start != "2026-12-01T00:00:00.000Z" || now.Period.Status != "in_progress" {
		t.Errorf("the rewards of December are %+v", now)
	}
	if all := c.rewards(t, "all"); all.Summary.Settled != last.Summary.Settled {
		t.Errorf("of all rewards, %+v", all)
	}
	day, gone := c.explain(t, busy, "2026-11-15"), c.explain(t, silent, "2026-11-15")
	if day.Open || day.Status != "settled" || gone.Open || gone.Earned.Total != 0 || gone.Facts.Expected == 0 {
		t.Errorf("the day is explained by %+v and, of the deleted hotspot, %+v", day, gone)
	}
	months := whole[[]struct {
		Period   string
		Total    micros `json:"total_earned"`
		Hotspots int    `json:"hotspot_count"`
		Unit     string
	}](t, c.get(t, "/v1/users/me/rewards/history"), http.StatusOK)
	if len(months.Data) != 2 || months.Data[1].Period != "2026-11" || months.Data[1].Total != last.Summary.Total || months.Data[1].Hotspots != 2 || months.Pagination.Total != 2 {
		t.Errorf("the history is %+v", months)
	}
	checkDays(t, c, admin, last, day)

	a := c.get(t, "/v1/users/me/rewards/statements/2026-11")
	report, err := statement.Verify(bytes.NewReader(a.want(t, http.StatusOK).body), nil)
	if err != nil || micros(report.Earned.Total()) != last.Summary.Total || string(report.User) != string(c.user) {
		t.Errorf("the statement verifies to %+v, %v", report, err)
	}
	a.body = bytes.Replace(a.body, []byte(`"traffic_bytes":9000000000`), []byte(`"traffic_bytes":9100000000`), 1)
	if _, err := statement.Verify(bytes.NewReader(a.body), nil); err == nil {
		t.Error("a statement with more traffic verifies too")
	}
	same := admin.get(t, "/v1/users/"+string(c.user)+"/rewards/statements/2026-11").want(t, http.StatusOK)
	if got, want := data[json.RawMessage](t, same, http.StatusOK), data[json.RawMessage](t, c.get(t, "/v1/users/me/rewards/statements/2026-11"), http.StatusOK); string(got) != string(want) {
		t.Errorf("an admin reads %s; the user %s", got, want)
	}
	for _, path := range []string{"/v1/users/me/rewards/statements/2026-10", "/v1/users/me/rewards/statements/2026-12", "/v1/users/me/rewards/statements/9999-12"} {
		wantFault(t, c.get(t, path), http.StatusNotFound, "not_found")
	}
	checkTables(t, c, busy, report.Rows)
}

type earnedDays struct {
	UserID string `json:"user_id"`
	Period string
	Unit   string
	Days   []struct {
		Date      string
		Open      bool
		Total     micros `json:"total_earned"`
		Hotspots  int    `json:"hotspot_count"`
		Breakdown breakdown
	}
}

// checkDays compares the days of November with its sum and with one that was explained.
func checkDays(t *testing.T, c, admin client, november rewardsOf, explained explained) {
	t.Helper()
	path := "/v1/users/" + string(c.user) + "/rewards/days?month=2026-11"
	month := data[earnedDays](t, admin.get(t, path), http.StatusOK)
	var total micros
	for _, day := range month.Days {
		total += day.Total
		if day.Open || day.Total != day.Breakdown.sum() {
			t.Errorf("a day of November is %+v", day)
		}
	}
	if month.UserID != string(c.user) || month.Period != "2026-11" || month.Unit != "credit" || len(month.Days) != 30 || total != november.Summary.Total {
		t.Fatalf("the days of November are %+v; it earned %v", month, november.Summary)
	}
	if day := month.Days[14]; day.Date != "2026-11-15" || day.Hotspots != 2 || day.Total != explained.Earned.Total {
		t.Errorf("November 15 is %+v; explained as %+v", day, explained.Earned)
	}
	december := data[earnedDays](t, c.get(t, "/v1/users/me/rewards/days"), http.StatusOK)
	if n := len(december.Days); december.Period != "2026-12" || n == 0 || !december.Days[n-1].Open {
		t.Errorf("the days of December are %+v", december)
	}
	for _, month := range []string{"2027-01", "2026-13", "2026-1", "november", "1969-12", ""} {
		wantFault(t, c.get(t, "/v1/users/me/rewards/days?month="+month), http.StatusBadRequest, "invalid_request", "month")
	}
}

// A month of many rows counts as many requests, and is refused before they are read.
func TestRewards_DaysCharged(t *testing.T) {
	tight := ample
	tight.PerKey = ratelimit.Limit{Every: time.Hour, Burst: 40}
	s := onSQLite(t, options{limits: tight, rewards: books{rows: 300_000}})
	c := s.anyone(t, "rewards:read")
	if left := c.get(t, "/v1/users/me/rewards/days").want(t, http.StatusOK).Header.Get("RateLimit-Remaining"); left != "9" {
		t.Errorf("after a month of 300,000 rows %s requests are left; want 9", left)
	}
	wantFault(t, c.get(t, "/v1/users/me/rewards/days"), http.StatusTooManyRequests, "rate_limit_exceeded")
}

// checkTables reads everything once more as CSV.
func checkTables(t *testing.T, c client, hotspot string, rows int) {
	t.Helper()
	for path, want := range map[string]struct {
		file  string
		lines int
	}{
		"/v1/users/me/rewards?period=last":               {"rewards-last.csv", 3},
		"/v1/users/me/rewards/history":                   {"rewards-history.csv", 3},
		"/v1/users/me/rewards/days?month=2026-11":        {"rewards-2026-11.csv", 31},
		"/v1/users/me/rewards/statements/2026-11":        {"statement-2026-11.csv", rows + 1},
		hotspot + "/rewards/explain?date=2026-11-15":     {"explanation-2026-11-15.csv", 0},
		"/v1/users/me/rewards/history?page=2&per_page=2": {"rewards-history.csv", 1},
	} {
		a := c.get(t, path, "Accept", "text/csv").want(t, http.StatusOK)
		if a.Header.Get("Content-Type") != "text/csv; charset=utf-8; header=present" || a.Header.Get("Vary") != "Accept, Accept-Encoding" ||
			a.Header.Get("Content-Disposition") != `attachment; filename="`+want.file+`"` {
			t.Errorf("%s as a table has the header %v", path, a.Header)
		}
		lines, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
		if err != nil || len(lines) != want.lines && want.lines > 0 || len(lines) == 0 {
			t.Errorf("%s as a table has %d lines; want %d; %v", path, len(lines), want.lines, err)
		}
		for _, line := range lines {
			for _, cell := range line {
				if strings.HasPrefix(cell, "=") {
					t.Errorf("%s as a table has the formula %q", path, cell)
				}
			}
		}
	}
	names := string(c.get(t, "/v1/users/me/rewards?period=last", "Accept", "text/csv").body)
	if !strings.Contains(names, `,"'=cmd|' /C calc'!A0",`) || !strings.Contains(names, `,"Naïve ""Café"", Ort",`) {
		t.Errorf("the names are written as %s", names)
	}
}

// Two hotspots at one place are paid once, from the first minute that is decided until the
// day is closed, whatever becomes of the older one.
func TestRewards_Places(t *testing.T) {
	places := policy.Policy{
		Version: 2, From: beacon.DayOf(noon), Availability: 1_000000, Performance: [3]beacon.Amount{0, 250000, 500000},
		PerGB: 20000, Cap: 250000, Radius: 50, Unproven: 500000,
	}
	eachStoreWith(t, options{limits: ample, live: true, policies: append(policy.Devices(), places)}, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "rewards:read")
		older, younger := c.install(t, 1), c.install(t, 2)
		if younger.hotspot < older.hotspot {
			older, younger = younger, older
		}
		s.verify(t, older.hotspot)
		s.verify(t, younger.hotspot)
		place := data[hotspot](t, c.get(t, younger.hotspot), http.StatusOK).Location
		s.anyone(t, "hotspots:verify").post(t, younger.hotspot+"/verification",
			at(`{"lat":%v,"lng":%v,"accuracy_m":5,"method":"gps","speedtest":{"down_mbps":40,"up_mbps":4.5,"latency_ms":12}}`, place.Lat, place.Lng)).want(t, http.StatusOK)
		minute := func(seq int, on ...machine) micros {
			t.Helper()
			for _, d := range on {
				d.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":0,"tx_bytes":0}`, seq)).want(t, http.StatusOK)
			}
			s.advance(time.Minute)
			return c.rewards(t, "current").Summary.Total
		}
		var total micros
		for seq := range 20 { // from 12:00 to 12:19
			on := []machine{older, younger}
			if seq >= 10 {
				on = on[1:]
			}
			if seq == 15 {
				c.delete(t, older.hotspot).want(t, http.StatusNoContent)
			}
			now := minute(seq, on...)
			if now < total {
				t.Fatalf("%d was earned, and then %d", total, now)
			}
			total = now
		}
		// It is 12:20. The older one was on the air until 12:12, and 12:17 is decided.
		today := c.explain(t, younger.hotspot, "2026-11-15")
		if !today.Open || today.Facts.Served != 18 || today.Earned.Availability != 5*1_000_000/1440 {
			t.Errorf("the younger has %+v", today)
		}
		said := ""
		for _, l := range today.Losses {
			if l.Reason == "shared" {
				said = l.Explanation
			}
		}
		if !strings.HasSuffix(said, "This one shared ground for 13 minutes with 1 older hotspot.") {
			t.Errorf("it is told: %q", said)
		}
		if first := c.explain(t, older.hotspot, "2026-11-15"); first.Earned.Availability != 13*1_000_000/1440 || total != first.Earned.Total+today.Earned.Total {
			t.Errorf("the older has %+v; together %d", first, total)
		}
		s.time.Store(time.Date(2026, 11, 16, 0, 4, 0, 0, time.UTC).UnixMicro())
		open := c.explain(t, younger.hotspot, "2026-11-15")
		harness.Eventually(t, "the closing", func() bool {
			s.advance(10 * time.Second)
			return !c.explain(t, younger.hotspot, "2026-11-15").Open
		})
		if closed := c.explain(t, younger.hotspot, "2026-11-15"); closed.Earned != open.Earned || !open.Open || closed.Facts != open.Facts {
			t.Errorf("open %+v; closed %+v", open, closed)
		}

		// A visit measured the speed on the day before.
		younger.beat(t, `{"boot_id":"b","seq":100,"clients":1,"rx_bytes":0,"tx_bytes":0}`).want(t, http.StatusOK)
		s.advance(10 * time.Minute)
		said = ""
		for _, l := range c.explain(t, younger.hotspot, "2026-11-16").Losses {
			if l.Reason == "tier" {
				said = l.Explanation
			}
		}
		if !strings.HasPrefix(said, "The last visit measured 40 Mbps down, 4.5 up and a latency of 12 ms, so the hotspot is paid as standard at most") {
			t.Errorf("of its tier it is told: %q", said)
		}
	})
}

func TestScore(t *testing.T) {
	for want, minutes := range map[string][2]int64{
		"0": {0, 0}, "0.5": {720, 1440}, "1": {1440, 1440}, "0.999999": {4_463_999_999, 4_464_000_000}, "0.333333": {1, 3}, "0.000001": {1, 1_000_000},
	} {
		if got := api.Score(minutes[0], minutes[1]); got != want {
			t.Errorf("%d of %d minutes is %s; want %s", minutes[0], minutes[1], got, want)
		}
	}
	if got := api.Score(1, 1_000_001); got != "0" {
		t.Errorf("next to nothing is %s", got)
	}
}

func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"Café": `"Café"`, `a"b`: `"a""b"`, "a,b": `"a,b"`, "=1+1": `"'=1+1"`, "+1": `"'+1"`, "-1": `"'-1"`, "@a": `"'@a"`, "＝1": `"'＝1"`, "a=1": `"a=1"`, `"=1`: `"""=1"`,
	} {
		if got := api.Cell(text); got != want {
			t.Errorf("%q is written as %s; want %s", text, got, want)
		}
	}
}

// A summary of ten thousand hotspots is written in no time.
func TestRewards_TenThousand(t *testing.T) {
	level.Repeats(t)
	s := onSQLite(t, options{limits: ample, rewards: books{hotspots: 10_000}})
	c := s.anyone(t, "rewards:read")
	got := data[rewardsOf](t, c.get(t, "/v1/users/me/rewards"), http.StatusOK).addsUp(t)
	if len(got.Hotspots) != 10_000 || got.Summary.Total != 10_000*1_000_000 {
		t.Errorf("%d hotspots earned %d", len(got.Hotspots), got.Summary.Total)
	}
}
