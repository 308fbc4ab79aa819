package client_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/test/harness"
)

func settleOctober(t *testing.T, db string) {
	t.Helper()
	s := start(t, db, "--clock-start", "2026-11-01T00:10:00Z", "--clock-rate", "1200")
	harness.Eventually(t, "October is closed", func() bool {
		return regexp.MustCompile(`closed through 2026-1`).MatchString(beacon(t, "rewards", "status", "--db", db))
	})
	s.stop(t)
	beacon(t, "rewards", "settle", "--db", db, "--month", "2026-10", "--force", "--clock-start", "2026-11-03T00:00:00Z")
}

func readRewards(t *testing.T, c *client.Client, h client.Hotspot) {
	t.Helper()
	last := must(c.Rewards(t.Context(), "me", client.LastMonth))(t)
	sum := last.Breakdown.Availability + last.Breakdown.Performance + last.Breakdown.Utilization
	if last.Period.Status != "settled" || last.Summary.TotalEarned != sum || sum == 0 || last.Summary.Settled != sum ||
		len(last.Hotspots) != 1 || last.Hotspots[0].HotspotID != h.ID || last.Hotspots[0].Earned != sum {
		t.Errorf("October earned %+v", last)
	}
	months := map[string]client.Amount{}
	for month, err := range c.RewardsHistory(t.Context(), "me", client.RewardsHistoryQuery{StartDate: "2026-10-01", EndDate: "2026-11-30"}) {
		months[must(month, err)(t).Period] = month.TotalEarned
	}
	if len(months) != 2 || months["2026-10"] != sum {
		t.Errorf("the months earned %v; October %v", months, sum)
	}
	days := must(c.RewardsDays(t.Context(), "me", "2026-10"))(t)
	if len(days.Days) != 31 || days.Period != "2026-10" || days.Days[30].TotalEarned != sum || days.Days[30].HotspotCount != 1 || days.Days[30].Open {
		t.Errorf("the days of October earned %+v", days)
	}
	day := must(c.ExplainRewards(t.Context(), h.ID, "2026-10-31"))(t)
	explained := day.Earned.Total
	for _, loss := range day.Losses {
		explained += loss.Total
	}
	if day.Earned.Total != sum || day.Potential.Total != explained || day.Open || day.Policy.Version != 3 || day.Facts.TrafficBytes != 3e9 {
		t.Errorf("the day is explained as %+v", day)
	}
	readStatement(t, c, h, sum)
}

func readStatement(t *testing.T, c *client.Client, h client.Hotspot, sum client.Amount) {
	t.Helper()
	var rows []client.StatementRow
	statement := must(c.Statement(t.Context(), "me", "2026-10", func(row client.StatementRow) error {
		rows = append(rows, row)
		return nil
	}))(t)
	if len(rows) != 1 || rows[0].HotspotID != h.ID || rows[0].TrafficBytes != 3e9 || rows[0].Availability == 0 || len(rows[0].Hash) != 64 {
		t.Errorf("the rows are %+v", rows)
	}
	if statement.Totals.TotalEarned != sum || statement.Totals.Rows != 1 || statement.Status != "settled" || len(statement.Policies) != 1 ||
		statement.PreviousHash != nil || len(statement.Hash) != 64 || statement.SettledAt.IsZero() || statement.Period != "2026-10" {
		t.Errorf("the statement is %+v", statement)
	}

	// What is saved is what anyone can verify.
	body := must(c.DownloadStatement(t.Context(), "me", "2026-10", client.AsJSON))(t)
	defer body.Close()
	text := must(io.ReadAll(body))(t)
	file := filepath.Join(t.TempDir(), "2026-10.json")
	save(t, file, text)
	if said := beacon(t, "rewards", "verify", file); !strings.Contains(said, statement.Hash) {
		t.Errorf("the statement verifies as %s; want hash %s", said, statement.Hash)
	}
	for n := range bytes.TrimSpace(text) { // wherever it is cut off
		if _, err := client.ReadStatement(bytes.NewReader(text[:n]), func(client.StatementRow) error { return nil }); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("a statement that was cut off after %s: %v", text[:n], err)
		}
	}
	enough := errors.New("enough")
	if _, err := client.ReadStatement(bytes.NewReader(text), func(client.StatementRow) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("a reader who has enough gets %v", err)
	}
	table := must(c.DownloadStatement(t.Context(), "me", "2026-10", client.AsCSV))(t)
	defer table.Close()
	if lines := must(csv.NewReader(table).ReadAll())(t); len(lines) != 2 {
		t.Errorf("as a table, the statement is %v", lines)
	}
	if _, err := c.Statement(t.Context(), "me", "2026-11", nil); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("a month that is not settled: %v", err)
	}
}
