package store

import (
	"fmt"
	"reflect"
	"strings"
)

const (
	hotspotColumns = `id, operator_id, name, type, lat, lng, address, verified_at, ssid, mac, linked_at,
		max_connections, bandwidth_limit_mbps, operating_hours, coverage_radius_m,
		created_at, updated_at, deleted_at, version`
	keyColumns    = `id, user_id, name, scopes, secret_hash, created_at, expires_at, revoked_at, last_used_at`
	changeColumns = `node, seq, kind, target, version, key_id, user_id, request_id, at`
)

// sqlText is every statement this package sends, but for what migrations hold.
// They stand in one value so that Statements cannot forget one.
var sqlText = struct {
	insertHotspot, updateHotspot                      string
	hotspot, hotspotsOf, countOf, hotspotsByID        string
	pageEnd, page, lastPage                           string
	insertKey, revokeKey, key, keys, keysOf, touchKey string
	countKeys, countKeysOf                            string
	claimOnce, forgetOnce, once, pruneOnce            string
	insertNode, heads, head, changes                  string
	latest, changesBefore                             string
	insertChanges                                     [changeChunks]string
	versions, insertVersion, ping                     string
}{
	// The target names the index, so that a taken id stays an error of ours.
	insertHotspot: `INSERT INTO hotspots (` + hotspotColumns + `, mac_live)
		VALUES (` + placeholders(1, 20) + `) ON CONFLICT (mac_live) DO NOTHING`,
	updateHotspot: `UPDATE hotspots SET name = $1, type = $2, lat = $3, lng = $4, address = $5, verified_at = $6,
		ssid = $7, mac = $8, linked_at = $9, max_connections = $10, bandwidth_limit_mbps = $11,
		operating_hours = $12, coverage_radius_m = $13, updated_at = $14, deleted_at = $15,
		version = $16, mac_live = $17
		WHERE id = $18 AND version = $19`,
	hotspot: `SELECT ` + hotspotColumns + ` FROM hotspots WHERE id = $1 AND deleted_at = 0`,
	hotspotsOf: `SELECT ` + hotspotColumns + ` FROM hotspots
		WHERE operator_id = $1 AND deleted_at = 0 ORDER BY id LIMIT $2 OFFSET $3`,
	countOf:      `SELECT count(*) FROM hotspots WHERE operator_id = $1 AND deleted_at = 0`,
	hotspotsByID: `SELECT ` + hotspotColumns + ` FROM hotspots WHERE id IN (` + placeholders(1, idsPerQuery) + `)`,

	pageEnd:  `SELECT id FROM hotspots WHERE id > $1 ORDER BY id LIMIT 1 OFFSET $2`,
	page:     `FROM hotspots WHERE id > $1 AND id <= $2 AND deleted_at = 0`,
	lastPage: `FROM hotspots WHERE id > $1 AND deleted_at = 0`,

	insertKey:   `INSERT INTO api_keys (` + keyColumns + `) VALUES (` + placeholders(1, 9) + `)`,
	revokeKey:   `UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at = 0`,
	key:         `SELECT ` + keyColumns + ` FROM api_keys WHERE id = $1`,
	keys:        `SELECT ` + keyColumns + ` FROM api_keys ORDER BY created_at DESC, id DESC LIMIT $1 OFFSET $2`,
	keysOf:      `SELECT ` + keyColumns + ` FROM api_keys WHERE user_id = $3 ORDER BY created_at DESC, id DESC LIMIT $1 OFFSET $2`,
	countKeys:   `SELECT count(*) FROM api_keys`,
	countKeysOf: `SELECT count(*) FROM api_keys WHERE user_id = $1`,
	touchKey:    `UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND last_used_at < $2`,

	// An expired record is as good as none, and is overwritten.
	claimOnce: `INSERT INTO idempotency (owner, request_key, fingerprint, result, expires_at)
		VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (owner, request_key) DO UPDATE SET fingerprint = excluded.fingerprint,
			result = excluded.result, expires_at = excluded.expires_at
		WHERE idempotency.expires_at <= $6`,
	forgetOnce: `DELETE FROM idempotency WHERE owner = $1 AND request_key = $2`,
	once:       `SELECT fingerprint, result, expires_at FROM idempotency WHERE owner = $1 AND request_key = $2`,
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
	insertChanges: changeInserts(),

	versions:      `SELECT version, name, checksum FROM schema_versions ORDER BY version`,
	insertVersion: `INSERT INTO schema_versions (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)`,
	ping:          `SELECT count(*) FROM schema_versions`,
}

// changeChunks is how many texts insert changes: the i-th inserts 2^i rows, so
// that a group of any size up to 127 needs at most seven statements, all of
// them prepared.
const changeChunks = 7

func changeInserts() (texts [changeChunks]string) {
	const columns = 9
	for i := range texts {
		rows := make([]string, 1<<i)
		for row := range rows {
			rows[row] = "(" + placeholders(1+row*columns, columns) + ")"
		}
		texts[i] = `INSERT INTO changes (` + changeColumns + `) VALUES ` + strings.Join(rows, ", ")
	}
	return texts
}

// placeholders spells "$3, $4, $5" for first 3 and n 3.
func placeholders(first, n int) string {
	marks := make([]string, n)
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(marks, ", ")
}

// bulkColumns are the hotspotColumns with their types.
func bulkColumns() []Column {
	types := map[string]ColumnType{
		"lat": Real, "lng": Real, "bandwidth_limit_mbps": Real, "coverage_radius_m": Real,
		"verified_at": Integer, "linked_at": Integer, "max_connections": Integer,
		"created_at": Integer, "updated_at": Integer, "deleted_at": Integer, "version": Integer,
	}
	var columns []Column
	for name := range strings.SplitSeq(hotspotColumns, ",") {
		name = strings.TrimSpace(name)
		columns = append(columns, Column{Name: name, Type: types[name]})
	}
	return columns
}

// Statements lists the text of every statement that this package sends beside
// its migrations, for checks of the SQL itself.
func Statements() []string {
	var texts []string
	var collect func(reflect.Value)
	collect = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			text := v.String()
			if strings.HasPrefix(text, "FROM") { // the columns come from the engine's Scan
				text = "SELECT " + hotspotColumns + " " + text
			}
			texts = append(texts, text)
		case reflect.Struct:
			for i := range v.NumField() {
				collect(v.Field(i))
			}
		default: // the one array
			for i := range v.Len() {
				collect(v.Index(i))
			}
		}
	}
	collect(reflect.ValueOf(sqlText))
	return texts
}
