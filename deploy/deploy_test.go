package deploy_test

import (
	"os"
	"os/exec"
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
	harness.CheckUnit(t, "beacon.service", "/usr/local/bin/beacon serve", "20")
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
