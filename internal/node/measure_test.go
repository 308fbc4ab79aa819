package node

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/httpserver/metrics"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

// Prometheus sees what a node writes, and how long its journal is.
func TestShow(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "beacon.db"), sqlite.Options{Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := New(db, Config{Limits: edge.DefaultLimits(), Policies: policy.Devices(), Now: time.Now, Rate: 1, RealTime: true, Log: slog.New(slog.DiscardHandler)})
	set := metrics.New()
	n.show(set)
	for range 3 {
		if _, err := db.Journal.AppendBeats(t.Context(), []byte("beats")); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.countJournal(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	set.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range []string{
		"beacon_journal_rows 3",
		`beacon_commit_duration_seconds_count{outcome="committed",stream="journal"} 3`,
		`beacon_commit_duration_seconds_count{outcome="away",stream="changes"} 0`,
		`beacon_database_connections_max{pool="write"} 1`,
		"beacon_keeper 0", // it does not run
	} {
		if !strings.Contains(w.Body.String(), "\n"+line+"\n") {
			t.Errorf("there is no %s", line)
		}
	}
}
