package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
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
	harness.CheckUnit(t, "beacon.service", "/usr/local/bin/beacon serve", "20")
}

// The scripts of the Debian package are what every shell understands.
func TestPackage_Scripts(t *testing.T) {
	level.Tool(t, "shellcheck", "shellcheck")
	scripts, err := filepath.Glob("debian/p*")
	if err != nil || len(scripts) != 3 {
		t.Fatal(scripts, err)
	}
	if out, err := exec.Command("shellcheck", append([]string{"-s", "sh"}, scripts...)...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
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
