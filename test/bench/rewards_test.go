package bench

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// What all time, the last month and the month in progress cost an operator of
// 10,000 hotspots with a year of history. The target for all time is 3 × a month.
func BenchmarkRewardsAll(b *testing.B) {
	const warm, turns, perTurn = 40, 40, 10 // requests of each period, one after the other
	w := newYearWorld(b)
	subject := serveBeacon(b, "--db", w.file, "--rate-limit", "off", "--clock-start", yearNow.Format(time.RFC3339))
	periods := []string{"all", "last", "current"}
	requests := map[string][]string{}
	ask := func(period string, n int) {
		if err := drive(subject.addr, requests[period], 0, n); err != nil {
			b.Fatal(err)
		}
	}
	for _, period := range periods {
		request := get("/v1/users/me/rewards?period="+period, "Authorization: Bearer "+w.key)
		requests[period] = []string{request}
		checkYear(b, period, fetch(b, subject, request).Body)
		ask(period, warm)
	}
	cpu := map[string]float64{}
	for range turns {
		for _, period := range periods {
			before := subject.cpu(b)
			ask(period, perTurn)
			cpu[period] += subject.cpu(b) - before
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, period := range periods {
		b.ReportMetric(cpu[period]/(turns*perTurn)*1e3, "ms-cpu-"+period)
		b.ReportMetric(float64(len(fetch(b, subject, requests[period][0]).Body)), "B-"+period)
	}
	b.ReportMetric(cpu["all"]/cpu["last"], "×last")
	b.ReportMetric(cpu["all"]/cpu["current"], "×current")
	b.ReportMetric(subject.memory(b)/(1<<20), "MB-rss")
}

// checkYear compares an answer with what the year was made of.
func checkYear(b *testing.B, period string, body []byte) {
	b.Helper()
	var answer struct {
		Data struct {
			Summary struct {
				Total   json.Number `json:"total_earned"`
				Settled json.Number `json:"settled"`
			} `json:"summary"`
			Hotspots []struct{} `json:"hotspots"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		b.Fatal(err)
	}
	days := func(from, to time.Time) beacon.Amount {
		return beacon.Amount(beacon.DayOf(to)-beacon.DayOf(from)) * yearHotspots * yearEarns
	}
	october := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	settled := map[string]beacon.Amount{"all": days(yearBegins, yearEnds), "last": days(october, yearEnds)}[period]
	closed := map[string]beacon.Amount{"all": days(yearBegins, yearNow), "last": settled, "current": days(yearEnds, yearNow)}[period]
	total := amount(b, answer.Data.Summary.Total)
	open := total - closed // today, which is not over: less than 10,000 hotspots can earn on a day
	if len(answer.Data.Hotspots) != yearHotspots || amount(b, answer.Data.Summary.Settled) != settled ||
		open < 0 || open > 3*yearHotspots*beacon.Credit || open > 0 != (period != "last") {
		b.Fatalf("%s: %d hotspots, %s earned and %s settled; want %d, %s and a little, %s", period, len(answer.Data.Hotspots),
			answer.Data.Summary.Total, answer.Data.Summary.Settled, yearHotspots, closed, settled)
	}
}

func amount(b *testing.B, number json.Number) beacon.Amount {
	b.Helper()
	a, err := beacon.ParseAmount(number.String())
	if err != nil {
		b.Fatalf("%s: %v", number, err)
	}
	return a
}
