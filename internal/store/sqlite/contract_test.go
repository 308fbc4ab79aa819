package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// fresh is a database in a file of its own, with a name that needs care in a URI.
func fresh(t testing.TB) storetest.Database {
	path := filepath.Join(t.TempDir(), "a b?c#d%20e&f.db")
	return func(ctx context.Context, node string) (*store.DB, error) {
		return sqlite.Open(ctx, path, sqlite.Options{Node: node, Now: storetest.Now, Wait: storetest.Patience})
	}
}

func TestContract(t *testing.T) {
	storetest.Run(t, fresh)
}
