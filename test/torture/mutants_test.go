//go:build linux

package torture_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// mutant is a way to break Beacon that a test must notice.
type mutant struct {
	name  string // what the broken binary does
	fault string // the test that must fail on it, such as "TestF01_Kill/sqlite"
	in    string // the package of that test, from the project's root; empty: this one
	file  string // what is broken, from the project's root
	old   string // stands there exactly once
	new   string
	says  string // what the test must complain of, where it could fail for another reason
	full  bool   // only make torture has the time for the test
}

// mutants are all of them. Each test that belongs to a fault is named by one.
var mutants = slices.Concat(crashMutants, databaseMutants, doctorMutants, loadMutants, modelMutants, rewardsMutants, trustMutants)

var faultName = regexp.MustCompile(`^TestF\d\d_`)

// The sources change: a mutant whose place is gone breaks nothing any more.
func TestMutants_Apply(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants {
		if _, err := m.source(); err != "" {
			t.Errorf("%s: %s", m.name, err)
		}
		if names[m.name] || m.in == "" && !faultName.MatchString(m.fault) {
			t.Errorf("%s is there twice, or names no test of a fault: %s", m.name, m.fault)
		}
		names[m.name] = true
	}
}

// Every fault has a mutant.
func TestMutants_EachFault(t *testing.T) {
	list := exec.Command(os.Args[0], "-test.list", faultName.String())
	list.Env = append(os.Environ(), harness.BinaryVariable+"="+harness.Binary) // it need not build another
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for test := range strings.FieldsSeq(string(out)) {
		caught := func(m mutant) bool { name, _, _ := strings.Cut(m.fault, "/"); return name == test }
		if faultName.MatchString(test) && !slices.ContainsFunc(mutants, caught) {
			t.Errorf("%s has no mutant: nothing shows that it can fail", test)
		}
	}
}

// TestMutants breaks the binary in each way, and runs the test that should
// notice: in a process of its own, because it must fail.
func TestMutants(t *testing.T) {
	onlyFull(t)
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel() // most of them wait
			ctx, cancel := context.WithTimeout(t.Context(), mutantTime)
			defer cancel()
			out, err := m.command(ctx, t).CombinedOutput()
			switch {
			case err == nil:
				t.Errorf("%s passes on a binary that is broken:\n%s", m.fault, last(out))
			case !strings.Contains(string(out), "--- FAIL: "):
				t.Errorf("%s did not fail, it broke down: %v\n%s", m.fault, err, last(out))
			case !strings.Contains(string(out), m.says):
				t.Errorf("%s failed, but not because %q:\n%s", m.fault, m.says, first(out))
			default:
				t.Logf("caught:\n%s", first(out))
			}
		})
	}
}

// command runs the test on what is broken.
func (m mutant) command(ctx context.Context, t *testing.T) *exec.Cmd {
	t.Helper()
	overlay := m.overlay(t)
	if m.in != "" {
		test := exec.CommandContext(ctx, "go", "test", "-count=1", "-overlay", overlay, "-run", exactly(m.fault), "./"+m.in)
		test.Dir = harness.Root()
		test.Env = append(os.Environ(), level.Variable+"=test")
		return test
	}
	binary := filepath.Join(filepath.Dir(overlay), "beacon")
	if err := harness.Build(binary, "-overlay", overlay); err != nil {
		t.Fatal(err)
	}
	test := exec.CommandContext(ctx, os.Args[0], "-test.run", exactly(m.fault), "-test.timeout", mutantTime.String())
	depth := "check"
	if m.full {
		depth = "torture"
	}
	test.Env = append(os.Environ(), harness.BinaryVariable+"="+binary, harness.OverlayVariable+"="+overlay, level.Variable+"="+depth, harness.PatienceVariable+"=1m")
	return test
}

var mutantTime = 2 * harness.Patience

// exactly is the pattern that runs one test and the tests in it.
func exactly(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

func last(out []byte) []byte { return out[max(0, len(out)-2000):] }

// first is what a test complained of first.
func first(out []byte) []byte {
	out = out[max(0, bytes.Index(out, []byte("--- FAIL: "))):]
	return out[:min(len(out), 2000)]
}

// source is the broken file.
func (m mutant) source() (text, problem string) {
	original, err := os.ReadFile(filepath.Join(harness.Root(), m.file))
	if err != nil {
		return "", err.Error()
	}
	if n := strings.Count(string(original), m.old); n != 1 || m.old == m.new {
		return "", "what it breaks is not there once in " + m.file
	}
	return strings.Replace(string(original), m.old, m.new, 1), ""
}

// overlay names the broken file in place of the sound one; the sources stay as they are.
func (m mutant) overlay(t *testing.T) string {
	t.Helper()
	text, problem := m.source()
	if problem != "" {
		t.Fatal(problem)
	}
	folder := t.TempDir()
	broken := filepath.Join(folder, filepath.Base(m.file))
	overlay := filepath.Join(folder, "overlay.json")
	table, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(harness.Root(), m.file): broken}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{broken: []byte(text), overlay: table} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}
