package agentsite_test

import (
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/agentsite"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func newFeed(t testing.TB, secret []byte) map[string][]byte {
	t.Helper()
	files, err := agentsite.Feed(secret)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The index names each package with its size and sum, as opkg wants to read it.
func TestFeed(t *testing.T) {
	files := newFeed(t, nil)
	if again := newFeed(t, nil); !maps.EqualFunc(files, again, bytes.Equal) {
		t.Error("two feeds differ")
	}
	zipped, err := gzip.NewReader(bytes.NewReader(files["Packages.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	if index, err := io.ReadAll(zipped); err != nil || !bytes.Equal(index, files["Packages"]) {
		t.Errorf("Packages.gz has another index: %v", err)
	}
	var listed []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(files["Packages"]), "\n\n"), "\n\n") {
		about := map[string]string{}
		for line := range strings.SplitSeq(entry, "\n") {
			if name, value, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, " ") {
				about[name] = value
			}
		}
		body := files[about["Filename"]]
		sum := sha256.Sum256(body)
		if len(body) == 0 || about["Size"] != strconv.Itoa(len(body)) || about["SHA256sum"] != hex.EncodeToString(sum[:]) || about["Description"] == "" ||
			about["Filename"] != about["Package"]+"_"+about["Version"]+"_"+about["Architecture"]+".ipk" {
			t.Errorf("the index says\n%s", entry)
		}
		listed = append(listed, about["Filename"])
		_, outer := unpack(t, body)
		_, control := unpack(t, outer["./control.tar.gz"])
		if want := strings.Split(entry, "Filename: ")[0]; !strings.HasPrefix(string(control["./control"]), want) {
			t.Errorf("the control file of %s is %s", about["Package"], control["./control"])
		}
	}
	listed = append(listed, "Packages", "Packages.gz")
	slices.Sort(listed)
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, listed) {
		t.Errorf("the feed has %v, and its index %v", got, listed)
	}
}

// fields are the parts of a file of usign, by what its source says of them.
func fields(t testing.TB, file []byte, rest int) (comment string, number, body []byte) {
	t.Helper()
	lines := strings.Split(string(file), "\n")
	if len(lines) != 3 || lines[2] != "" {
		t.Fatalf("%q are no two lines", file)
	}
	raw, err := base64.StdEncoding.DecodeString(lines[1])
	if err != nil || len(raw) != 2+8+rest || string(raw[:2]) != "Ed" {
		t.Fatalf("%q: %v", file, err)
	}
	return lines[0], raw[2:10], raw[10:]
}

// secretOf writes a secret key without a passphrase.
func secretOf(key ed25519.PrivateKey, rounds byte) []byte {
	sum := sha512.Sum512(key)
	raw := slices.Concat([]byte("EdBK\x00\x00\x00"), []byte{rounds}, make([]byte, 16), sum[:8], []byte("\x01\x02\x03\x04\x05\x06\x07\xff"), key)
	return []byte("untrusted comment: secret\n" + base64.StdEncoding.EncodeToString(raw) + "\n")
}

// The signature is right by the bare algorithm, and the public key is that of the secret one.
func TestFeed_Signature(t *testing.T) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	files := newFeed(t, secretOf(key, 0))
	comment, number, signature := fields(t, files["Packages.sig"], ed25519.SignatureSize)
	if comment != "untrusted comment: signed by key 01020304050607ff" || hex.EncodeToString(number) != "01020304050607ff" || !ed25519.Verify(public, files["Packages"], signature) {
		t.Errorf("the signature is %s", files["Packages.sig"])
	}
	if _, number, got := fields(t, files["beacon.pub"], ed25519.PublicKeySize); !bytes.Equal(got, public) || number[7] != 0xff {
		t.Errorf("the public key is %s", files["beacon.pub"])
	}
	damaged, err := base64.StdEncoding.DecodeString(strings.Split(string(secretOf(key, 0)), "\n")[1])
	if err != nil {
		t.Fatal(err)
	}
	damaged[50]++
	for want, secret := range map[string][]byte{
		"has a passphrase": secretOf(key, 42), "its checksum is wrong": []byte("x\n" + base64.StdEncoding.EncodeToString(damaged)),
		"not a secret key": files["beacon.pub"], "this is not a secret": {},
	} {
		if _, err := agentsite.Feed(secret); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// What make agent writes, with a key that signify made, signify finds right.
func TestFeed_Signify(t *testing.T) {
	level.Tool(t, "signify-openbsd", "signify-openbsd")
	folder := t.TempDir()
	run := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "BEACON_FEED_KEY="+filepath.Join(folder, "key.sec"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out := filepath.Join(folder, "feed")
	verify := func(public string) error {
		_, err := run("signify-openbsd", "-V", "-q", "-p", public, "-x", filepath.Join(out, "Packages.sig"), "-m", filepath.Join(out, "Packages"))
		return err
	}
	for _, step := range [][]string{
		{"signify-openbsd", "-G", "-n", "-p", filepath.Join(folder, "key.pub"), "-s", filepath.Join(folder, "key.sec")},
		{"go", "run", "./feed", "-out", out},
	} {
		if printed, err := run(step[0], step[1:]...); err != nil || printed != "" {
			t.Fatalf("%v: %v: %s", step, err, printed)
		}
	}
	for _, public := range []string{filepath.Join(folder, "key.pub"), filepath.Join(out, "beacon.pub")} {
		if err := verify(public); err != nil {
			t.Errorf("by %s the signature is wrong: %v", public, err)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "Packages"), []byte("Package: other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if verify(filepath.Join(folder, "key.pub")) == nil {
		t.Error("signify finds nothing wrong with anything")
	}
	t.Setenv("BEACON_FEED_KEY", "")
	cmd := exec.Command("go", "run", "./feed", "-out", out)
	if printed, err := cmd.CombinedOutput(); err != nil || strings.Count(string(printed), "\n") != 1 || !strings.Contains(string(printed), "not signed") {
		t.Errorf("without a key: %v: %s", err, printed)
	}
	if _, err := os.Stat(filepath.Join(out, "Packages.sig")); err == nil {
		t.Error("the old signature is left")
	}
}
