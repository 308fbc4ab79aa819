package api_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/clock"
	"github.com/beacon-wifi/beacon/internal/erasure"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/lease"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/postgres"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

type erasureShown struct {
	UserID   string  `json:"user_id"`
	Status   string  `json:"status"`
	AskedAt  *string `json:"asked_at"`
	DueAt    *string `json:"due_at"`
	ErasedAt *string `json:"erased_at"`
}

// A wish to be erased can be taken back for 30 days, by its user or an admin.
func TestErasure_Wish(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c, other, admin := s.anyone(t, "keys:manage"), s.anyone(t, "keys:manage"), s.anyone(t, "admin")
		mine := "/v1/users/me/erasure"
		theirs := "/v1/users/" + string(c.user) + "/erasure"
		none := erasureShown{UserID: string(c.user), Status: "none"}
		wantEqual(t, "no wish", data[erasureShown](t, c.get(t, mine), http.StatusOK), none)
		wantFault(t, c.delete(t, mine), http.StatusNotFound, "not_found")
		wantFault(t, s.operator(t).post(t, mine, ""), http.StatusForbidden, "forbidden")
		wantFault(t, other.post(t, theirs, ""), http.StatusForbidden, "forbidden")
		wantFault(t, admin.post(t, "/v1/users/usr_01kb3gzk00a1b2c3d4e5f6g7h8/erasure", ""), http.StatusNotFound, "not_found")
		wantFault(t, admin.post(t, "/v1/users/usr_nobody/erasure", ""), http.StatusNotFound, "not_found")
		asked := data[erasureShown](t, c.post(t, mine, ""), http.StatusOK)
		wantEqual(t, "the wish", asked, erasureShown{UserID: string(c.user), Status: "waiting", AskedAt: new("2026-11-15T12:00:00.000Z"), DueAt: new("2026-12-15T12:00:00.000Z")})
		s.advance(time.Hour)
		for _, a := range []answer{c.post(t, mine, ""), c.get(t, mine), admin.get(t, theirs), admin.post(t, theirs, "")} {
			wantEqual(t, "the wish", data[erasureShown](t, a, http.StatusOK), asked)
		}
		if user := lines(t, unpack(t, c.get(t, "/v1/users/me/export"))["user.json"]); user[0]["erasure"].(map[string]any)["status"] != "waiting" {
			t.Errorf("the archive does not have the wish: %v", user)
		}
		wantFault(t, other.delete(t, theirs), http.StatusForbidden, "forbidden")
		c.delete(t, mine).want(t, http.StatusNoContent)
		wantEqual(t, "no wish", data[erasureShown](t, c.get(t, mine), http.StatusOK), none)
		if got := len(s.changes(t, beacon.ErasureAsked, beacon.ErasureWithdrawn)); got != 2 {
			t.Errorf("the audit has %d rows; want 2", got)
		}
	})
}

// raw opens the same database past the store: its tables, and a row of one as text.
type raw struct {
	open         func() (*sql.DB, error)
	tables, rows string
}

// An erased user leaves nothing behind that says who it was, in any table, and books that
// the doctor finds sound: see leavesSound.
func TestErasure(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "beacon.db")
		leavesSound(t, func(context.Context) (*store.Examination, error) { return sqlite.Examine(file) })
		db := storetest.Opened(t)(sqlite.Open(t.Context(), file, sqlite.Options{Now: noon}))
		erase(t, start(t, db, alive), raw{
			func() (*sql.DB, error) { return sql.Open("sqlite", file) }, `SELECT name FROM sqlite_master WHERE type = 'table'`, "SELECT * FROM ",
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := storetest.Postgres(t)
		leavesSound(t, func(ctx context.Context) (*store.Examination, error) {
			return postgres.Examine(ctx, url, postgres.PoolerAuto)
		})
		db := storetest.Opened(t)(postgres.Open(t.Context(), storetest.Patient(t, url), postgres.Options{Now: noon}))
		erase(t, start(t, db, alive), raw{
			func() (*sql.DB, error) { return sql.Open("pgx", url) }, `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`, "SELECT * FROM ",
		})
	})
}

// dump returns all tables as text, by name.
func (r raw) dump(t *testing.T) map[string]string {
	t.Helper()
	db, err := r.open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	texts := map[string]string{}
	each := func(query string, row func([]any)) {
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(query, err)
		}
		defer rows.Close()
		columns, _ := rows.Columns()
		for rows.Next() {
			values, targets := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				targets[i] = &values[i]
			}
			if err := rows.Scan(targets...); err != nil {
				t.Fatal(query, err)
			}
			row(values)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(query, err)
		}
	}
	var tables []string
	each(r.tables, func(row []any) { tables = append(tables, at("%s", row[0])) })
	for _, table := range tables {
		each(r.rows+table, func(row []any) {
			for _, value := range row {
				if bytes, ok := value.([]byte); ok {
					value = string(bytes)
				}
				texts[table] += strings.ToLower(at("%v ", value))
			}
			texts[table] += "\n"
		})
	}
	return texts
}

func erase(t *testing.T, s *server, database raw) {
	c := s.keyOf(t, access.NewUser, access.Creation{
		Name: beacon.Some("smith laptop"), Scopes: beacon.Some([]string{"hotspots:write", "rewards:read", "keys:manage"}), Addresses: beacon.Some([]string{"127.0.0.0/8", "203.0.113.7/32"}),
	})
	other, admin, staff := s.anyone(t, "hotspots:write", "rewards:read"), s.anyone(t, "admin"), s.anyone(t, "hotspots:verify")
	edits := []string{"name", `"smith home"`, "location.address", `"1 Main Street"`, "location.lat", "40.70011", "device.ssid", `"smithnet"`}
	kept, gone, theirs := c.install(t, 1, edits...), c.install(t, 2, edits...), other.install(t, 3, "name", `"a neighbour"`)
	for _, m := range []machine{kept, gone, theirs} {
		s.verify(t, m.hotspot)
	}
	for i := range 10 {
		for model, m := range map[string]machine{"smithrouter": kept, "smith's other": gone, "another": theirs} {
			m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":%d,"tx_bytes":0,"agent":{"version":"1.0.0","model":%q}}`, i, 1_000_000_000*i, model)).want(t, http.StatusOK)
		}
		s.advance(time.Minute)
	}
	staff.do(t, "DELETE", gone.hotspot+"/verification?reason=smith+moved", "").want(t, http.StatusNoContent)
	c.delete(t, gone.hotspot).want(t, http.StatusNoContent)
	c.patch(t, kept.hotspot, `{"settings":{"operating_hours":{"timezone":"America/Goose_Bay","weekly":[]}}}`).want(t, http.StatusOK)
	c.newCode(t, kept.hotspot)
	secrets := []string{"smith", "main street", "40.70011", "02:00:5e:00:00:01", "02005e000001", mac(1), mac(2), "goose_bay", "203.0.113", "smithrouter"}
	found := func() (where []string) {
		for table, text := range database.dump(t) {
			for _, secret := range secrets {
				if strings.Contains(text, strings.ToLower(secret)) {
					where = append(where, secret+" in "+table)
				}
			}
		}
		return where
	}
	if len(found()) < len(secrets)-3 {
		t.Fatalf("only %v is found before", found())
	}

	wish := "/v1/users/me/erasure"
	c.post(t, wish, "").want(t, http.StatusOK)
	s.time.Store(time.Date(2026, 12, 5, 12, 0, 0, 0, time.UTC).UnixMicro()) // ten days before it is due, which the next loop does not use up
	step := s.APIConfig().Erasures.Step
	harness.Eventually(t, "a settled month", func() bool {
		s.advance(10 * time.Second)
		return c.get(t, "/v1/users/me/rewards/statements/2026-11").StatusCode == http.StatusOK
	})
	statement := string(c.get(t, "/v1/users/me/rewards/statements/2026-11", "Accept", "text/csv").want(t, http.StatusOK).body)
	if err := step(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.get(t, kept.hotspot).want(t, http.StatusOK) // it is not due

	s.time.Store(time.Date(2026, 12, 15, 13, 0, 0, 0, time.UTC).UnixMicro())
	status := func() string {
		return data[erasureShown](t, admin.get(t, "/v1/users/"+string(c.user)+"/erasure"), http.StatusOK).Status
	}
	harness.Eventually(t, "the erasure", func() bool {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
		return status() != "waiting"
	})
	harness.Eventually(t, "its end on this server", func() bool {
		return c.get(t, wish).StatusCode == http.StatusUnauthorized && other.get(t, kept.hotspot).StatusCode == http.StatusNotFound
	})
	if status() != "erasing" {
		t.Errorf("before the month is settled it is %s", status())
	}
	for _, left := range found() {
		if !strings.HasSuffix(left, "in hotspots") || strings.Contains(left, "smith") || strings.Contains(left, "street") || strings.Contains(left, "5e") {
			t.Errorf("still there: %s", left)
		}
	}
	wantFault(t, admin.delete(t, "/v1/users/"+string(c.user)+"/erasure"), http.StatusConflict, "conflict")
	wantFault(t, admin.post(t, "/v1/keys", at(`{"user_id":%q,"scopes":[]}`, c.user)), http.StatusConflict, "conflict")

	s.time.Store(time.Date(2027, 1, 5, 12, 0, 0, 0, time.UTC).UnixMicro())
	harness.Eventually(t, "all of it", func() bool {
		s.advance(10 * time.Second)
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
		return status() == "erased"
	})
	if left := found(); len(left) > 0 {
		t.Errorf("still there: %v", left)
	}
	again := string(admin.get(t, "/v1/users/"+string(c.user)+"/rewards/statements/2026-11", "Accept", "text/csv").want(t, http.StatusOK).body)
	if again != statement || !strings.Contains(again, "2026-11-15") {
		t.Errorf("the books were\n%s\nand are\n%s", statement, again)
	}
	if shown := data[hotspot](t, other.get(t, theirs.hotspot), http.StatusOK); shown.Name != "a neighbour" {
		t.Errorf("others have %+v", shown)
	}
}

// interrupted fails at one write of an erasure, before it is done or after, as a process
// does that is killed there.
type interrupted struct {
	erasure.Wishes
	erasure.Store
	left  int
	after bool

	meanwhile func() // if set, it is called instead
}

var errKilled = errors.New("killed")

func (i *interrupted) at(write func() error) error {
	i.left--
	if i.left == 0 && i.meanwhile != nil {
		i.meanwhile()
		return write()
	}
	if i.left == 0 && !i.after {
		return errKilled
	}
	if err := write(); err != nil || i.left != 0 {
		return err
	}
	return errKilled
}

func (i *interrupted) StepErasure(ctx context.Context, e beacon.Erasure, by beacon.Actor, now time.Time) (found bool, err error) {
	err = i.at(func() (err error) { found, err = i.Wishes.StepErasure(ctx, e, by, now); return err })
	return found, err
}

func (i *interrupted) RevokeKey(ctx context.Context, id beacon.KeyID, at time.Time, by beacon.Actor) error {
	return i.at(func() error { return i.Store.RevokeKey(ctx, id, at, by) })
}

func (i *interrupted) EraseKey(ctx context.Context, k beacon.Key) error {
	return i.at(func() error { return i.Store.EraseKey(ctx, k) })
}

func (i *interrupted) UpdateHotspot(ctx context.Context, id beacon.HotspotID, by beacon.Actor, kind beacon.ChangeKind, edit func(*beacon.Hotspot) (bool, error)) (h beacon.Hotspot, err error) {
	err = i.at(func() (err error) { h, err = i.Store.UpdateHotspot(ctx, id, by, kind, edit); return err })
	return h, err
}

func (i *interrupted) EraseHotspot(ctx context.Context, id beacon.HotspotID, by beacon.Actor, edit func(*beacon.Hotspot)) error {
	return i.at(func() error { return i.Store.EraseHotspot(ctx, id, by, edit) })
}

func (i *interrupted) EraseUser(ctx context.Context, user beacon.UserID, by beacon.Actor, now time.Time) error {
	return i.at(func() error { return i.Store.EraseUser(ctx, user, by, now) })
}

func (i *interrupted) EraseNotes(ctx context.Context, targets map[string]bool) error {
	return i.at(func() error { return i.Store.EraseNotes(ctx, targets) })
}

// Wherever an erasure is interrupted, the next step finishes it.
func TestErasure_Interrupted(t *testing.T) {
	level.Repeats(t)
	t.Parallel()
	s := onSQLite(t, options{limits: ample})
	for n, done := 1, false; !done; n++ {
		for _, after := range []bool{false, true} {
			c := s.anyone(t, "hotspots:write", "keys:manage")
			hotspot := "/v1/hotspots/" + c.register(t, 2*n, "name", `"Smith"`).ID
			c.delete(t, "/v1/hotspots/"+c.register(t, 2*n+1, "name", `"Smith"`).ID).want(t, http.StatusNoContent)
			c.post(t, "/v1/users/me/erasure", "").want(t, http.StatusOK)
			s.advance(beacon.ErasureWait)
			broken := &interrupted{Wishes: s.APIConfig().Erasures.Wishes, Store: s.APIConfig().Erasures.Store, left: n, after: after}
			cfg := s.APIConfig().Erasures.Config
			cfg.Lease = func() (lease.Lease, bool) { return lease.Lease{}, true }
			cfg.Wishes, cfg.Store = broken, broken
			err := erasure.New(cfg).Step(t.Context())
			if done = broken.left > 0; done != (err == nil) {
				t.Fatalf("at write %d: %v", n, err)
			}
			cfg.Store = s.APIConfig().Erasures.Store
			if err := erasure.New(cfg).Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			wish, _, err := s.db.Users.Erasure(t.Context(), c.user)
			if err != nil || wish.Status() != beacon.ErasureIsDone {
				t.Errorf("interrupted at write %d, it is %s, %v", n, wish.Status(), err)
			}
			s.step(t)
			c.get(t, hotspot).want(t, http.StatusUnauthorized)
			all, err := s.db.Hotspots.EverOf(t.Context(), c.user, "", 10)
			if err != nil || len(all) != 2 {
				t.Fatal(all, err)
			}
			for _, h := range all {
				if !h.Deleted() || h.Name == "Smith" || h.Location.Point != (geo.Point{}) || h.Device.MAC != beacon.MaskedMAC {
					t.Errorf("interrupted at write %d, there is %+v", n, h)
				}
			}
			if after && n > 20 {
				t.Fatalf("%d writes were not enough", n)
			}
		}
	}
}

// Whenever a device sends or links, or staff hold something back, while its user is erased,
// nothing of that is left; a hold that comes before the places are gone keeps them.
func TestErasure_Meanwhile(t *testing.T) {
	level.Repeats(t)
	t.Parallel()
	s := onSQLite(t, alive)
	staff := s.anyone(t, "hotspots:verify")
	for n, done := 1, false; !done; n++ {
		for _, holds := range []bool{false, true} {
			c := s.anyone(t, "hotspots:write", "keys:manage")
			number := 2*n + map[bool]int{true: 1}[holds]
			m := c.install(t, number, "name", `"Smith"`)
			hotspot := strings.TrimPrefix(m.hotspot, "/v1/hotspots/")
			code := c.newCode(t, m.hotspot)
			c.post(t, "/v1/users/me/erasure", "").want(t, http.StatusOK)
			held := false
			cfg := s.APIConfig().Erasures.Config
			cfg.Lease = func() (lease.Lease, bool) { return lease.Lease{}, true }
			later := s.now().Add(beacon.ErasureWait)
			cfg.Clock = clock.Of(func() time.Time { return later })
			busy := &interrupted{Wishes: s.APIConfig().Erasures.Wishes, Store: s.APIConfig().Erasures.Store, left: n, meanwhile: func() {
				m.beat(t, `{"boot_id":"b","seq":1,"clients":1,"rx_bytes":0,"tx_bytes":0,"agent":{"version":"1.0.0","model":"Smith"}}`)
				s.anyone(t).post(t, "/v1/devices/link", at(`{"code":%q,"mac_address":%q,"agent":{"version":"1.0.0","model":"Smith"}}`, code, mac(number)))
				if holds {
					held = staff.post(t, "/v1/holds", at(`{"hotspot_id":%q,"reason":"Smith","evidence":"Smith","until":%q}`, hotspot, s.now().Add(20*24*time.Hour).Format(time.RFC3339))).StatusCode == http.StatusCreated
				}
			}}
			cfg.Wishes, cfg.Store = busy, busy
			if err := erasure.New(cfg).Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			done = busy.left > 0
			cfg.Store = s.APIConfig().Erasures.Store
			if err := erasure.New(cfg).Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			wish, _, err := s.db.Users.Erasure(t.Context(), c.user)
			if err != nil || wish.Begun.IsZero() || wish.Cleared.IsZero() {
				t.Errorf("at write %d, it is %+v, %v", n, wish, err)
			}
			all, err := s.db.Hotspots.EverOf(t.Context(), c.user, "", 10)
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			if h := all[0]; !h.Deleted() || h.Name == "Smith" || h.Device.MAC != beacon.MaskedMAC || h.Device.Agent != (beacon.Agent{}) || h.Device.KeyHash != [32]byte{} {
				t.Errorf("at write %d, there is %+v", n, h)
			}
			if held != (holds && !done) || held && n <= 8 && (wish.Status() == beacon.ErasureIsDone || all[0].PlaceErased()) { // the eighth says that all else is erased
				t.Errorf("at write %d, the hold did not keep the place", n)
			}
			if n > 25 {
				t.Fatalf("%d writes were not enough", n)
			}
		}
	}
}
