//go:build linux

package torture_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// victim is a database as a killed server leaves it, with its log, and what a
// server that is sound answers about it.
type victim struct {
	files    map[string][]byte // by suffix
	now      time.Time         // by which all servers go, so that they answer alike
	key      harness.Key
	users    []string
	sums     answers // of what is closed
	hotspots answers // what people registered
}

// answers are bodies by what was asked; what was refused is not among them.
type answers map[string]string

var (
	victimOnce sync.Once
	theVictim  *victim
)

// oneVictim makes a victim for all tests: they hurt copies of it.
func oneVictim(t *testing.T) *victim {
	t.Helper()
	victimOnce.Do(func() { theVictim = newVictim(t) })
	if theVictim == nil {
		t.Fatal("another test could not make a victim")
	}
	return theVictim
}

// newVictim makes a network, with a past and with devices, and kills its server.
func newVictim(t *testing.T) *victim {
	t.Helper()
	d := harness.Demonstrate(t, 60)
	v := &victim{files: map[string][]byte{}, key: harness.CreateKey(t, d.File, "admin,rewards:read")}
	db := harness.OpenSQL(t, d.File)
	harness.Eventually(t, "heartbeats and events", func() bool {
		var beats, events int
		err := db.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM journal), (SELECT count(*) FROM events)`).Scan(&beats, &events)
		return err == nil && beats >= 5 && events >= 5
	})
	rows, err := db.QueryContext(t.Context(), `SELECT user_id FROM accounts ORDER BY served DESC LIMIT 3`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var user string
		if err := rows.Scan(&user); err != nil {
			t.Fatal(err)
		}
		v.users = append(v.users, user)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(v.users) < 2 {
		t.Fatalf("%d users, %v", len(v.users), err)
	}
	// The key must not be in the log, of which harm takes the end off.
	if _, err := db.ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "a log that has something in it", func() bool {
		harness.CreateKey(t, d.File, "rewards:read") // devices alone would take long to fill it
		info, err := os.Stat(d.File + "-wal")
		return err == nil && info.Size() > 100_000
	})
	d.Kill()
	v.now = time.Now().UTC().Truncate(time.Second)
	for _, suffix := range []string{"", "-wal"} {
		if v.files[suffix], err = os.ReadFile(d.File + suffix); err != nil || len(v.files[suffix]) == 0 {
			t.Fatalf("there is nothing to damage in %q: %v", "db"+suffix, err)
		}
	}
	v.sums, v.hotspots = v.ask(t, v.start(t, v.copy(t)))
	again, hotspots := v.ask(t, v.start(t, v.copy(t)))
	if !maps.Equal(again, v.sums) || !maps.Equal(hotspots, v.hotspots) || len(v.sums) < 3*len(v.users) || len(v.hotspots) < len(v.users) {
		t.Fatalf("two sound servers do not answer alike, or do not answer: %d and %d sums, %d and %d lists",
			len(v.sums), len(again), len(v.hotspots), len(hotspots))
	}
	return v
}

func (v *victim) copy(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "beacon.db")
	for suffix, content := range v.files {
		if err := os.WriteFile(file+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// run is a server that may refuse to start.
type run struct {
	url  string // empty: it refused
	cmd  *exec.Cmd
	log  *bytes.Buffer
	gone chan struct{}
}

// start runs a server. It must listen or end, and not hang.
func (v *victim) start(t testing.TB, db string) *run {
	t.Helper()
	r := &run{log: &bytes.Buffer{}, gone: make(chan struct{})}
	r.cmd = exec.Command(harness.Binary, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "off", "--rate-limit", "off", "--load-shedding", "off", "--log-level", "warn",
		"--clock-start", v.now.Format(time.RFC3339), "--clock-rate", "0.0001", "--db", db)
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	r.cmd.Stderr = r.log
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		ready <- strings.TrimPrefix(strings.TrimSpace(line), "beacon: listening on ")
		_ = r.cmd.Wait()
		close(r.gone)
	}()
	select {
	case r.url = <-ready:
	case <-time.After(harness.Patience):
		_ = r.cmd.Process.Kill()
		<-r.gone
		t.Fatalf("after %v the server neither listens nor ends: %s", harness.Patience, r.log)
	}
	return r
}

var crashed = regexp.MustCompile(`(?m)^(panic:|fatal error:|goroutine \d+ \[)|"msg":"panic`)

// end stops the server, and answers what it said. It must not have crashed.
func (r *run) end(t testing.TB) string {
	t.Helper()
	_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGTERM) // it may be gone
	select {
	case <-r.gone:
	case <-time.After(harness.Patience):
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		<-r.gone
		t.Errorf("the server does not stop: %s", r.log)
	}
	if found := crashed.FindString(r.log.String()); found != "" {
		t.Errorf("the server crashed: %.3000s", r.log)
	}
	if r.url == "" && (r.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(r.log.String(), "beacon: ")) {
		t.Errorf("the server refused to start with code %d and without a clear word: %s", r.cmd.ProcessState.ExitCode(), r.log)
	}
	return r.log.String()
}

// ask asks a server for what was earned, and for what people registered, and ends it.
func (v *victim) ask(t testing.TB, r *run) (sums, hotspots answers) {
	t.Helper()
	defer r.end(t)
	sums, hotspots = answers{}, answers{}
	if r.url == "" {
		return sums, hotspots
	}
	client := harness.NewClient(t, v.key.Key)
	month := time.Date(v.now.Year(), v.now.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -1)
	for _, user := range v.users {
		for _, path := range []string{
			"/rewards?period=last",
			"/rewards/history?end_date=" + month.Format(time.DateOnly),
			"/rewards/statements/" + month.AddDate(0, 0, -40).Format("2006-01"),
		} {
			if a := client.Do(t.Context(), http.MethodGet, r.url+"/v1/users/"+user+path, nil); a.Status == http.StatusOK {
				sums[user+path] = string(a.Data)
			}
		}
		if a := client.Do(t.Context(), http.MethodGet, r.url+"/v1/users/"+user+"/hotspots?per_page=100", nil); a.Status == http.StatusOK {
			hotspots[user] = registered(t, a.Data)
		}
	}
	return sums, hotspots
}

// registered leaves what people said of hotspots, without what their beats say.
func registered(t testing.TB, data json.RawMessage) string {
	t.Helper()
	var list []harness.Fields
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for _, h := range list {
		delete(h, "metrics")
		delete(h, "status")
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// harm is one way in which a disk fails.
type harm struct {
	suffix string // of the file
	cut    bool
	at     int64
	mask   byte
	sure   bool // it strikes what is read
}

func (h harm) String() string {
	if h.cut {
		return fmt.Sprintf("%q cut at %d", "db"+h.suffix, h.at)
	}
	return fmt.Sprintf("%q with byte %d changed by %#02x", "db"+h.suffix, h.at, h.mask)
}

func (h harm) do(t testing.TB, db string) {
	t.Helper()
	content, err := os.ReadFile(db + h.suffix)
	if err != nil {
		t.Fatal(err)
	}
	if h.cut {
		content = content[:h.at]
	} else {
		content[h.at] ^= h.mask
	}
	if err := os.WriteFile(db+h.suffix, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// randomHarm chooses: two times in three the file, four times in five a byte.
func (v *victim) randomHarm(random *rand.Rand) harm {
	h := harm{cut: random.IntN(5) == 0, mask: 1 << random.IntN(8)}
	if random.IntN(3) == 0 {
		h.suffix = "-wal"
	}
	h.at = random.Int64N(int64(len(v.files[h.suffix])))
	return h
}

// textHarm chooses a byte of an address that someone registered, where the database
// reads it: not in what is free by now, nor in what the log replaces.
func (v *victim) textHarm(t testing.TB, random *rand.Rand) harm {
	t.Helper()
	var list []harness.Fields
	for _, i := range random.Perm(len(v.users)) {
		var some []harness.Fields
		if err := json.Unmarshal([]byte(v.hotspots[v.users[i]]), &some); err != nil {
			t.Fatal(err)
		}
		list = append(list, some...)
	}
	for _, i := range random.Perm(len(list)) {
		location, _ := list[i]["location"].(harness.Fields)
		address, _ := location["address"].(string)
		for from := 0; address != ""; {
			at := bytes.Index(v.files[""][from:], []byte(address))
			if at < 0 {
				break
			}
			h := harm{at: int64(from + at + random.IntN(len(address))), mask: 1 << random.IntN(3), sure: true}
			if v.reads(t, address, h) < v.reads(t, address, harm{}) {
				return h
			}
			from += at + 1
		}
	}
	t.Fatalf("of %d hotspots, no address is in the file", len(list))
	return harm{}
}

// reads is how often the database reads an address after a harm.
func (v *victim) reads(t testing.TB, address string, h harm) (n int) {
	t.Helper()
	file := v.copy(t)
	h.do(t, file)
	db := harness.OpenSQL(t, file)
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM hotspots WHERE address = $1`, address).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// diagnose asks the doctor. It must come to an end, with a verdict.
func diagnose(t testing.TB, db string) (sound bool, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, harness.Binary, "doctor", "--db", db).CombinedOutput()
	exit, failed := err.(*exec.ExitError) //nolint:errorlint // as CombinedOutput gives it
	if crashed.Match(out) || err != nil && (!failed || exit.ExitCode() != 1) {
		t.Errorf("the doctor has no verdict: %v\n%.2000s", err, out)
	}
	return err == nil, string(out)
}

// outcome is what became of a damaged database.
type outcome struct{ refused, withheld, unharmed, changed int }

// TestF04_Corrupt changes a byte, or cuts the end off, of a file and of its log.
// Whatever a server answers about money is right; whatever is wrong is refused, or
// found by the doctor. SQLite keeps no checksums: rows have seals.
func TestF04_Corrupt(t *testing.T) {
	t.Parallel()
	v := oneVictim(t)
	if sound, said := diagnose(t, v.copy(t)); !sound {
		t.Fatalf("the doctor finds a fault where there is none:\n%s", said)
	}
	random := rand.New(rand.NewPCG(level.Seed(t), 4))
	harms := []harm{
		{cut: true, at: 100, sure: true},
		{cut: true, at: 1 << 20, sure: true},
		{at: 18, mask: 0x70},
		{at: 97, mask: 1}, // which version of SQLite wrote the file: nobody needs that
	}
	for range rounds(2, 22, 197) {
		harms = append(harms, v.randomHarm(random))
	}
	for range rounds(1, 4, 30) {
		harms = append(harms, v.textHarm(t, random))
	}
	var all outcome
	var mu sync.Mutex
	var working sync.WaitGroup
	for part := range slices.Chunk(harms, (len(harms)+1)/2) {
		working.Go(func() {
			for _, h := range part {
				o := v.suffer(t, h)
				mu.Lock()
				all = outcome{all.refused + o.refused, all.withheld + o.withheld, all.unharmed + o.unharmed, all.changed + o.changed}
				mu.Unlock()
			}
		})
	}
	working.Wait()
	if all.refused == 0 || all.unharmed == 0 {
		t.Error("nothing was refused, or nothing was answered: the harm is not what it should be")
	}
	t.Logf("of %d: refused at the start %d, some answers refused %d, answered rightly %d, hotspots changed and found %d",
		len(harms), all.refused, all.withheld, all.unharmed, all.changed)
}

// suffer does one harm, and holds server and doctor to what they must do.
func (v *victim) suffer(t *testing.T, h harm) (o outcome) {
	db, other := v.copy(t), v.copy(t)
	h.do(t, db)
	h.do(t, other)
	sound, said := diagnose(t, other)
	r := v.start(t, db)
	sums, hotspots := v.ask(t, r)
	for path, got := range sums {
		if got != v.sums[path] {
			t.Errorf("%v: %s answers a wrong sum\n%.1500s\nwant\n%.1500s\nthe doctor said\n%s", h, path, got, v.sums[path], said)
		}
	}
	switch complete := len(sums) == len(v.sums) && len(hotspots) == len(v.hotspots); {
	case r.url == "":
		if o.refused++; sound {
			t.Errorf("%v: the server refuses to start, and the doctor finds nothing wrong:\n%s\nthe server says: %s", h, said, r.log)
		}
	case !maps.EqualFunc(hotspots, v.hotspots, func(a, b string) bool { return a == b }) && len(hotspots) == len(v.hotspots):
		if o.changed++; sound {
			t.Errorf("%v: hotspots are answered as they never were, and the doctor finds nothing wrong:\n%v\nwant\n%v", h, hotspots, v.hotspots)
		}
	case complete:
		if o.unharmed++; h.sure {
			t.Errorf("%v: all is answered as it was", h)
		}
	default:
		o.withheld++
		if sound {
			t.Errorf("%v: %d of %d answers are refused, and the doctor finds nothing wrong:\n%s\nthe server says: %s",
				h, len(sums)+len(hotspots), len(v.sums)+len(v.hotspots), said, r.log)
		}
	}
	return o
}
