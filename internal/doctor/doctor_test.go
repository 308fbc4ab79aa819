//go:build linux

package doctor_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/doctor"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// damage is something that is done to a sound database.
type damage struct {
	name string
	sql  string
	args []any
	want []string // the checks that must find it, and no others
	told string   // what one of the faults must say
}

// One row of each table is enough: what is wrong with it must be found.
const (
	someHotspot = `(SELECT max(id) FROM hotspots WHERE deleted_at = 0 AND linked_at > 0)`
	lastDay     = `(SELECT max(day) FROM ledger)`
	lastUser    = `(SELECT max(user_id) FROM ledger WHERE day = ` + lastDay + `)`
	lastHotspot = `(SELECT max(hotspot) FROM ledger WHERE day = ` + lastDay + ` AND user_id = ` + lastUser + `)`
	oneRow      = ` WHERE day = ` + lastDay + ` AND user_id = ` + lastUser + ` AND hotspot = ` + lastHotspot
	openMonth   = ` WHERE month = (SELECT max(month) FROM user_months) AND user_id = ` + lastUser
	oldStmt     = ` WHERE month = (SELECT min(month) FROM statements) AND user_id = (SELECT min(user_id) FROM statements
		WHERE month = (SELECT min(month) FROM statements))`
	oldRow = ` WHERE day = (SELECT min(day) FROM ledger) AND hotspot = (SELECT min(hotspot) FROM ledger WHERE day = (SELECT min(day) FROM ledger))`
)

// The people of holdSome.
const (
	staff1 = "usr_00000000000000000000000001"
	staff2 = "usr_00000000000000000000000002"
	staff3 = "usr_00000000000000000000000003"
)

// replacedIn replaces a text in a hold, without a checksum.
func replacedIn(hold, old, new string) string {
	return fmt.Sprintf(`UPDATE holds SET content = replace(content, '%s', '%s'), seal = 0 WHERE id = '%s'`, old, new, hold)
}

// somePerson is a person who has no way to sign in.
const somePerson = `INSERT INTO people (id, name, mail, mail_folded, mail_proven, folded, language, created_at, suspended_at, recovered_at, erased_at, seal)
	VALUES ('per_00000000000000000000000001', 'Ada', '', '', 0, '', '', 1, 0, 0, 0, 0);`

func someMember(person, role string) string {
	return `INSERT INTO memberships (person_id, user_id, role, posts, hotspots, since, seal) VALUES ('` + person + `', '` + staff1 + `', '` + role + `', '', '', 1, 0);`
}

// someInvite is an invitation to an account.
const someInvite = `INSERT INTO invitations (id, token_hash, user_id, name, role, posts, hotspots, created_at, created_by, key_id, expires_at, used_at, used_by, revoked_at, seal)
	VALUES ('inv_00000000000000000000000001', '` + noHash + `', '` + staff1 + `', '', 'viewer', '', '', 1, '', '', 2, 0, '', 0, 0);`

const noHash = "0000000000000000000000000000000000000000000000000000000000000000"

// dayBeforeOutage is a moment on the day before the service was down.
const dayBeforeOutage = `CAST((SELECT min(day) - 1 FROM ledger WHERE excused > 0) * CAST(86400000000 AS bigint) AS text)`

// visit is the JSON of a visit as text in SQL, on the day before the service was down.
func visit(lat, more string) string {
	return `'{"at":' || ` + dayBeforeOutage + ` || ',"lat":' || CAST(` + lat + ` AS text) || ',"lng":' || CAST(lng AS text) || ',"accuracy_m":5,"proves":true` + more + `}'`
}

func bad(n int) []any { return []any{make([]byte, n)} }

var damages = []damage{
	{"an index is gone", `DROP INDEX hotspots_mac_live`, nil, []string{"schema"}, "unique index hotspots_mac_live on hotspots (mac_live)"},
	{"a column is gone", `ALTER TABLE events RENAME COLUMN user_id TO usr`, nil, []string{"schema", "events"}, "column events.user_id"},
	{"somebody made a view", `CREATE VIEW totals AS SELECT 1 AS one`, nil, []string{"schema"}, "view totals is not made by beacon"},

	{"a MAC address is another's", `UPDATE hotspots SET mac = (SELECT mac FROM hotspots WHERE deleted_at = 0 AND id <> ` + someHotspot + ` ORDER BY id LIMIT 1)
		WHERE id = ` + someHotspot, nil, []string{"hotspots"}, "its MAC address belongs to another hotspot too"},
	{"a place is none", `UPDATE hotspots SET lat = 95 WHERE id = ` + someHotspot, nil, []string{"hotspots"}, "has a location that is not on Earth"},
	{"hours cannot be read", `UPDATE hotspots SET operating_hours = '{' WHERE id = ` + someHotspot, nil, []string{"hotspots"}, "cannot be read: operating_hours"},
	{"a device has no key", `UPDATE hotspots SET device_hash = '' WHERE id = ` + someHotspot, nil, []string{"hotspots"}, "a device without a key"},
	{"a deleted hotspot keeps its MAC address", `UPDATE hotspots SET mac_live = mac WHERE deleted_at <> 0`, nil, []string{"hotspots"}, "still holds its MAC address"},
	{"a hotspot lost its MAC address", `UPDATE hotspots SET mac_live = NULL WHERE id = ` + someHotspot, nil, []string{"references"}, "its MAC address is not in the index"},
	{"a version was skipped", `UPDATE hotspots SET version = version + 1 WHERE id = ` + someHotspot, nil, []string{"changes"}, "there is no change for"},
	{"a hotspot is gone", `DELETE FROM hotspots WHERE id = ` + someHotspot, nil, []string{"changes", "references"}, "has records but is not a hotspot"},

	{"a name is another", `UPDATE hotspots SET name = 'Somewhere else' WHERE id = ` + someHotspot, nil, []string{"hotspots"}, "its checksum does not match"},
	{"a place was moved by a metre", `UPDATE hotspots SET lat = lat + 0.00001 WHERE id = ` + someHotspot, nil, []string{"hotspots"}, "its checksum does not match"},

	{"a key is another's", `UPDATE api_keys SET user_id = 'usr_00000000000000000000000000' WHERE id = (SELECT min(id) FROM api_keys)`, nil, []string{"keys"}, "its checksum does not match"},
	{"a key got all rights", `UPDATE api_keys SET scopes = 'admin' WHERE scopes <> 'admin'`, nil, []string{"keys"}, "its checksum does not match"},
	{"a key has a scope that there is not", `UPDATE api_keys SET scopes = 'fly'`, nil, []string{"keys"}, "unknown scopes: [fly]"},
	{"a key's hash is cut", `UPDATE api_keys SET secret_hash = $1 WHERE id = (SELECT min(id) FROM api_keys)`, bad(31), []string{"keys"}, "a hash of 31 bytes"},
	{"two keys have one secret", `UPDATE api_keys SET secret_hash = $1`, bad(32), []string{"keys"}, "has the same secret as key_"},
	{"a key is gone", `DELETE FROM api_keys WHERE id = (SELECT min(id) FROM api_keys)`, nil, []string{"changes"}, `there is a change for "created" but no such row`},

	{"a member is nobody", someMember("per_00000000000000000000000002", "owner"), nil, []string{"people"}, "there is no such person"},
	{"an account has no owner", somePerson + someMember("per_00000000000000000000000001", "viewer"), nil, []string{"people"}, "has members, and none of them is an owner"},
	{"a person was changed", somePerson + `UPDATE people SET seal = 4294967297`, nil, []string{"people"}, "its checksum does not match"},
	{"the checksum of a person is none", somePerson + `UPDATE people SET seal = 1`, nil, []string{"people"}, "its checksum does not match"},
	{"the checksum of a membership is none", somePerson + someMember("per_00000000000000000000000001", "owner") + `UPDATE memberships SET seal = 1`, nil, []string{"people"}, "has a membership of"},
	{"an invitation was changed", someInvite + `UPDATE invitations SET role = 'owner', seal = 4294967297`, nil, []string{"people"}, "is an invitation of"},
	{"an invitation is to nothing", someInvite + `UPDATE invitations SET role = ''`, nil, []string{"people"}, "invites to"},
	{"a role is none", somePerson + someMember("per_00000000000000000000000001", "king"), nil, []string{"people"}, "which is no account or no role"},
	{"no admin can sign in", somePerson + `UPDATE api_keys SET expires_at = created_at + 1, seal = 0`, nil, []string{"admins"}, "no admin among them who can sign in"},

	{"a stream has a gap", `DELETE FROM changes WHERE seq = 5`, nil, []string{"changes"}, "change 4 is followed by change 6"},
	{"a change is someone else's", `UPDATE changes SET user_id = 'usr_other' WHERE seq = 5`, nil, []string{"changes"}, "change 5: the row is damaged"},
	{"a change is of no kind", `UPDATE changes SET kind = 'hotspot.flown' WHERE seq = 5`, nil, []string{"changes"}, "unknown kind"},
	{"an event is gone", `DELETE FROM events WHERE seq = (SELECT min(seq) + 1 FROM events)`, nil, []string{"events"}, "comes after event"},
	{"an event is of something else", `UPDATE events SET target = 'hs_other' WHERE kind = 'hotspot.verified'`, nil, []string{"events"}, "but no change for it"},
	{"events reach too far", `UPDATE event_places SET seq = seq + 1`, nil, []string{"events"}, "events include its changes up to"},

	{"a lease never ends", `UPDATE leases SET expires_at = 32503680000000000`, nil, []string{"leases"}, "until 3000-01-01"},
	{"a lease is nobody's", `UPDATE leases SET token = 0`, nil, []string{"leases"}, "token 0"},
	{"a day is closed that has not come", `UPDATE clock_certain SET certain = certain - 40 * CAST(86400000000 AS bigint)`, nil, []string{"clocks"}, "is closed, and has not come"},
	{"a span ends before it begins", `UPDATE service_spans SET to_minute = from_minute - 1`, nil, []string{"leases"}, "was up from minute"},

	{"heartbeats cannot be read", `UPDATE journal SET batch = $1 WHERE seq = (SELECT max(seq) FROM journal)`, bad(40), []string{"journal"}, "this batch is damaged"},
	{"a batch is missing", `DELETE FROM journal WHERE seq = (SELECT min(seq) + 1 FROM journal)`, nil, []string{"journal"}, "is followed by batch"},

	{"a record cannot be read", `UPDATE records SET data = $1` + oldRow, bad(40), []string{"records"}, "its record for"},
	{"a record is gone", `DELETE FROM records` + oldRow, nil, []string{"records"}, "but its record does not"},
	{"a record is of another day", `UPDATE records SET day = day + 4000 ` + oldRow, nil, []string{"records", "references"}, "is dated"},
	{"the newest record is not found", `UPDATE record_heads SET day = day - 1 WHERE hotspot = ` + someHotspot, nil, []string{"references"}, "has a record that no reader would find"},
	{"a status is of nobody", `INSERT INTO statuses (hotspot, online, at) VALUES ('hs_gone', 1, 1)`, nil, []string{"references"}, "hs_gone: has a status but is not a hotspot"},

	{"a former owner does not find a hotspot", `DELETE FROM former_owners`, nil, []string{"owners"}, "but is not found by that"},
	{"a former owner finds another's", `INSERT INTO former_owners (hotspot, through, user_id) VALUES (` + someHotspot + `, 20000, '` + heir + `')`, nil, []string{"owners"}, "which it was not"},
	{"a hotspot was handed over sooner", `UPDATE hotspots SET former = replace(former, '"through":20772', '"through":20762'), seal = 0 WHERE former <> ''`, nil, []string{"owners"}, "but on that day it was of " + heir},
	{"a former owner is none", `UPDATE hotspots SET former = replace(former, '"user":"usr_', '"user":"hs_'), seal = 0 WHERE former <> ''`, nil, []string{"owners"}, "as a former owner"},
	{"a sum is of who never had the hotspot", `UPDATE former_owners SET user_id = '` + heir + `'`, nil, []string{"owners"}, "whose it never was"},

	{"a hold cannot be read", `UPDATE holds SET until = until + 1 WHERE id = '` + heldNext + `'`, nil, []string{"holds"}, "checksum does not match"},
	{"a visit was confirmed by one person", replacedIn(heldFirst, `"ended":{"by":"`+staff2, `"ended":{"by":"`+staff1), nil, []string{"holds"}, "no second person confirmed the visit"},
	{"nobody confirmed a visit", replacedIn(heldFirst, `"ended":{"by":"`+staff2, `"ended":{"by":"`), nil, []string{"holds"}, "nobody has confirmed it"},
	{"a visit was never made", `UPDATE holds SET state = 'voided', seal = 0 WHERE id = '` + heldNext + `'`, nil, []string{"holds"}, "nobody has visited it"},
	{"a second hold is by the same person", replacedIn(heldNext, `"placed":{"by":"`+staff2, `"placed":{"by":"`+staff1), nil, []string{"holds"}, "like " + heldFirst + " before it"},
	{"an extension is by the same person", replacedIn(heldNext, `"extended":[{"by":"`+staff3, `"extended":[{"by":"`+staff2), nil, []string{"holds"}, "who had set its end before"},
	{"a hold lasts too long", `UPDATE holds SET until = until + 40 * CAST(86400000000 AS bigint), seal = 0 WHERE id = '` + heldNext + `'`, nil, []string{"holds"}, "for at most 30 days"},
	{"a hold has a state of its own", `UPDATE holds SET state = 'kept', seal = 0 WHERE id = '` + heldNext + `'`, nil, []string{"holds"}, "unknown state"},
	{"a hold is active and over", `UPDATE holds SET state = 'active', seal = 0 WHERE id = '` + heldFirst + `'`, nil, []string{"holds"}, "is active, and has ended"},
	{"a hold is gone", `DELETE FROM holds WHERE id = '` + heldFirst + `'`, nil, []string{"holds"}, "but comes after"},
	{"a hold is of a hotspot that there is not", `UPDATE holds SET hotspot = 'hs_gone', seal = 0 WHERE id = '` + heldNext + `'`, nil, []string{"holds"}, "which is not a hotspot of"},

	{"an amount is off by a millionth", `UPDATE ledger SET availability = availability + 1` + oneRow, nil, []string{"ledger"}, "policy 3 gives"},
	{"an amount has moved", `UPDATE ledger SET availability = availability - 1, utilization = utilization + 1` + oneRow, nil, []string{"ledger"}, "policy 3 gives"},
	{"minutes were added", `UPDATE ledger SET served = served - 1` + oneRow, nil, []string{"ledger", "records"}, "but its record does not"},
	{"a row is gone", `DELETE FROM ledger` + oneRow, nil, []string{"ledger", "records", "standings"}, "but the ledger does not"},
	{"a settled row is gone", `DELETE FROM ledger` + oldRow, nil, []string{"ledger", "records", "standings", "documents"}, "but the ledger does not"},
	{"a day is counted that was not served", `UPDATE standings SET days = days + 1 WHERE hotspot = ` + someHotspot, nil, []string{"standings"}, "that no row has"},
	{"the days of a place are not counted", `UPDATE standings SET since = since - 1 WHERE hotspot = ` + someHotspot, nil, []string{"standings"}, "than are counted"},
	{"hotspots had gone elsewhere and come back", `UPDATE hotspots SET seal = 0, visits = substr(visits, 1, length(visits) - 1) || ',' || ` + visit("lat + 0.01", "") + ` || ',' || ` +
		visit("lat", `,"again":true`) + ` || ']' WHERE visits <> '' AND visits NOT LIKE '%},{%' AND deleted_at = 0 AND verified_at > 0`, nil, []string{"excused"}, "by the days before that is 0 and 0"},
	{"a hotspot's sum is off", `UPDATE hotspot_months SET performance = performance + 1` + openMonth, nil, []string{"ledger"}, "but its rows add up to"},
	{"a user's sum is off", `UPDATE user_months SET utilization = utilization + 1` + openMonth, nil, []string{"ledger"}, "that add up to"},
	{"a link of a chain is broken", `UPDATE user_months SET chain = $1` + openMonth, bad(32), []string{"ledger"}, "the chain of hashes ends in 000000000000…"},
	{"a day's sum is off", `UPDATE reward_days SET availability = availability + 1 WHERE day = ` + lastDay, nil, []string{"ledger"}, "was closed with"},
	{"a day is not noted", `DELETE FROM reward_days WHERE day = ` + lastDay, nil, []string{"ledger"}, "has rows but was never closed"},
	{"the revision is ahead", `UPDATE reward_revision SET revision = revision + 1`, nil, []string{"ledger"}, "UPDATE reward_revision SET revision = 0"},
	{"the first day is off", `UPDATE accounts SET first_day = first_day + 1 WHERE user_id = ` + lastUser, nil, []string{"ledger"}, "first earned on"},
	{"a policy was changed", `UPDATE reward_policies SET content = 'policy,1'`, nil, []string{"records", "ledger", "excused", "statements", "documents"}, "policy 1: cannot be used"},
	{"a version is out of all bounds", `UPDATE hotspots SET version = 4611686018427387904 WHERE id = ` + someHotspot, nil, []string{"hotspots", "changes"}, "has version"},

	{"an account is off", `UPDATE accounts SET availability = availability + 1 WHERE user_id = ` + lastUser, nil, []string{"statements"}, "but the statements add up to"},
	{"a total is off", `UPDATE hotspot_totals SET served = served + 1 WHERE hotspot = (SELECT max(hotspot) FROM hotspot_totals)`, nil, []string{"statements"}, "but its months add up to"},
	{"a month is not noted", `DELETE FROM reward_months WHERE month = (SELECT min(month) + 1 FROM reward_months)`, nil, []string{"statements"}, "but the month before it is not"},
	{"a statement was changed", `UPDATE statements SET availability = availability + 1` + oldStmt, nil, []string{"statements", "documents"}, "its hash does not match its contents"},
	{"statements are not chained", `UPDATE statements SET previous = $1 WHERE month = (SELECT max(month) FROM statements)`, bad(32), []string{"statements", "documents"}, "but the one before it is"},
	{"a statement is gone", `DELETE FROM statements` + oldStmt, nil, []string{"statements"}, "has no statement for"},
	{"a settled month was changed", `UPDATE user_months SET served = served + 1 WHERE month = (SELECT min(month) FROM statements)`, nil, []string{"statements", "ledger"}, "but the month now has"},
	{"a statement cannot be written down", `UPDATE statements SET settled_at = 400000000000000000` + oldStmt, nil, []string{"documents"}, "settled_at"},
}

func TestExamine_Damaged(t *testing.T) {
	level.Repeats(t)
	t.Parallel()
	for _, kind := range []string{"sqlite", "postgres"}[:level.Rounds(1, 2, 2)] { // the checks are the same code on both
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			base := ""
			if kind == "postgres" {
				base = copyOf(t, kind)
			}
			alone := map[string]bool{}
			for _, d := range damages {
				// Where time is short, there is only the first damage that a check finds alone.
				short := level.Now() == level.Test || level.Now() == level.Check && kind == "postgres"
				if short && (len(d.want) > 1 || alone[d.want[0]]) {
					continue
				}
				t.Run(d.name, func(t *testing.T) {
					var db string
					if kind == "postgres" {
						db = clone(t, base)
					} else {
						db = copyOf(t, kind)
					}
					if d.found(t, db) && len(d.want) == 1 {
						alone[d.want[0]] = true
					}
				})
			}
			for _, check := range doctor.Names() {
				if !alone[check] && check != "settings" && check != "storage" { // these have tests of their own
					t.Errorf("no damage was found by %q alone: nothing shows what it is for", check)
				}
			}
		})
	}
}

// found does the damage, and sees who finds it.
func (d damage) found(t *testing.T, db string) bool {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	if _, err := handle.ExecContext(t.Context(), d.sql, d.args...); err != nil {
		t.Fatalf("%s: %v", d.sql, err)
	}
	handle.Close()
	results := examine(t, db, false)
	var found []string
	said := ""
	for _, name := range doctor.Names() {
		r := results[name]
		if r.Wrong > 0 && !excusedHere(r) {
			found = append(found, name)
		}
		for _, f := range r.Faults {
			said += f.String() + "\n"
		}
		if (r.Wrong > 0) != (r.Advice != "") {
			t.Errorf("%s has %d faults, and the advice %q", name, r.Wrong, r.Advice)
		}
	}
	slices.Sort(found)
	if want := slices.Sorted(slices.Values(d.want)); !slices.Equal(found, want) || !strings.Contains(said, d.told) {
		t.Errorf("found by %v; want %v, and %q in\n%s", found, want, d.told, said)
		return false
	}
	return true
}

// excusedHere knows a server of tests, which does not sync because nothing on it
// matters; TestExamine_Settings sees that this is told.
func excusedHere(r doctor.Result) bool {
	return r.Check == "settings" && r.Wrong == 1 && strings.HasPrefix(r.Faults[0].What, "fsync is off")
}

// A sound database is found sound, also a quick look says so, and nothing is
// changed by looking.
func TestExamine_Sound(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db := copyOf(t, kind)
			for _, quick := range []bool{false, true} {
				for name, r := range examine(t, db, quick) {
					if r.Wrong > 0 && !excusedHere(r) {
						t.Errorf("%s: %v", name, r.Faults)
					}
					if skipped := quick && (name == "documents" || name == "standings" || name == "excused"); (r.Skipped != "") != skipped || (r.Looked == "") != skipped {
						t.Errorf("%s looked at %q, and skipped %q", name, r.Looked, r.Skipped)
					}
				}
			}
			if kind == "sqlite" && !slices.Equal(read(t, db), read(t, sound(t))) {
				t.Error("the file is another one after the examination")
			}
		})
	}
}

// What a visit measured limits the tier that a hotspot is paid for, whatever its own speed
// tests say. Once the place is erased, it is no longer known what was measured.
func TestExamine_Measured(t *testing.T) {
	t.Parallel()
	const slow = `,"down_mbps":1,"up_mbps":1,"latency_ms":9`
	const erase = `, lat = 0, lng = 0, mac = '00:00:00:00:00:00', mac_live = NULL, deleted_at = updated_at`
	for name, test := range map[string]struct {
		measured, erased string
		paid             string // the tier in the ledger
		wrong            bool
	}{
		"slower than its own tests": {slow, "", "0", false},
		"slower, and paid more":     {slow, "", "1", true},
		"not measured":              {"", "", "0", true},
		"erased since":              {"", erase, "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := copyOf(t, "sqlite")
			handle := harness.OpenSQL(t, db)
			var hotspot string
			if err := handle.QueryRowContext(t.Context(), `SELECT max(hotspot) FROM ledger WHERE tier > 0`).Scan(&hotspot); err != nil {
				t.Fatal(err)
			}
			exec(t, handle, `UPDATE hotspots SET seal = 0, visits = format('[{"at":%d,"lat":%f,"lng":%f,"accuracy_m":5,"proves":true`+test.measured+`}]',
				(SELECT min(day) - 1 FROM ledger) * 86400000000, lat, lng)`+test.erased+` WHERE id = '`+hotspot+`'`)
			exec(t, handle, `UPDATE ledger SET tier = `+test.paid+` WHERE hotspot = '`+hotspot+`'`)
			handle.Close()
			if r := examine(t, db, true)["records"]; (r.Wrong > 0) != test.wrong {
				t.Errorf("it says %v", r.Faults)
			}
		})
	}
}

// A key that was created by a clock ahead, and revoked by the right one, is sound.
func TestExamine_RevokedBeforeCreated(t *testing.T) {
	t.Parallel()
	file := copyOf(t, "sqlite")
	db, err := sqlite.Open(t.Context(), file, sqlite.Options{Node: store.SharedNode, Now: began})
	if err != nil {
		t.Fatal(err)
	}
	key, _ := access.Mint(began.Add(10*time.Minute), beacon.Key{User: beacon.UserID(id.New(beacon.UserPrefix, began))})
	if err := errors.Join(
		db.Keys.InsertKey(t.Context(), key, beacon.Actor{Request: "test"}, nil),
		db.Keys.RevokeKey(t.Context(), key.ID, began, beacon.Actor{Request: "test"}),
		db.Close(),
	); err != nil {
		t.Fatal(err)
	}
	for check, r := range examine(t, file, true) {
		if r.Wrong > 0 {
			t.Errorf("%s: %v", check, r.Faults)
		}
	}
}

// A database of an older version is not damaged: what cannot be checked is skipped.
func TestExamine_Older(t *testing.T) {
	t.Parallel()
	steps, err := store.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.NewReplacer("{key}", "text", "{clustered}", "WITHOUT ROWID", "{add column}", "ADD COLUMN")
	for n := range steps {
		db := filepath.Join(t.TempDir(), "old.db")
		handle := harness.OpenSQL(t, db)
		exec(t, handle, store.SchemaTable)
		for _, step := range steps[:n+1] {
			for _, statement := range step.Statements {
				exec(t, handle, words.Replace(statement))
			}
			exec(t, handle, fmt.Sprintf(`INSERT INTO schema_versions VALUES (%d, '%s', '%s', 1)`, step.Version, step.Name, step.Checksum))
		}
		handle.Close()
		for name, r := range examine(t, db, false) {
			if skipped := n < len(steps)-1 && r.Skipped != ""; r.Wrong > 0 || (r.Looked == "") != skipped {
				t.Errorf("version %d: %s looked at %q, skipped %q and found %v", n+1, name, r.Looked, r.Skipped, r.Faults)
			}
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// While servers write, a sound database is sound at every moment.
func TestExamine_BesideAServer(t *testing.T) {
	t.Parallel()
	demonstrate(t, func(file string) {
		for range level.Rounds(3, 5, 20) {
			for name, r := range examine(t, file, false) {
				if r.Wrong > 0 {
					t.Errorf("%s: %v", name, r.Faults)
				}
			}
		}
	})
}

// A table that lies about its index: only who compares the two finds out.
func TestExamine_Amcheck(t *testing.T) {
	t.Parallel()
	db := copyOf(t, "postgres")
	handle := harness.OpenSQL(t, db)
	for _, statement := range []string{
		`CREATE EXTENSION amcheck`,
		`CREATE FUNCTION says(t text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT t'`,
		`CREATE INDEX lies ON hotspots (says(id))`,
	} {
		exec(t, handle, statement)
	}
	if r := examine(t, db, false)["storage"]; r.Wrong > 0 || !strings.Contains(r.Looked, "amcheck of") {
		t.Fatalf("looked at %q, found %v; want amcheck, and nothing", r.Looked, r.Faults)
	}
	exec(t, handle, `CREATE OR REPLACE FUNCTION says(t text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT reverse(t)'`)
	if r := examine(t, db, false)["storage"]; r.Wrong == 0 || !strings.Contains(r.Faults[0].What, "index lies") {
		t.Errorf("found %v; want the index that lies", r.Faults)
	}
}

// A server that acknowledges too early is named.
func TestExamine_Settings(t *testing.T) {
	t.Parallel()
	db := copyOf(t, "postgres")
	handle := harness.OpenSQL(t, db)
	var fsync, name string
	if err := handle.QueryRowContext(t.Context(), `SELECT current_setting('fsync'), current_database()`).Scan(&fsync, &name); err != nil {
		t.Fatal(err)
	}
	r := examine(t, db, true)["settings"]
	if told := slices.ContainsFunc(r.Faults, func(f doctor.Fault) bool { return strings.Contains(f.What, "fsync is off") }); told != (fsync == "off") {
		t.Errorf("fsync is %s, and it says %v", fsync, r.Faults)
	}
	exec(t, handle, `ALTER DATABASE `+name+` SET synchronous_commit = off`)
	r = examine(t, db, true)["settings"]
	if !slices.ContainsFunc(r.Faults, func(f doctor.Fault) bool { return strings.Contains(f.What, "synchronous_commit is off") }) {
		t.Errorf("synchronous_commit is off, and it says %v", r.Faults)
	}
}

// A page of the file that is overwritten is found by reading, whatever was on it.
func TestExamine_Storage(t *testing.T) {
	t.Parallel()
	db := copyOf(t, "sqlite")
	content := read(t, db)
	const page = 4096
	copy(content[len(content)/2/page*page:], make([]byte, 100))
	if err := os.WriteFile(db, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, quick := range []bool{false, true} {
		if r := examine(t, db, quick)["storage"]; r.Wrong == 0 {
			t.Errorf("quick %v: nothing is wrong with a page that was overwritten", quick)
		}
	}
}

// A file that can be read and not written is not sound.
func TestExamine_Unwritable(t *testing.T) {
	t.Parallel()
	db := copyOf(t, "sqlite")
	content := read(t, db)
	content[18] ^= 0x70
	if err := os.WriteFile(db, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := examine(t, db, true)["storage"]; r.Wrong != 1 || !strings.Contains(r.Faults[0].What, "byte 18 of the file is 114") {
		t.Errorf("it says %+v", r)
	}
}

// The checks have names that differ, and the advice differs from what is wrong.
func TestNames(t *testing.T) {
	names := map[string]bool{}
	for _, name := range doctor.Names() {
		names[name] = true
	}
	if len(names) != len(doctor.Names()) || len(names) < 10 {
		t.Errorf("the checks are %v", slices.Sorted(maps.Keys(names)))
	}
}
