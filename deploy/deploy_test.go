package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// systemd understands every line of the unit, and finds it well locked up.
func TestUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("the unit was NOT checked: there is no systemd-analyze, and a machine that runs without systemd may have no way to install it")
	}
	unit := filepath.Join(t.TempDir(), "beacon.service")
	text := strings.ReplaceAll(read(t, "beacon.service"), "/usr/local/bin/beacon serve", "/bin/true") // it wants a program that is there
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("systemd-analyze", "verify", unit).CombinedOutput(); err != nil || strings.Contains(string(out), unit) {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := exec.Command("systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=20", unit).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out) // exposed to more than 2.0 of 10
	}
}

// The settings that the files name are settings of the server.
func TestSettings(t *testing.T) {
	help, err := exec.Command(harness.Binary, "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"beacon.service", "Dockerfile"} {
		found := regexp.MustCompile(`BEACON_[A-Z_]+`).FindAllString(read(t, file), -1)
		if len(found) == 0 {
			t.Errorf("%s names no setting", file)
		}
		for _, name := range found {
			if !strings.Contains(string(help), "$"+name) {
				t.Errorf("%s names %s, which the server does not know", file, name)
			}
		}
	}
}
