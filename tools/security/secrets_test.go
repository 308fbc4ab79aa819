package security_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/tools/security"
)

const root = "../.."

// mint makes a key of a person and one of a device.
func mint() (person, device string) {
	_, person = access.Mint(time.Now(), beacon.Key{})
	device, _ = access.MintDevice("hs_01kb3gzk00e9x8q6s5t4v3w2y1")
	return person, device
}

// What opens something is found wherever it stands; what only looks like it is not.
func TestSecrets(t *testing.T) {
	person, device := mint()
	for text, want := range map[string]int{
		person: 1, device: 1, "curl -H 'Authorization: Bearer " + person + "'\n": 1, person + "\n" + device: 2, "x" + person + "x": 1,
		"-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaA": 1, "-----BEGIN " + "PRIVATE KEY-----": 1,
		"token = ghp_" + strings.Repeat("a1B2", 9): 1, "AKIA" + "IOSFODNN7EXAMPLE": 1,
		person[:len(person)-1]: 0, person[:len(person)-1] + "-": 0, strings.ToUpper(person): 0,
		"bcn_01kb3gzk00e9x8q6s5t4v3w2y1_" + strings.Repeat("A", 36): 0, "svc_test_abcdef": 0, "-----BEGIN PUBLIC KEY-----": 0, "": 0,
	} {
		if got := security.Secrets([]byte(text)); len(got) != want {
			t.Errorf("%.80q: found %v; want %d", text, got, want)
		}
	}
}

// No key of ours, nor one of those that others know by their form, stands in a
// file or in anything that was ever committed.
func TestRepository_HasNoSecrets(t *testing.T) {
	found, files, err := security.ScanTree(root)
	if err != nil {
		t.Skipf("SKIPPED, the sources were NOT searched for keys: %v", err)
	}
	past, objects, err := security.ScanHistory(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("searched %d files and %d objects of the history", files, objects)
	if files < 500 || objects < 500 {
		t.Errorf("searched %d files and %d objects only", files, objects)
	}
	for _, p := range append(found, past...) {
		t.Errorf("%s has %s: %.12s… – if it opens anything, revoke it; then take it out", p.Where, p.What, p.Text)
	}
}

// A key that is planted is found: in a file that is not yet added, in one that is,
// and for ever after it was committed, also in a message.
func TestRepository_PlantedKeyIsFound(t *testing.T) {
	repo := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.org"}, args...)...)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	want := func(when string, inTree, inHistory int) {
		t.Helper()
		tree, _, err := security.ScanTree(repo)
		if err != nil {
			t.Fatal(err)
		}
		history, _, err := security.ScanHistory(repo)
		if err != nil {
			t.Fatal(err)
		}
		if len(tree) != inTree || len(history) != inHistory {
			t.Errorf("%s: found %v in the files and %v in the history; want %d and %d", when, tree, history, inTree, inHistory)
		}
	}
	person, device := mint()
	file := filepath.Join(repo, "notes with ümlaut.txt")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q")
	write("nothing")
	run("add", ".")
	run("commit", "-qm", "first")
	want("nothing is planted", 0, 0)
	write("key: " + person)
	want("not committed", 1, 0)
	run("commit", "-qam", "second")
	want("committed", 1, 1)
	write("key: …")
	run("commit", "-qam", "take it out again")
	want("taken out", 0, 1)
	run("commit", "-q", "--allow-empty", "-m", "use "+device)
	want("in a message", 0, 2)
	run("checkout", "-q", "-b", "other")
	if err := os.WriteFile(filepath.Join(repo, "new.txt"), []byte(device), 0o600); err != nil {
		t.Fatal(err)
	}
	want("in a new file", 1, 2)
}
