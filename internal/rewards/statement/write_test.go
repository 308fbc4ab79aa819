package statement_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
)

// oneRow is the smallest month.
func oneRow() *books {
	f := beacon.Facts{Served: 600, Expected: 1200, Closed: 200, Excused: 30, Outside: 10, Bytes: 9007199254740993, Tier: beacon.Enhanced}
	p := policy.Devices()
	row := ledger.Row{
		Day: mustDay("2026-09-30"), Owned: beacon.Owned{User: user, Hotspot: "hs_1"}, Policy: 1, Facts: f, Earned: p[0].Reward(f),
	}
	return settle(p, row.Day.Month(), ledger.Hash{}, []ledger.Row{row})
}

// The hashes were made with Python's hashlib.
const (
	oneRowHash = "c971da6077679908be3ed1b92fe528678d616394f3f767d98d3b89fd52b73c95"
	oneRowSeal = "0b086139923b76d878e2e25945a0e706d7778bb5f4b14231c010913ea141c66a"
)

const oneRowJSON = `{"user_id":"usr_01k8a0000000000000000000zz","period":"2026-09","unit":"credit","status":"settled",` +
	`"settled_at":"2026-10-04T00:00:00.001Z","policies":[{"version":1,"effective_from":"1970-01-01","availability":1,` +
	`"performance":{"standard":0,"enhanced":0.25,"premium":0.5},"utilization_per_gb":0.02,"utilization_cap":1}],` +
	`"previous_hash":null,"rows":[{"date":"2026-09-30","hotspot_id":"hs_1","policy":1,"served_minutes":600,` +
	`"expected_minutes":1200,"closed_minutes":200,"excused_minutes":30,"outside_minutes":10,` +
	`"traffic_bytes":9007199254740993,"performance_tier":"enhanced","availability":0.5,"performance":0.125,` +
	`"utilization":1,"hash":"` + oneRowHash + `"}],"totals":{"rows":1,"hotspot_count":1,"served_minutes":600,"expected_minutes":1200,` +
	`"availability":0.5,"performance":0.125,"utilization":1,"total_earned":1.625},"hash":"` + oneRowSeal + `"}`

func TestWriteJSON(t *testing.T) {
	b := oneRow()
	if got := string(b.json(t)); got != oneRowJSON {
		t.Errorf("got\n%s; want\n%s", got, oneRowJSON)
	}
	if text := sample(1, 4, 5, ledger.Hash{7}).json(t); !json.Valid(text) {
		t.Errorf("not JSON: %s", text)
	}
}

func TestWriteCSV(t *testing.T) {
	b := oneRow()
	var out bytes.Buffer
	if err := statement.WriteCSV(&out, &b.statement, b.inForce(), b.each); err != nil {
		t.Fatal(err)
	}
	want := ledger.Columns + ",hash\n2026-09-30,hs_1,1,600,1200,200,30,10,9007199254740993,enhanced,500000,125000,1000000," +
		oneRowHash + "\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s; want\n%s", got, want)
	}
}

// A document whose rows are not those of the statement never gets its end.
func TestWrite_RowsThatAreNotThere(t *testing.T) {
	broken := errors.New("the database went away")
	for name, spoil := range map[string]func(*books) statement.Rows{
		"one less":       func(b *books) statement.Rows { b.rows = b.rows[1:]; return b.each },
		"another":        func(b *books) statement.Rows { b.rows[0].Bytes++; return b.each },
		"none":           func(b *books) statement.Rows { b.rows = nil; return b.each },
		"the last twice": func(b *books) statement.Rows { b.rows = append(b.rows, b.rows[len(b.rows)-1]); return b.each },
		"counted wrong":  func(b *books) statement.Rows { b.statement.Rows++; return b.each },
		"an error": func(*books) statement.Rows {
			return func(func(ledger.Row, ledger.Hash) error) error { return broken }
		},
	} {
		b := sample(2, 4, 4, ledger.Hash{})
		rows := spoil(b)
		var out bytes.Buffer
		if err := statement.WriteJSON(&out, &b.statement, b.inForce(), rows); err == nil || json.Valid(out.Bytes()) {
			t.Errorf("%s: %v, and the document is %s", name, err, out.String())
		}
		if err := statement.WriteCSV(&out, &b.statement, b.inForce(), rows); err == nil {
			t.Errorf("%s: no error for CSV", name)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the reader left") }

func TestWrite_NobodyReads(t *testing.T) {
	b := sample(2, 31, 20, ledger.Hash{})
	if err := statement.WriteJSON(full{}, &b.statement, b.inForce(), b.each); err == nil {
		t.Error("no error for JSON")
	}
	if err := statement.WriteCSV(full{}, &b.statement, b.inForce(), b.each); err == nil {
		t.Error("no error for CSV")
	}
}

// Two scripts of other people's tools find the same hashes, and the row that was
// changed.
func TestScripts(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("THE HASHES ARE NOT CHECKED BY OTHER TOOLS: python3 is not installed")
	}
	for seed := range uint64(2) {
		b := sample(seed, 31, 4, ledger.Hash{byte(seed)})
		var csv bytes.Buffer
		if err := statement.WriteCSV(&csv, &b.statement, b.inForce(), b.each); err != nil {
			t.Fatal(err)
		}
		document := b.json(t)
		chain := func(want string, csv, document []byte) {
			t.Helper()
			file := filepath.Join(t.TempDir(), "statement.csv")
			if err := os.WriteFile(file, csv, 0o600); err != nil {
				t.Fatal(err)
			}
			expectScript(t, want, document, "chain.py", file)
		}
		chain(b.statement.Hash.String()+"\n", csv.Bytes(), document)
		for _, other := range []string{"performance", "hold_id"} {
			chain("or the first line has other names", bytes.Replace(csv.Bytes(), []byte("availability"), []byte(other), 1), document)
		}
		expectScript(t, b.statement.Hash.String(), document, "verify.py")
		file := filepath.Join(t.TempDir(), "statement.csv")
		for columns, want := range map[string]string{"availability": b.statement.Hash.String(), "performance": "the seal does not hold"} {
			renamed := bytes.Replace(csv.Bytes(), []byte("availability"), []byte(columns), 1)
			if err := os.WriteFile(file, renamed, 0o600); err != nil {
				t.Fatal(err)
			}
			expectScript(t, want, document, "verify.py", file)
		}
		if seed > 0 {
			continue
		}
		lines := bytes.SplitAfter(csv.Bytes(), []byte("\n"))
		lines[5] = bytes.Replace(lines[5], []byte(","), []byte(",x"), 1)
		chain("row 5 does not hold", bytes.Join(lines, nil), document)
		chain("row 1 does not hold", csv.Bytes(), bytes.Replace(document, []byte(`"2026-10"`), []byte(`"2026-11"`), 1))
		chain("the statement's hash does not hold", csv.Bytes(), bytes.Replace(document, []byte(`:0.777777`), []byte(`:0.777778`), 1))

		older := settle(book(), mustDay("2026-09-01").Month(), ledger.Hash{}, []ledger.Row{randomRow(rand.New(rand.NewPCG(1, 1)), mustDay("2026-09-30"), 1)})
		csv.Reset()
		if err := statement.WriteCSV(&csv, &older.statement, older.inForce(), older.each); err != nil {
			t.Fatal(err)
		}
		chain(older.statement.Hash.String()+"\nthe first line is under no hash", csv.Bytes(), older.json(t))
		expectScript(t, "the seal does not hold", bytes.Replace(document, []byte(`"previous_hash":null`),
			[]byte(`"previous_hash":"`+b.statement.Hash.String()+`"`), 1), "verify.py")
	}
}

func expectScript(t *testing.T, want string, file []byte, script string, args ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "statement")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{filepath.Join("testdata", script)}, args...)
	out, _ := exec.Command("python3", append(args, path)...).CombinedOutput()
	if !strings.Contains(string(out), want) {
		t.Errorf("%s says %s; want %s", script, out, want)
	}
}
