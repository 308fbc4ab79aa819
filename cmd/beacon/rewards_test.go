package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
)

// writeStatements makes files of the statements of months that follow each
// other, with a full day each.
func writeStatements(t *testing.T, dir string, user beacon.UserID, months ...beacon.Month) {
	t.Helper()
	book := policy.Devices()
	var previous ledger.Hash
	for _, month := range months {
		row := ledger.Row{
			Day: month.First(), Owned: beacon.Owned{User: user, Hotspot: "hs_01kb3gzk00e9x8q6s5t4v3w2y1"}, Policy: 1,
			Facts: beacon.Facts{Served: 1440, Expected: 1440}, Earned: beacon.Earned{Availability: beacon.Credit},
		}
		s := ledger.Statement{Previous: previous, SettledAt: (month + 1).Start().Add(rewards.Grace)}
		s.User, s.Month, s.Rows, s.Hotspots = user, month, 1, 1
		s.Sum = ledger.Sum{Served: 1440, Expected: 1440, Earned: row.Earned}
		s.Chain = ledger.Seed(user, month).Next(&row)
		s.Hash = ledger.Seal(previous, &s.UserMonth, []string{book[0].Line()})
		previous = s.Hash
		var out bytes.Buffer
		err := statement.WriteJSON(&out, &s, book.In(month), func(fn func(ledger.Row, ledger.Hash) error) error { return fn(row, s.Chain) })
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s.json", user, month)), out.Bytes(), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Statements of one user must follow each other, in whatever order they are
// named; those of others stand beside them.
func TestRewardsVerify_Chain(t *testing.T) {
	dir := t.TempDir()
	const ada, bob = beacon.UserID("usr_01kb3gzk00a1b2c3d4e5f6g7h8"), beacon.UserID("usr_01kb3gzk00b1b2c3d4e5f6g7h8")
	first := beacon.MonthOf(time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC))
	writeStatements(t, dir, ada, first, first+1, first+2)
	writeStatements(t, dir, bob, first+1)
	verify := func(files ...string) (string, error) {
		for i := range files {
			files[i] = filepath.Join(dir, files[i]+".json")
		}
		var out bytes.Buffer
		err := rewardsVerifyCmd{Files: files}.Run(&console{ctx: t.Context(), stdout: &out, stderr: &out})
		return out.String(), err
	}
	a, b := string(ada), string(bob)
	out, err := verify(a+"-2026-11", b+"-2026-10", a+"-2026-09", a+"-2026-10")
	if err != nil || strings.Count(out, " holds: ") != 4 {
		t.Errorf("it printed %s and ended with %v", out, err)
	}
	out, err = verify(a+"-2026-09", a+"-2026-11")
	if err == nil || !strings.Contains(err.Error(), "2026-11.json does not follow ") || strings.Count(out, " holds: ") != 2 {
		t.Errorf("without October it printed %s and ended with %v", out, err)
	}
}

func TestRewardsSettle_Line(t *testing.T) {
	month := beacon.MonthOf(time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC))
	for want, report := range map[string]closing.SettleReport{
		"settled 2026-10: 3 statements, 12.5 credits":                                 {Month: month, Statements: 3, Written: 3, Total: 12_500_000},
		"settled 2026-10: 3 statements, 12.5 credits; 1 of them were already written": {Month: month, Statements: 3, Written: 2, Total: 12_500_000},
		"nothing to do: 2026-10 is already settled (1 statement, 0.000001 credits)":   {Month: month, Statements: 1, Total: 1},
		"settled 2026-10: 0 statements, 0 credits":                                    {Month: month},
		"nothing to do: 2026-10 is already settled (0 statements, 0 credits)":         {Month: month, Already: true},
	} {
		if got := settledLine(report); got != want {
			t.Errorf("it says %q; want %q", got, want)
		}
	}
}
