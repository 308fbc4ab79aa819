package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/beacon-wifi/beacon/internal/store"
)

// Statements that only PostgreSQL itself understands. None is needed to serve.
const (
	schemaParts = `SELECT tbl, col, idx, flag, pk FROM (
		SELECT table_name::text AS tbl, column_name::text AS col, '' AS idx, is_nullable = 'NO' AS flag, false AS pk,
				0 AS part, ordinal_position::bigint AS place
			FROM information_schema.columns WHERE table_schema = current_schema()
		UNION ALL SELECT t.relname::text, a.attname::text, i.relname::text, x.indisunique AND x.indpred IS NULL, x.indisprimary, 1, k.place
			FROM pg_index AS x JOIN pg_class AS t ON t.oid = x.indrelid JOIN pg_class AS i ON i.oid = x.indexrelid
				JOIN pg_namespace AS n ON n.oid = t.relnamespace, unnest(x.indkey::int[]) WITH ORDINALITY AS k(attnum, place)
				JOIN pg_attribute AS a ON a.attnum = k.attnum
			WHERE a.attrelid = t.oid AND n.nspname = current_schema() AND x.indisvalid AND x.indisready) AS parts
		ORDER BY tbl, part, idx, place`
	// What belongs to an extension, such as pg_stat_statements, is an administrator's.
	findForeign = `SELECT what FROM (
		SELECT 'trigger ' || t.tgname || ' on ' || c.relname AS what, 'pg_trigger'::regclass AS class, t.oid AS id, c.relnamespace AS place
			FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal
		UNION ALL SELECT 'rule ' || r.rulename || ' on ' || c.relname, 'pg_rewrite'::regclass, r.oid, c.relnamespace
			FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class WHERE r.rulename <> '_RETURN'
		UNION ALL SELECT CASE relkind WHEN 'm' THEN 'materialized view ' ELSE 'view ' END || relname, 'pg_class'::regclass, oid, relnamespace
			FROM pg_class WHERE relkind IN ('m', 'v')) AS found
		WHERE place = current_schema()::regnamespace
			AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.classid = class AND d.objid = id AND d.deptype = 'e')
		ORDER BY what`
	showSetting = `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums') ORDER BY name`
	findAmcheck = `SELECT count(*) FROM pg_extension WHERE extname = 'amcheck'`
	findIndexes = `SELECT i.oid::bigint, i.relname FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid
		JOIN pg_namespace AS n ON n.oid = i.relnamespace JOIN pg_am AS m ON m.oid = i.relam
		WHERE n.nspname = current_schema() AND m.amname = 'btree' ORDER BY i.relname`
	findTables   = `SELECT oid::bigint, relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY relname`
	checkIndex   = `SELECT bt_index_check($1::oid::regclass, $2)`
	checkTable   = `SELECT coalesce(string_agg(format('block %s, row %s: %s', blkno, offnum, msg), '; '), '') FROM verify_heapam($1::oid::regclass)`
	readTable    = `SELECT count(t.*::text) FROM `
	undefinedFn  = "42883"
	notPermitted = "42501"

	notUnderstood = "42" // the class of these two
)

// Diagnostics returns the statements specific to PostgreSQL that check whether a
// database is sound. If an engine does not understand one, that is reported.
func Diagnostics() []string {
	return []string{askBackend, schemaParts, findForeign, showSetting, findAmcheck, findIndexes, findTables, checkIndex, checkTable, readTable}
}

// Examine opens the database at url to check whether it is sound. It only reads, others
// may use the database meanwhile, and it has no time limit.
func Examine(ctx context.Context, url string, pooler Pooler) (*store.Examination, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	bare := withoutLimits(config)
	pooled, err := pooler.pooled(ctx, bare)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", where(config), explainParameter(err))
	}
	if config = reading(config); pooled {
		config = bare
	} else {
		config.RuntimeParams["default_transaction_read_only"] = "on"
		config.RuntimeParams["statement_timeout"] = "0"
	}
	config.RuntimeParams["application_name"] = "beacon doctor"
	read := pool(config, 2)    // a snapshot, and the queries beside it
	read.SetConnMaxLifetime(0) // a snapshot may take hours
	if err := read.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", where(config), err), read.Close())
	}
	return store.Examine(store.Engine{Read: read, BeginRead: beginRead, Classify: classify, Foreign: foreign, Scan: scan}, store.Probes{
		SchemaParts: schemaParts,
		Durability:  func(ctx context.Context) (string, []string, error) { return settings(ctx, read) },
		Storage:     func(ctx context.Context, quick bool) (string, []string, error) { return storage(ctx, read, quick) },
	}), nil
}

// foreign is a store.Foreign. An engine without these tables has none of this.
func foreign(ctx context.Context, conn *sql.Conn) ([]string, error) {
	found, err := store.ReadRows(ctx, conn, func(what *string) []any { return []any{what} }, findForeign)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(e.Code, notUnderstood) {
		return nil, nil
	}
	return found, err
}

// settings checks what a commit waits for, and whether it survives a crash.
func settings(ctx context.Context, read *sql.DB) (looked string, wrong []string, err error) {
	type setting struct{ name, value string }
	all, err := store.ReadRows(ctx, read, func(s *setting) []any { return []any{&s.name, &s.value} }, showSetting)
	var shown []string
	for _, s := range all {
		shown = append(shown, s.name+" "+s.value)
		off := s.value == "off" || s.name == "synchronous_commit" && s.value == "local"
		if off && s.name != "data_checksums" {
			wrong = append(wrong, fmt.Sprintf("%s is %s, so a crash can lose or tear an acknowledged write", s.name, s.value))
		}
	}
	return strings.Join(shown, ", "), wrong, err
}

// storage has the extension amcheck verify the indexes and tables, if an administrator
// has installed it. Otherwise it reads every row of every table.
func storage(ctx context.Context, read *sql.DB, quick bool) (looked string, wrong []string, err error) {
	var there int
	if err := read.QueryRowContext(ctx, findAmcheck).Scan(&there); err != nil {
		return "", nil, err
	}
	tables, err := objects(ctx, read, findTables)
	if err != nil {
		return "", nil, err
	}
	if there == 0 {
		for _, t := range tables {
			var n int64
			if err := read.QueryRowContext(ctx, readTable+pgx.Identifier{t.name}.Sanitize()+" AS t").Scan(&n); err != nil {
				wrong = append(wrong, fmt.Sprintf("table %s: %v", t.name, err))
			}
		}
		return fmt.Sprintf("%d tables read; to check indexes too, install the extension amcheck (CREATE EXTENSION amcheck)", len(tables)), wrong, nil
	}
	indexes, err := objects(ctx, read, findIndexes)
	if err != nil {
		return "", nil, err
	}
	for _, index := range indexes {
		if _, err := read.ExecContext(ctx, checkIndex, index.oid, !quick); err != nil {
			if refused(err) {
				return "", nil, fmt.Errorf("amcheck is installed, but this user may not use it (GRANT EXECUTE ON FUNCTION bt_index_check(regclass, boolean)): %w", err)
			}
			wrong = append(wrong, fmt.Sprintf("index %s: %v", index.name, err))
		}
	}
	looked = fmt.Sprintf("amcheck of %d indexes", len(indexes))
	if quick {
		return looked, wrong, nil
	}
	checked := 0
	for _, t := range tables {
		var said string
		err := read.QueryRowContext(ctx, checkTable, t.oid).Scan(&said)
		switch {
		case refused(err): // exists since version 14, and only for users it is granted to
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("table %s: %v", t.name, err))
		case said != "":
			wrong = append(wrong, fmt.Sprintf("table %s: %.500s", t.name, said))
		default:
			checked++
		}
	}
	return fmt.Sprintf("%s and %d tables", looked, checked), wrong, nil
}

func refused(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == undefinedFn || e.Code == notPermitted)
}

type object struct {
	oid  int64
	name string
}

func objects(ctx context.Context, read *sql.DB, text string) ([]object, error) {
	return store.ReadRows(ctx, read, func(o *object) []any { return []any{&o.oid, &o.name} }, text)
}
