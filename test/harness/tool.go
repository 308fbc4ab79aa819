package harness

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// RunTool runs a program other than beacon in a folder, and fails the test where it
// fails. env is added to the environment.
func RunTool(t testing.TB, folder string, env []string, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute) // one that keeps something open never ends
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Minute
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// CheckUnit checks that systemd understands every line of a unit, and finds it exposed to
// no more than a threshold, in tenths. program is what the unit starts: systemd wants
// one that exists, so another takes its place.
func CheckUnit(t *testing.T, file, program, threshold string) {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("the unit was NOT checked: there is no systemd-analyze, and a machine that runs without systemd may have no way to install it")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(unit, []byte(strings.ReplaceAll(string(text), program, "/bin/true")), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("systemd-analyze", "verify", unit).CombinedOutput(); err != nil || strings.Contains(string(out), unit) {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := exec.Command("systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold="+threshold, unit).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
