package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"github.com/beacon-wifi/beacon/internal/store"
)

// faultsListed is how many faults the engine lists before it stops.
const faultsListed = 20

// Examine opens the file at path to check whether it is sound. It only reads, and
// others may use the file meanwhile.
func Examine(path string) (*store.Examination, error) {
	path, err := existing(path)
	if err != nil {
		return nil, err
	}
	// The settings of a server, except those that would write to the file.
	read, err := sql.Open("sqlite", dsn(path, "ro", Options{}, syncFull))
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	read.SetMaxOpenConns(2) // a snapshot, and the queries beside it
	return store.Examine(store.Engine{Read: read, BeginRead: "BEGIN", Classify: classify, Foreign: foreign, Scan: newScan()}, store.Probes{
		SchemaParts: schemaParts,
		Durability:  func(ctx context.Context) (string, []string, error) { return durability(ctx, read) },
		Storage: func(ctx context.Context, quick bool) (string, []string, error) {
			return storage(ctx, path, read, quick)
		},
	}), nil
}

// schemaParts selects the columns of tables, of their primary keys, and of their other
// indexes, in this order. A partial index does not count as unique.
const schemaParts = `SELECT tbl, col, idx, flag, pk FROM (
	SELECT t.name AS tbl, c.name AS col, '' AS idx, c."notnull" AS flag, 0 AS pk, 0 AS part, c.cid AS place
		FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table'
	UNION ALL SELECT t.name, c.name, 'key', 1, 1, 1, c.pk
		FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table' AND c.pk > 0
	UNION ALL SELECT t.name, c.name, i.name, i."unique" AND NOT i.partial, 0, 2, c.seqno
		FROM sqlite_schema AS t JOIN pragma_index_list(t.name) AS i JOIN pragma_index_info(i.name) AS c
		WHERE t.type = 'table' AND i.origin = 'c')
	ORDER BY tbl, part, idx, place`

// durability checks what a commit waits for. The journal mode is a property of the
// file; synchronous is set by each process, so it is read on a connection of ours.
func durability(ctx context.Context, read *sql.DB) (looked string, wrong []string, err error) {
	var journal string
	var sync int
	if err := read.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal); err != nil {
		return "", nil, err
	}
	if err := read.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&sync); err != nil {
		return "", nil, err
	}
	const full = 2
	if sync < full {
		wrong = append(wrong, fmt.Sprintf("synchronous is %d for connections of this program: an acknowledged write can be lost", sync))
	}
	if journal == "wal" {
		return "journal_mode wal, synchronous full", wrong, nil
	}
	return fmt.Sprintf("journal_mode %s, which becomes wal when a server opens the file; synchronous full", journal), wrong, nil
}

// storage reads all pages and, unless quick is set, compares tables with their indexes.
func storage(ctx context.Context, path string, read *sql.DB, quick bool) (looked string, wrong []string, err error) {
	check := "integrity_check"
	if quick {
		check = "quick_check"
	}
	said, err := store.ReadRows(ctx, read, func(line *string) []any { return []any{line} }, fmt.Sprintf("PRAGMA %s(%d)", check, faultsListed))
	if err != nil {
		return "", nil, err
	}
	for _, line := range said {
		if line != "ok" {
			wrong = append(wrong, strings.ReplaceAll(line, "\n", "; "))
		}
	}
	// A header that asks for a later version of SQLite to write the file does not keep
	// anyone from reading it, and no check of SQLite's finds it.
	const place, wal = 18, 2
	var header []byte
	if err := read.QueryRowContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = 1").Scan(&header); err != nil {
		return "", nil, err
	}
	if len(header) > place && header[place] > wal {
		wrong = append(wrong, fmt.Sprintf("byte %d of the file is %d, and not %d: no server can write to it", place, header[place], wal))
	}
	size := int64(0)
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	return fmt.Sprintf("%s of %.1f MB", check, float64(size)/1e6), wrong, nil
}
