package api_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/test/harness"
)

// unpack returns the files of an archive.
func unpack(t testing.TB, a answer) map[string]string {
	t.Helper()
	a.want(t, http.StatusOK)
	archive, err := zip.NewReader(bytes.NewReader(a.body), int64(len(a.body)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}

// lines decodes a file of JSON lines.
func lines(t testing.TB, text string) (all []map[string]any) {
	t.Helper()
	for in := json.NewDecoder(strings.NewReader(text)); ; {
		var line map[string]any
		if err := in.Decode(&line); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
}

// A user's archive has all that is stored of the user and nothing of anyone else.
func TestExport(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.anyone(t, "hotspots:write", "rewards:read", "keys:manage")
		other := s.anyone(t, "hotspots:write", "rewards:read", "keys:manage")
		kept, gone := c.install(t, 1), c.install(t, 2)
		s.verify(t, kept.hotspot)
		s.verify(t, gone.hotspot)
		theirs := other.install(t, 3)
		for i := range 10 {
			for _, m := range []machine{kept, gone} {
				m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":%d,"tx_bytes":0}`, i, 1_000_000_000*i)).want(t, http.StatusOK)
			}
			s.advance(time.Minute)
		}
		c.delete(t, gone.hotspot).want(t, http.StatusNoContent)
		s.time.Store(time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC).UnixMicro())
		harness.Eventually(t, "a closed day", func() bool {
			s.advance(10 * time.Second)
			return !c.explain(t, kept.hotspot, "2026-11-15").Open
		})

		staff, admin := s.anyone(t, "hotspots:verify", "keys:manage"), s.anyone(t, "admin")
		keptID, today := strings.TrimPrefix(kept.hotspot, "/v1/hotspots/"), beacon.DayOf(s.now())
		s.flag(t, beacon.Flag{Hotspot: beacon.HotspotID(keptID), Operator: c.user, Kind: beacon.TooRegular, Weight: 65, First: today, Last: today})
		staff.delete(t, "/v1/review/"+keptID+"/"+string(beacon.TooRegular)+"?reason=as+Smith+has+it+next+door").want(t, http.StatusNoContent)
		admin.post(t, "/v1/macs/releases", at(`{"mac_address":%q,"reason":"sold to Smith"}`, mac(2))).want(t, http.StatusOK)

		a := c.get(t, "/v1/users/me/export")
		files := unpack(t, a)
		if got := a.Header.Get("Content-Disposition"); got != `attachment; filename="export-2026-11-16.zip"` {
			t.Errorf("the archive is named by %q", got)
		}
		checkArchive(t, c, files, strings.TrimPrefix(kept.hotspot, "/v1/hotspots/"), strings.TrimPrefix(gone.hotspot, "/v1/hotspots/"))
		everything := ""
		for _, text := range files {
			everything += text
		}
		for _, foreign := range []string{string(other.user), strings.TrimPrefix(theirs.hotspot, "/v1/hotspots/"), string(other.key), c.plain, theirs.plain, kept.plain, string(staff.user), "Smith", string(beacon.TooRegular)} {
			if strings.Contains(everything, foreign) {
				t.Errorf("the archive has %s, which is not for its reader", foreign)
			}
		}

		wantFault(t, other.get(t, "/v1/users/"+string(c.user)+"/export"), http.StatusForbidden, "forbidden")
		wantFault(t, s.anyone(t, "admin").get(t, "/v1/users/usr_nobody/export"), http.StatusNotFound, "not_found")
		byAdmin := unpack(t, s.anyone(t, "admin").get(t, "/v1/users/"+string(c.user)+"/export"))
		if byAdmin["hotspots.jsonl"] != files["hotspots.jsonl"] || byAdmin["rewards.csv"] != files["rewards.csv"] {
			t.Errorf("an admin gets %s; want %s", byAdmin, files)
		}
		narrow := unpack(t, s.keyOf(t, c.user, access.Creation{Scopes: beacon.Some([]string{"keys:manage"})}).get(t, "/v1/users/me/export"))
		if _, has := narrow["rewards.csv"]; has || narrow["hotspots.jsonl"] == "" {
			t.Errorf("a key that cannot read rewards gets %s", narrow)
		}
	})
}

func checkArchive(t *testing.T, c client, files map[string]string, kept, gone string) {
	t.Helper()
	var ids []string
	for _, h := range lines(t, files["hotspots.jsonl"]) {
		ids = append(ids, h["id"].(string))
		if deleted := h["deleted_at"] != nil; deleted != (h["id"] == gone) || len(h["visits"].([]any)) != 1 {
			t.Errorf("a hotspot is %v", h)
		}
	}
	slices.Sort(ids)
	wantEqual(t, "the hotspots", ids, slices.Sorted(slices.Values([]string{kept, gone})))

	if keys := lines(t, files["keys.jsonl"]); len(keys) != 1 || keys[0]["id"] != string(c.key) {
		t.Errorf("the keys are %v", keys)
	}
	if user := lines(t, files["user.json"]); len(user) != 1 || user[0]["user_id"] != string(c.user) {
		t.Errorf("the user is %v", user)
	}

	table, err := csv.NewReader(strings.NewReader(files["activity.csv"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	carried := map[string]int64{}
	for _, row := range table[1:] {
		n, err := strconv.ParseInt(row[5], 10, 64)
		if err != nil {
			t.Error(err)
		}
		carried[row[0]] += n
	}
	wantEqual(t, "the bytes carried", carried, map[string]int64{kept: 9e9, gone: 9e9})

	if rows := strings.Split(strings.TrimSpace(files["rewards.csv"]), "\n"); len(rows) != 3 || !strings.HasPrefix(rows[1], "2026-11-15,") {
		t.Errorf("the rewards are %q; want the day of both hotspots", rows)
	}

	var verified, registered int
	for _, change := range lines(t, files["changes.jsonl"]) {
		switch change["kind"] {
		case string(beacon.HotspotVerified):
			verified++
			if change["by_you"] != false || change["key_id"] != nil {
				t.Errorf("staff's visit is told as %v", change)
			}
		case string(beacon.HotspotRegistered):
			registered++
			if change["by_you"] != true || change["key_id"] != string(c.key) {
				t.Errorf("a registration is told as %v", change)
			}
		}
	}
	if verified != 2 || registered != 2 {
		t.Errorf("%d visits and %d registrations; want 2 and 2", verified, registered)
	}
}

// Each table of the database is in the archive of a user, or there is a reason.
func TestExport_Tables(t *testing.T) {
	known := map[string]string{
		"hotspots":          "hotspots.jsonl",
		"api_keys":          "keys.jsonl",
		"quotas":            "user.json",
		"records":           "activity.csv",
		"ledger":            "rewards.csv",
		"ledger_again":      "rewards.csv",
		"corrections":       "rewards.csv",
		"changes":           "changes.jsonl",
		"journal":           "becomes records within minutes",
		"record_heads":      "which records are the newest",
		"statuses":          "online or not: status in hotspots.jsonl",
		"events":            "made from changes, and kept for days",
		"idempotency":       "answers to requests that may be repeated, for a day",
		"link_codes":        "hashes of codes, for 15 minutes",
		"deletions":         "for a day, that a user deleted a hotspot, which changes.jsonl has",
		"tallies":           "how many changes a user made today, which changes.jsonl has",
		"freed_macs":        "the MAC addresses of deleted hotspots, which hotspots.jsonl has",
		"holds":             "holds.jsonl",
		"held_days":         "hold_id in rewards.csv, and what became of it there",
		"hotspot_months":    "sums of the ledger",
		"user_months":       "sums of the ledger",
		"hotspot_totals":    "sums of the ledger",
		"statements":        "sums of the ledger, for download by month",
		"accounts":          "sums of the ledger",
		"standings":         "days_served in rewards.csv",
		"flags":             "for staff alone: which hotspots to look at (decision D166)",
		"reviewed":          "of all users together",
		"erasures":          "user.json",
		"former_owners":     "user.json",
		"offers":            "changes.jsonl has those that the user made; they end within a week",
		"account_names":     "the members see it: GET /v1/users/{id}/members",
		"people":            "who own their data: beacon people export",
		"memberships":       "of people",
		"invitations":       "of people",
		"sessions":          "of people",
		"passkeys":          "of people",
		"tickets":           "of people",
		"identities":        "of people",
		"left_accounts":     "of people",
		"checkins":          "of installs of apps, which are no users; what they add up to is quality in the interface",
		"device_addresses":  "hashes of addresses, for two hours",
		"hash_keys":         "of servers",
		"nodes":             "of servers",
		"leases":            "of servers",
		"service_spans":     "of servers",
		"event_places":      "of servers",
		"clock_marks":       "of servers",
		"clock_certain":     "of servers",
		"reward_days":       "of all users together",
		"reward_months":     "of all users together",
		"reward_policies":   "of all users together",
		"reward_revision":   "of all users together",
		"reopenings":        "of all users together",
		"standings_through": "of all users together",
		"settings":          "of all users together",
	}
	files, err := filepath.Glob("../store/migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`CREATE TABLE IF NOT EXISTS (\w+)`).FindAllSubmatch(text, -1) {
			if known[string(found[1])] == "" {
				t.Errorf("is the table %s in the archive of a user?", found[1])
			}
		}
	}
}
