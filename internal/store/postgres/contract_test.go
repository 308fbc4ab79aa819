package postgres_test

import (
	"context"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// database is the one at a URL, with limits of minutes: none of these tests is about
// them.
func database(t testing.TB, url string) storetest.Database {
	url = storetest.Patient(t, url)
	return func(ctx context.Context, node string) (*store.DB, error) {
		return postgres.Open(ctx, url, postgres.Options{Node: node, Now: storetest.Now})
	}
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t testing.TB) storetest.Database {
		return database(t, storetest.Prepared(t, func(ctx context.Context, url string) (*store.DB, error) { return database(t, url)(ctx, "") }))
	})
}

// TestContract_Serializable: as near as PostgreSQL comes to a distributed engine.
func TestContract_Serializable(t *testing.T) {
	level.Needs(t, level.Check)
	storetest.Run(t, func(t testing.TB) storetest.Database { return database(t, storetest.Serializable(t)) })
}
