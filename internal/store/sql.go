package store

import (
	"fmt"
	"math/bits"
	"reflect"
	"strings"
)

const (
	hotspotColumns = `id, operator_id, created_at, ` + mutableColumns
	mutableColumns = `name, type, lat, lng, address, verified_at, ssid, mac, linked_at,
		max_connections, bandwidth_limit_mbps, operating_hours, coverage_radius_m,
		updated_at, deleted_at, version, device_hash, past_hours, past_service, unverified_reason, agent, visits, vouches, show_ssid, seal`
	keyColumns    = `id, user_id, name, scopes, secret_hash, created_at, expires_at, revoked_at, last_used_at, restrictions, seal`
	changeColumns = `node, seq, kind, target, version, key_id, user_id, request_id, at, note`
	eventColumns  = `seq, kind, target, user_id, at`
)

// sqlText holds every statement of this package, except migrations. They are in one
// value so that Statements cannot miss one.
var sqlText = struct {
	insertHotspot, updateHotspot                      string
	hotspot, hotspotsOf, everOf, countOf              string
	hotspotsChangedAfter                              string
	eachHotspot, eachStatus                           bulk
	newestRecords, olderRecords, recordRange          bulk
	dayRecords, hotspotRange, hotspotsByID            bulk
	recordsByID, deviceAddresses                      bulk
	hotspotPage, statusPage, recordPage               string
	insertKey, revokeKey, key, keys, keysOf, touchKey string
	countKeys, countKeysOf                            string
	claimOnce, keepOnce, forgetOnce, once, pruneOnce  string
	insertNode, heads, head, changes                  string
	latest, changesBefore                             string
	insertChanges                                     [changeChunks]string
	insertBeats, journalHeads, journalHead, journal   string
	journalRange, trimJournal, deleteBeats            string
	journalRows                                       string
	putRecords, putHeads                              [recordChunks]string
	recordsOf, newestDay                              string
	forgetRecords, forgetHeads                        string
	takeLease, lease, fence                           string
	extendSpan, forgetSpans, spans                    string
	lastEvent, eventRange, events, oldestEvents       string
	deleteEvents, eventPlaces, putPlace               string
	insertEvents, announce                            [eventChunks]string
	putLinkCode, lockLinkCode, linkCode               string
	spendLinkCode, deleteLinkCode                     string
	freeMAC, freedMAC, pruneFreedMACs, dropHotspot    string
	quota, putQuota, countWaiting, countDiscarded     string
	countInForce                                      string
	settings, addSetting, putSetting                  string
	putCheckIn, operatorsOf, evidence, quality        string
	pruneCheckIns, deviceAddress, pruneAddresses      string
	putAddresses                                      [addressChunks]string
	makeHashKey, hashKey                              string
	askErasure, withdrawErasure, erasure, dueErasures string
	stepErasure, knownUser, isErased, deletedHotspot  string
	eraseKey, notes, eraseNote                        string
	eraseOf                                           [4]string
	eraseOfUser                                       [3]string
	versions, insertVersion, ping                     string
}{
	// The conflict target names the index, so that a duplicate id is still an error.
	insertHotspot: `INSERT INTO hotspots (` + hotspotColumns + `, mac_live)
		VALUES (` + placeholders(1, 29) + `) ON CONFLICT (mac_live) DO NOTHING`,
	updateHotspot: `UPDATE hotspots SET (` + mutableColumns + `, mac_live) = (` + placeholders(1, 26) + `) WHERE id = $27 AND version = $28`,
	hotspot:       `SELECT ` + hotspotColumns + ` FROM hotspots WHERE id = $1 AND deleted_at = 0`,
	hotspotsOf: `SELECT ` + hotspotColumns + ` FROM hotspots
		WHERE operator_id = $1 AND deleted_at = 0 AND id > $4 ORDER BY id LIMIT $2 OFFSET $3`,
	everOf: `SELECT ` + hotspotColumns + ` FROM hotspots
		WHERE operator_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
	countOf:      `SELECT count(*) FROM hotspots WHERE operator_id = $1 AND deleted_at = 0`,
	hotspotsByID: bulk{hotspotColumns, `FROM hotspots WHERE id IN (` + placeholders(1, idsPerQuery) + `)`},

	hotspotsChangedAfter: `SELECT id FROM hotspots WHERE updated_at > $1 AND deleted_at = 0 ORDER BY id`,

	eachHotspot: bulk{
		columns: hotspotColumns,
		from:    `FROM hotspots WHERE id > $1 AND id <= $2 AND (deleted_at = 0 OR deleted_at >= $3)`,
	},
	eachStatus: bulk{
		columns: `hotspot, online`,
		from:    `FROM statuses WHERE hotspot > $1 AND hotspot <= $2`,
	},
	newestRecords: bulk{
		columns: `hotspot, data`,
		from:    `FROM records WHERE day = $3 AND hotspot > $1 AND hotspot <= $2`,
	},
	olderRecords: bulk{
		columns: `record_heads.hotspot, record_heads.day, data`,
		from: `FROM record_heads JOIN records ON records.day = record_heads.day AND records.hotspot = record_heads.hotspot
			WHERE record_heads.hotspot > $1 AND record_heads.hotspot <= $2 AND record_heads.day <> $3`,
	},
	recordRange: bulk{
		columns: `hotspot, data`,
		from:    `FROM records WHERE day = $1 AND hotspot >= $2 AND hotspot <= $3 ORDER BY hotspot LIMIT $4`,
	},
	dayRecords: bulk{
		columns: `hotspot, data`,
		from:    `FROM records WHERE day = $1 AND hotspot > $2 ORDER BY hotspot LIMIT $3`,
	},
	hotspotRange: bulk{
		columns: hotspotColumns,
		from:    `FROM hotspots WHERE id >= $1 AND id <= $2 ORDER BY id LIMIT $3`,
	},
	hotspotPage: `SELECT id FROM hotspots WHERE id > $1 ORDER BY id LIMIT 1 OFFSET $2`,
	statusPage:  `SELECT hotspot FROM statuses WHERE hotspot > $1 ORDER BY hotspot LIMIT 1 OFFSET $2`,
	recordPage:  `SELECT hotspot FROM record_heads WHERE hotspot > $1 ORDER BY hotspot LIMIT 1 OFFSET $2`,

	insertKey:   `INSERT INTO api_keys (` + keyColumns + `) VALUES (` + placeholders(1, 11) + `)`,
	revokeKey:   `UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at = 0`,
	key:         `SELECT ` + keyColumns + ` FROM api_keys WHERE id = $1`,
	keys:        `SELECT ` + keyColumns + ` FROM api_keys WHERE (created_at, id) < ($3, $4) ORDER BY created_at DESC, id DESC LIMIT $1 OFFSET $2`,
	keysOf:      `SELECT ` + keyColumns + ` FROM api_keys WHERE (created_at, id) < ($3, $4) AND user_id = $5 ORDER BY created_at DESC, id DESC LIMIT $1 OFFSET $2`,
	countKeys:   `SELECT count(*) FROM api_keys`,
	countKeysOf: `SELECT count(*) FROM api_keys WHERE user_id = $1`,
	touchKey:    `UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND last_used_at < $2`,

	// An expired record counts as none, and is overwritten. Without a limit ($7 is 0),
	// nothing is counted.
	claimOnce: `INSERT INTO idempotency (owner, request_key, fingerprint, result, expires_at)
		SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) = 0 OR count(*) < $7
			FROM (SELECT owner FROM idempotency WHERE owner = $1 LIMIT $7) AS held)
		ON CONFLICT (owner, request_key) DO UPDATE SET fingerprint = excluded.fingerprint,
			result = excluded.result, expires_at = excluded.expires_at
		WHERE idempotency.expires_at <= $6`,
	keepOnce:   `UPDATE idempotency SET result = $3 WHERE owner = $1 AND request_key = $2`,
	forgetOnce: `DELETE FROM idempotency WHERE owner = $1 AND request_key = $2`,
	once:       `SELECT owner, request_key, fingerprint, result, expires_at FROM idempotency WHERE owner = $1 AND request_key = $2`,
	pruneOnce: `DELETE FROM idempotency WHERE (owner, request_key) IN
		(SELECT owner, request_key FROM idempotency WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`,

	insertNode: `INSERT INTO nodes (node, started_at) VALUES ($1, $2) ON CONFLICT (node) DO NOTHING`,
	heads: `SELECT node, (SELECT coalesce(max(seq), 0) FROM changes WHERE changes.node = nodes.node)
		FROM nodes`,
	head: `SELECT coalesce(max(seq), 0) FROM changes WHERE node = $1`,
	changes: `SELECT ` + changeColumns + ` FROM changes
		WHERE node = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
	latest: `SELECT node, coalesce((SELECT at FROM changes WHERE changes.node = nodes.node ORDER BY seq DESC LIMIT 1), 0)
		FROM nodes`,
	changesBefore: `SELECT ` + changeColumns + ` FROM changes
		WHERE node = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`,
	insertChanges: [changeChunks]string(chunks(changeChunks, 11, `INSERT INTO changes (`+changeColumns+`, seal) VALUES `, ``)),

	insertBeats: `INSERT INTO journal (node, seq, batch) VALUES ($1, $2, $3)`,
	journalHeads: `SELECT node, (SELECT coalesce(max(seq), 0) FROM journal WHERE journal.node = nodes.node)
		FROM nodes`,
	journalHead: `SELECT coalesce((SELECT max(seq) FROM journal WHERE node = $1),
		(SELECT journal_trimmed FROM nodes WHERE node = $1), 0)`,
	journal:      `SELECT seq, batch FROM journal WHERE node = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
	journalRange: `SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) FROM journal WHERE node = $1`,
	journalRows: `SELECT coalesce(sum((SELECT coalesce(max(seq), 0) FROM journal WHERE journal.node = nodes.node)
		- (SELECT coalesce(min(seq) - 1, 0) FROM journal WHERE journal.node = nodes.node)), 0) FROM nodes`,
	trimJournal: `UPDATE nodes SET journal_trimmed = $2 WHERE node = $1 AND journal_trimmed < $2`,
	deleteBeats: `DELETE FROM journal WHERE node = $1 AND seq <= $2`,

	putRecords: [recordChunks]string(chunks(recordChunks, 3, `INSERT INTO records (day, hotspot, data) VALUES `,
		` ON CONFLICT (day, hotspot) DO UPDATE SET data = excluded.data`)),
	putHeads: [recordChunks]string(chunks(recordChunks, 2, `INSERT INTO record_heads (hotspot, day) VALUES `,
		` ON CONFLICT (hotspot) DO UPDATE SET day = excluded.day WHERE record_heads.day < excluded.day`)),
	recordsByID: bulk{
		columns: `hotspot, data`,
		from:    `FROM records WHERE day = $1 AND hotspot IN (` + placeholders(2, idsPerQuery) + `)`,
	},
	recordsOf: `SELECT day, data FROM records WHERE hotspot = $1 AND day IN (` + placeholders(2, daysPerQuery) + `)
		ORDER BY day`,
	newestDay: `SELECT coalesce(max(day), 0) FROM records`,
	forgetRecords: `DELETE FROM records WHERE day > $1
		AND EXISTS (SELECT 1 FROM records AS of_the_day WHERE of_the_day.day = $1 AND of_the_day.hotspot = records.hotspot)`,
	forgetHeads: `UPDATE record_heads SET day = $1 WHERE day > $1
		AND EXISTS (SELECT 1 FROM records WHERE records.day = $1 AND records.hotspot = record_heads.hotspot)`,

	// A holder that renews keeps its token.
	takeLease: `INSERT INTO leases (name, holder, token, expires_at) VALUES ($1, $2, 1, $3)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
			token = leases.token + CASE WHEN leases.holder = excluded.holder THEN 0 ELSE 1 END
		WHERE leases.holder = excluded.holder OR leases.expires_at <= $4`,
	lease: `SELECT name, holder, token, expires_at FROM leases WHERE name = $1`,
	fence: `UPDATE leases SET token = token WHERE name = $1 AND holder = $2 AND token = $3`,

	extendSpan: `INSERT INTO service_spans (node, from_minute, to_minute) VALUES ($1, $2, $3)
		ON CONFLICT (node, from_minute) DO UPDATE SET to_minute = excluded.to_minute
		WHERE service_spans.to_minute < excluded.to_minute`,
	forgetSpans: `DELETE FROM service_spans WHERE from_minute > $1`,
	spans:       `SELECT from_minute, to_minute FROM service_spans WHERE to_minute >= $1 ORDER BY from_minute, to_minute`,

	lastEvent:  `SELECT coalesce(max(seq), 0) FROM events`,
	eventRange: `SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) FROM events`,
	events: `SELECT seq, kind, target, CASE WHEN user_id = '' THEN coalesce(operator_id, '') ELSE user_id END, at
		FROM events LEFT JOIN hotspots ON hotspots.id = target WHERE seq > $1 ORDER BY seq LIMIT $2`,
	oldestEvents: `SELECT seq, at FROM events ORDER BY seq LIMIT $1`,
	deleteEvents: `DELETE FROM events WHERE seq <= $1`,
	eventPlaces:  `SELECT node, seq FROM event_places`,
	putPlace: `INSERT INTO event_places (node, seq) VALUES ($1, $2)
		ON CONFLICT (node) DO UPDATE SET seq = excluded.seq WHERE event_places.seq < excluded.seq`,
	insertEvents: [eventChunks]string(chunks(eventChunks, 5, `INSERT INTO events (`+eventColumns+`) VALUES `, ``)),
	announce: [eventChunks]string(chunks(eventChunks, 3, `INSERT INTO statuses (hotspot, online, at) VALUES `,
		` ON CONFLICT (hotspot) DO UPDATE SET online = excluded.online, at = excluded.at
			WHERE statuses.online <> excluded.online RETURNING hotspot`)),

	putLinkCode: `INSERT INTO link_codes (hotspot, hash, expires_at, tries) VALUES ($1, $2, $3, 0)
		ON CONFLICT (hotspot) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at, tries = 0`,
	lockLinkCode:   `UPDATE link_codes SET tries = tries WHERE hash = $1`,
	linkCode:       `SELECT hotspot, expires_at, tries FROM link_codes WHERE hash = $1`,
	spendLinkCode:  `UPDATE link_codes SET tries = tries + 1 WHERE hash = $1`,
	deleteLinkCode: `DELETE FROM link_codes WHERE hash = $1`,

	freeMAC: `INSERT INTO freed_macs (mac, user_id, until) VALUES ($1, $2, $3)
		ON CONFLICT (mac) DO UPDATE SET user_id = excluded.user_id, until = excluded.until`,
	freedMAC: `SELECT user_id FROM freed_macs WHERE mac = $1 AND user_id <> $2 AND until > $3`,
	pruneFreedMACs: `DELETE FROM freed_macs WHERE mac IN
		(SELECT mac FROM freed_macs WHERE until <= $1 ORDER BY until LIMIT $2)`,
	dropHotspot: `DELETE FROM hotspots WHERE id = $1`,

	quota: `SELECT hotspots, keys, streams, statements FROM quotas WHERE user_id = $1`,
	putQuota: `INSERT INTO quotas (user_id, hotspots, keys, streams, statements) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (user_id) DO UPDATE SET hotspots = excluded.hotspots, keys = excluded.keys,
			streams = excluded.streams, statements = excluded.statements`,
	countWaiting: `SELECT count(*), coalesce((SELECT hotspots FROM quotas WHERE user_id = $1), -1) FROM hotspots
		WHERE operator_id = $1 AND deleted_at = 0 AND verified_at = 0`,
	countDiscarded: `SELECT count(*), coalesce((SELECT $3 * hotspots FROM quotas WHERE user_id = $1), -1) FROM hotspots
		WHERE operator_id = $1 AND deleted_at > $2 AND verified_at = 0`,
	countInForce: `SELECT count(*), coalesce((SELECT keys FROM quotas WHERE user_id = $1), -1) FROM api_keys
		WHERE user_id = $1 AND revoked_at = 0 AND (expires_at = 0 OR expires_at > $2)`,

	askErasure: `INSERT INTO erasures (user_id, asked, due, begun, cleared, erased) VALUES ($1, $2, $3, 0, 0, 0)
		ON CONFLICT (user_id) DO NOTHING`,
	withdrawErasure: `DELETE FROM erasures WHERE user_id = $1 AND begun = 0`,
	erasure:         `SELECT user_id, asked, due, begun, cleared, erased FROM erasures WHERE user_id = $1`,
	dueErasures: `SELECT user_id, asked, due, begun, cleared, erased FROM erasures
		WHERE erased = 0 AND user_id > $1 AND due <= $2 ORDER BY user_id LIMIT $3`,
	stepErasure: `UPDATE erasures SET begun = $2, cleared = $3, erased = $4 WHERE user_id = $1 AND asked = $5`,
	knownUser: `SELECT 1 WHERE EXISTS (SELECT 1 FROM api_keys WHERE user_id = $1)
		OR EXISTS (SELECT 1 FROM hotspots WHERE operator_id = $1)`,
	isErased:       `SELECT 1 FROM erasures WHERE user_id = $1 AND begun <> 0`,
	deletedHotspot: `SELECT ` + hotspotColumns + ` FROM hotspots WHERE id = $1 AND deleted_at <> 0`,
	eraseKey:       `UPDATE api_keys SET name = '', restrictions = '', last_used_at = 0, seal = $2 WHERE id = $1 AND revoked_at <> 0`,
	notes: `SELECT ` + changeColumns + ` FROM changes
		WHERE node = $1 AND seq > $2 AND note <> '' ORDER BY seq LIMIT $3`,
	eraseNote: `UPDATE changes SET note = '', seal = $3 WHERE node = $1 AND seq = $2`,
	eraseOf: [...]string{
		`DELETE FROM link_codes WHERE hotspot = $1`, `DELETE FROM flags WHERE hotspot = $1`,
		`DELETE FROM checkins WHERE hotspot = $1`, `DELETE FROM device_addresses WHERE hotspot = $1`,
	},
	eraseOfUser: [...]string{
		`DELETE FROM quotas WHERE user_id = $1`, `DELETE FROM freed_macs WHERE user_id = $1`, `DELETE FROM idempotency WHERE owner = $1`,
	},

	settings:   `SELECT name, value FROM settings ORDER BY name`,
	addSetting: `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
	putSetting: `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
	// A check-in that replaces an earlier one is not counted. The phone was there on this
	// day even if it says something else later.
	putCheckIn: `INSERT INTO checkins (hotspot, day, install, operator, user_id, at, works, measured, visited, evidence)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
		WHERE (SELECT count(*) FROM checkins WHERE hotspot = $1 AND day = $2 AND visited = $9 AND evidence = $10 AND install <> $3) < $11
			AND (SELECT count(*) FROM checkins WHERE install = $3 AND day = $2 AND hotspot <> $1) < $12
		ON CONFLICT (hotspot, day, install) DO UPDATE SET user_id = excluded.user_id, at = excluded.at, works = excluded.works,
			measured = excluded.measured, visited = checkins.visited + excluded.visited - checkins.visited * excluded.visited, evidence = excluded.evidence`,
	operatorsOf: `SELECT count(DISTINCT operator) FROM checkins WHERE install = $1 AND day >= $2 AND visited = 1 AND operator <> $3`,
	evidence: `SELECT count(DISTINCT install), count(DISTINCT day) FROM checkins
		WHERE hotspot = $1 AND day >= $2 AND evidence = 1 AND works = 1`,
	quality: `SELECT count(*), coalesce(sum(works), 0), count(DISTINCT install) FROM checkins
		WHERE hotspot = $1 AND day BETWEEN $2 AND $3 AND evidence = 1`,
	pruneCheckIns: `DELETE FROM checkins WHERE (hotspot, day, install) IN
		(SELECT hotspot, day, install FROM checkins WHERE day < $1 ORDER BY day LIMIT $2)`,
	putAddresses: [addressChunks]string(chunks(addressChunks, 3, `INSERT INTO device_addresses (hotspot, address, at) VALUES `,
		` ON CONFLICT (hotspot) DO UPDATE SET address = excluded.address, at = excluded.at`)),
	deviceAddress: `SELECT hotspot, address, at FROM device_addresses WHERE hotspot = $1`,
	deviceAddresses: bulk{
		columns: `hotspot, address, at`,
		from:    `FROM device_addresses WHERE hotspot IN (` + placeholders(1, idsPerQuery) + `)`,
	},
	pruneAddresses: `DELETE FROM device_addresses WHERE hotspot IN
		(SELECT hotspot FROM device_addresses WHERE at < $1 ORDER BY hotspot LIMIT $2)`,
	makeHashKey: `INSERT INTO hash_keys (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
	hashKey:     `SELECT value FROM hash_keys WHERE name = $1`,

	versions:      `SELECT version, name, checksum FROM schema_versions ORDER BY version`,
	insertVersion: `INSERT INTO schema_versions (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)`,
	ping:          `SELECT count(*) FROM schema_versions`,
}

// The number of statements that insert rows of a kind: the i-th inserts 2^i rows, so
// that any number of rows needs few statements, all of them prepared. A group has at
// most 127 changes.
const (
	changeChunks = 7
	recordChunks = 9
	eventChunks  = 8
	rewardChunks = 9

	addressChunks = 9
)

// chunks returns a statement for each of 1, 2, 4, … rows.
func chunks(n, columns int, before, after string) []string {
	texts := make([]string, n)
	for i := range texts {
		rows := make([]string, 1<<i)
		for row := range rows {
			rows[row] = "(" + placeholders(1+row*columns, columns) + ")"
		}
		texts[i] = before + strings.Join(rows, ", ") + after
	}
	return texts
}

// inChunks writes n rows with such statements. It calls write with a statement and the
// rows from (included) to to (excluded) that it writes.
func inChunks(texts []string, n int, write func(text string, from, to int) error) error {
	for from := 0; from < n; {
		chunk := min(bits.Len(uint(n-from)), len(texts)) - 1
		to := from + 1<<chunk
		if err := write(texts[chunk], from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// placeholders returns "$3, $4, $5" for first 3 and n 3.
func placeholders(first, n int) string {
	marks := make([]string, n)
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(marks, ", ")
}

// bulk is a query for many rows. Its columns are separate, because the engine's Scan
// decides how they are read.
type bulk struct{ columns, from string }

// notText holds the types of all non-text columns that are read in bulk.
var notText = map[string]ColumnType{
	"lat": Real, "lng": Real, "bandwidth_limit_mbps": Real, "coverage_radius_m": Real,
	"verified_at": Integer, "linked_at": Integer, "max_connections": Integer,
	"created_at": Integer, "updated_at": Integer, "deleted_at": Integer, "version": Integer, "seal": Integer,
	"record_heads.day": Integer, "data": Blob, "data_before": Blob, "online": Integer,

	"day": Integer, "month": Integer, "policy": Integer, "served": Integer, "expected": Integer, "closed": Integer,
	"excused": Integer, "outside": Integer, "bytes": Integer, "tier": Integer, "availability": Integer,
	"performance": Integer, "utilization": Integer, "through": Integer, "hotspots": Integer, "row_count": Integer,
	"first_day": Integer, "settled": Integer, "settled_at": Integer, "closed_at": Integer,
	"chain": Blob, "previous": Blob, "hash": Blob, "corrects": Blob, "revision": Integer, "last_day": Integer,
	"held": Integer, "number": Integer, "until": Integer, "amount": Integer, "listed": Integer,

	"seq": Integer, "at": Integer, "started_at": Integer, "journal_trimmed": Integer, "token": Integer, "expires_at": Integer,
	"revoked_at": Integer, "last_used_at": Integer, "from_minute": Integer, "to_minute": Integer, "secret_hash": Blob, "batch": Blob, "certain": Integer,
}

// typed returns the columns with their types.
func (b bulk) typed() []Column {
	var columns []Column
	for name := range strings.SplitSeq(b.columns, ",") {
		name = strings.TrimSpace(name)
		columns = append(columns, Column{Name: name, Type: notText[name]})
	}
	return columns
}

// text returns the query as plain SQL.
func (b bulk) text() string { return "SELECT " + b.columns + " " + b.from }

// Statements returns every statement of this package, except migrations, for checks of
// the SQL itself.
func Statements() (texts []string) {
	for _, all := range []any{sqlText, rewardText, examineText, clockText, reviewText, overviewText} {
		for _, field := range reflect.ValueOf(all).Fields() {
			switch field.Kind() {
			case reflect.String:
				texts = append(texts, field.String())
			case reflect.Struct:
				texts = append(texts, bulk{field.Field(0).String(), field.Field(1).String()}.text())
			default: // an array of texts
				for j := range field.Len() {
					texts = append(texts, field.Index(j).String())
				}
			}
		}
	}
	for _, stray := range strays {
		texts = append(texts, stray.rows.text())
	}
	return texts
}
