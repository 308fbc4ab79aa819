//go:build linux

package postgres_test

import (
	"context"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// TestContract_Pooled: behind a pooler that lends each transaction another session, and
// refuses all settings of sessions.
func TestContract_Pooled(t *testing.T) {
	level.Needs(t, level.Check)
	storetest.Run(t, func(t testing.TB) storetest.Database {
		direct := storetest.Prepared(t, func(ctx context.Context, url string) (*store.DB, error) { return database(t, url)(ctx, "") })
		return database(t, harness.NewPooler(t, direct).URL(t, direct))
	})
}

// TestOpen_Pooler: whether a pooler is there is found out, also of one that ignores the
// settings that it does not pass on; and its schema is made through it.
func TestOpen_Pooler(t *testing.T) {
	for name, test := range map[string]struct {
		more   []string
		pooler postgres.Pooler
		refuse string // in the error
	}{
		"strict":          {nil, postgres.PoolerAuto, ""},
		"ignoring":        {[]string{"ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout"}, "", ""},
		"by sessions":     {[]string{"pool_mode = session"}, postgres.PoolerAuto, ""},
		"said to be one":  {nil, postgres.PoolerOn, ""},
		"said to be none": {nil, postgres.PoolerOff, "unsupported startup parameter"},
	} {
		t.Run(name, func(t *testing.T) {
			direct := storetest.Postgres(t)
			behind := harness.NewPooler(t, direct, test.more...).URL(t, direct)
			db, err := postgres.Open(t.Context(), behind, postgres.Options{Now: storetest.Now, Pooler: test.pooler})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for n := range 3 {
				switch err := register(db, n+1); {
				case test.refuse != "" && (err == nil || !strings.Contains(err.Error(), test.refuse)):
					t.Fatalf("a registration ends with %v; want %q in it", err, test.refuse)
				case test.refuse == "" && err != nil:
					t.Fatal(err)
				}
			}
		})
	}
	direct := storetest.Postgres(t)
	behind := harness.NewPooler(t, direct).URL(t, direct)
	_, err := postgres.Open(t.Context(), with(t, behind, "synchronous_commit", "on"), postgres.Options{Now: storetest.Now})
	if err == nil || !strings.Contains(err.Error(), "take it out of the URL") {
		t.Errorf("Open with a setting in the URL = %v", err)
	}
}

// TestCommit_Canceled: while a COMMIT waits for its standby somebody cancels it, and the
// server says that it succeeded. The standby does not have it, so nothing is acknowledged.
func TestCommit_Canceled(t *testing.T) {
	level.Needs(t, level.Check)
	cluster := harness.NewCluster(t)
	standby := cluster.NewStandby(t)
	cluster.Synchronous(t, true)
	db := open(t, cluster.URL())
	if err := register(db, 1); err != nil {
		t.Fatal(err)
	}
	standby.Stop(t)
	done := make(chan error, 1)
	go func() { done <- register(db, 2) }()
	admin := harness.OpenSQL(t, cluster.URL())
	harness.Eventually(t, "the COMMIT waits and is canceled", func() bool {
		var canceled int
		err := admin.QueryRowContext(t.Context(), `WITH waits AS MATERIALIZED (SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep')
			SELECT count(*) FROM waits WHERE pg_cancel_backend(pid)`).Scan(&canceled)
		if err != nil {
			t.Fatal(err)
		}
		return canceled > 0
	})
	wantKind(t, "a COMMIT that was canceled", <-done, beacon.Internal)
	standby.Start(t)
	if err := register(db, 3); err != nil {
		t.Error(err)
	}
}
