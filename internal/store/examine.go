package store

import (
	"context"
	"fmt"
)

// Examination reads a database in which anything may be wrong. Unlike a DB it runs no
// migration, trusts nothing and cannot write. Packages store/sqlite and store/postgres
// open one.
type Examination struct {
	db *DB // for its Engine and its read methods
	Probes
}

// Probes are the checks that only an engine can do.
type Probes struct {
	// SchemaParts is a query for the columns of tables and indexes (see readSchema).
	SchemaParts string

	// Durability checks the settings that acknowledged writes depend on to survive. It
	// returns what it checked, and what is wrong.
	Durability func(ctx context.Context) (looked string, wrong []string, err error)

	// Storage has the engine check its files: completely, or quickly.
	Storage func(ctx context.Context, quick bool) (looked string, wrong []string, err error)
}

// Examine takes ownership of an engine, of which it uses only Read, BeginRead, Scan and
// Classify.
func Examine(engine Engine, probes Probes) *Examination {
	return &Examination{db: &DB{engine: &engine}, Probes: probes}
}

// Close ends the examination.
func (x *Examination) Close() error { return x.db.engine.Read.Close() }

// SchemaState compares the schema of a database with what this program expects.
type SchemaState struct {
	Version, Known int64  // of the database, and of this program
	Lines          int    // number of lines expected
	Missing        Schema // those that are missing
}

// Schema compares the schema of the database with what its migrations create. It
// returns an error if the database does not belong to beacon, or this program does not
// know its version.
func (x *Examination) Schema(ctx context.Context) (s SchemaState, err error) {
	conn, err := x.db.engine.Read.Conn(ctx)
	if err != nil {
		return s, err
	}
	defer conn.Close()
	applied, steps, err := checkedSchema(ctx, conn)
	if err != nil {
		return s, err
	}
	s.Version, s.Known = int64(len(applied)), int64(len(steps))
	want, err := SchemaOf(steps[:len(applied)])
	if err != nil {
		return s, err
	}
	is, err := readSchema(ctx, conn, x.SchemaParts)
	if err != nil {
		return s, err
	}
	s.Lines, s.Missing = len(want), is.Missing(want)
	return s, nil
}

// Snapshot is a database as of one moment, for use by one goroutine.
type Snapshot struct{ *books }

// Snapshot calls read with a snapshot of the database. An error of read is returned
// unchanged; an error of the database includes its message.
func (x *Examination) Snapshot(ctx context.Context, read func(Snapshot) error) error {
	return x.db.snapshot(ctx, func(b *books) error {
		err := read(Snapshot{b})
		if b.failed != nil && err != nil {
			return fmt.Errorf("cannot be read: %w", b.failed)
		}
		return err
	})
}

// each calls fn with every row of a query, and the error found in it, if any.
func each[T any](ctx context.Context, b *books, rows bulk, row rowReader[T], fn func(T, error) error, args ...any) error {
	var one T
	targets, finish := row(&one)
	return b.scan(ctx, rows, targets, func() (stopped, failed error) {
		damage := finish()
		return fn(one, damage), nil
	}, args...)
}

// sound is for rows in which no error can be found.
func sound[T any](fn func(T) error) func(T, error) error {
	return func(row T, _ error) error { return fn(row) }
}

// examineText holds the statements of an Examination, as sqlText does for a DB. Queries
// of a whole table have no ORDER BY unless they need one, so that they read the rows
// and not an index.
var examineText = struct {
	hotspots, macs, keys, changes, nodes          bulk
	events, places, leases, spans, journal        bulk
	records, ledger, ledgerAgain, rewardMonths    bulk
	nextDay, nextHotspotMonth, nextUserMonth      bulk
	ledgerPage, hotspotMonthPage, userMonthPage   bulk
	statementPage, accountPage, totalPage         bulk
	standings, heldDay, heldSum, holds, strayHeld bulk
	revision                                      bulk
}{
	hotspots: bulk{hotspotColumns, `FROM hotspots`},
	macs:     bulk{`id, mac, mac_live, deleted_at`, `FROM hotspots WHERE coalesce(mac_live, '') <> ''`},
	keys:     bulk{keyColumns, `FROM api_keys`},
	changes:  bulk{changeColumns + `, seal`, `FROM changes ORDER BY node, seq`},
	nodes:    bulk{`node, started_at, journal_trimmed`, `FROM nodes ORDER BY node`},
	events:   bulk{eventColumns, `FROM events ORDER BY seq`},
	places:   bulk{`node, seq`, `FROM event_places ORDER BY node`},
	leases:   bulk{`name, holder, token, expires_at`, `FROM leases ORDER BY name`},
	spans:    bulk{`node, from_minute, to_minute`, `FROM service_spans ORDER BY node, from_minute`},
	journal:  bulk{`node, seq, batch`, `FROM journal ORDER BY node, seq`},
	records: bulk{`day, hotspot, data, data_before`, `FROM (SELECT r.day, r.hotspot, r.data, b.data AS data_before FROM records r
		LEFT JOIN records b ON r.day >= $1 AND b.day = r.day - 1 AND b.hotspot = r.hotspot) AS records_before`},
	ledger: bulk{ledgerColumns, `FROM ledger`},

	standings:   bulk{standingColumns, `FROM standings`},
	ledgerAgain: bulk{ledgerColumns, `FROM ledger_again`},

	heldDay: bulk{`user_id`, `FROM held_days ORDER BY user_id LIMIT 1`},
	heldSum: bulk{`user_id`, `FROM user_months WHERE held <> 0 LIMIT 1`},
	holds:   bulk{holdColumns, `FROM holds ORDER BY user_id, number`},
	strayHeld: bulk{`hold`, `FROM held_days WHERE NOT EXISTS (SELECT 1 FROM holds WHERE holds.id = held_days.hold AND holds.user_id = held_days.user_id
			AND (holds.hotspot = '' OR holds.hotspot = held_days.hotspot))
		GROUP BY hold ORDER BY hold`},

	rewardMonths: bulk{`month`, `FROM reward_months ORDER BY month`},
	revision:     bulk{`revision`, `FROM reward_revision WHERE id = 1`},

	nextDay:          bulk{`day`, `FROM ledger WHERE day > $1 ORDER BY day LIMIT 1`},
	nextHotspotMonth: bulk{`month`, `FROM hotspot_months WHERE month > $1 ORDER BY month LIMIT 1`},
	nextUserMonth:    bulk{`month`, `FROM user_months WHERE month > $1 ORDER BY month LIMIT 1`},

	ledgerPage: bulk{ledgerColumns, `FROM ledger
		WHERE day = $1 AND user_id >= $2 AND (user_id, hotspot) > ($2, $3) ORDER BY user_id, hotspot LIMIT $4`},
	hotspotMonthPage: bulk{hotspotMonthColumns, `FROM hotspot_months
		WHERE month = $1 AND user_id >= $2 AND (user_id, hotspot) > ($2, $3) ORDER BY user_id, hotspot LIMIT $4`},
	userMonthPage: bulk{userMonthColumns, `FROM user_months
		WHERE month = $1 AND user_id > $2 ORDER BY user_id LIMIT $3`},
	statementPage: bulk{statementColumns, `FROM statements
		WHERE user_id >= $1 AND (user_id, month) > ($1, $2) ORDER BY user_id, month LIMIT $3`},
	accountPage: bulk{accountColumns, `FROM accounts WHERE user_id > $1 ORDER BY user_id LIMIT $2`},
	totalPage: bulk{totalColumns, `FROM hotspot_totals
		WHERE user_id >= $1 AND (user_id, hotspot) > ($1, $2) ORDER BY user_id, hotspot LIMIT $3`},
}

// strays are the queries for dangling references, and what is wrong with what they find.
var strays = []struct {
	what string
	rows bulk
}{
	{"is live but its MAC address is not in the index", bulk{`id`, `FROM hotspots WHERE deleted_at = 0 AND coalesce(mac_live, '') = ''`}},
	{"has records but is not a hotspot", bulk{`hotspot`, `FROM record_heads WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = record_heads.hotspot)`}},
	{"has a record that no reader would find", bulk{`hotspot`, `FROM records WHERE NOT EXISTS (SELECT 1 FROM record_heads
		WHERE record_heads.hotspot = records.hotspot AND record_heads.day >= records.day)`}},
	{"has no record of the day given as its newest", bulk{`hotspot`, `FROM record_heads WHERE NOT EXISTS (SELECT 1 FROM records
		WHERE records.day = record_heads.day AND records.hotspot = record_heads.hotspot)`}},
	{"has a status but is not a hotspot", bulk{`hotspot`, `FROM statuses WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = statuses.hotspot)`}},
	{"has a link code but is not a hotspot", bulk{`hotspot`, `FROM link_codes WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = link_codes.hotspot)`}},
	{"has a monthly sum but is not a hotspot of that user", bulk{`hotspot`, `FROM hotspot_months WHERE NOT EXISTS (SELECT 1 FROM hotspots
		WHERE hotspots.id = hotspot_months.hotspot AND hotspots.operator_id = hotspot_months.user_id)`}},
	{"has a total but is not a hotspot", bulk{`hotspot`, `FROM hotspot_totals WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = hotspot_totals.hotspot)`}},
	{"has a monthly sum but no account", bulk{`user_id`, `FROM user_months WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.user_id = user_months.user_id)`}},
	{"has a statement but no account", bulk{`user_id`, `FROM statements WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.user_id = statements.user_id)`}},
	{"has changes but is not a node", bulk{`node`, `FROM changes WHERE seq = 1 AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.node = changes.node)`}},
	{"has a journal but is not a node", bulk{`node`, `FROM journal WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.node = journal.node)`}},
	{"has a position in the events but is not a node", bulk{`node`, `FROM event_places WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.node = event_places.node)`}},
}
