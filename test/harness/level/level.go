// Package level says how much a run of the tests does, and which random choices it
// makes. Its invariant: make test and make check make the same choices in every
// run, so that a test that failed fails again; make torture draws new ones and
// prints them.
package level

import (
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// Level is how much is done.
type Level int

const (
	Test    Level = iota // one controlled run of each thing: what every contributor runs
	Check                // several rounds: what must hold before a change lands
	Torture              // as many rounds as it takes, with new random choices each time
)

// Variable names the level in the environment: "test", "check" or "torture".
// Without it the level is Test.
const Variable = "BEACON_TEST_LEVEL"

// SeedVariable repeats the random choices of an earlier run.
const SeedVariable = "BEACON_TEST_SEED"

// Now returns the level of this run.
func Now() Level {
	switch os.Getenv(Variable) {
	case "check":
		return Check
	case "torture":
		return Torture
	default:
		return Test
	}
}

// Rounds returns the number that belongs to the level of this run.
func Rounds(test, check, torture int) int { return [...]int{test, check, torture}[Now()] }

// Needs skips a test for which lower levels have no time.
func Needs(t testing.TB, l Level) {
	t.Helper()
	if Now() < l {
		t.Skipf("only make %s has the time for this", [...]string{"test", "check", "torture"}[l])
	}
}

// Repeats skips a test under the race detector. It is for one that makes the same calls
// many times, with other data, or that computes and shares nothing: the detector would
// find nothing in a long time. make test runs it without.
func Repeats(t testing.TB) {
	t.Helper()
	if race {
		t.Skip("the race detector has nothing to find here")
	}
}

// Seed returns the seed of a test's random choices. It is the same in every run,
// except that make torture draws a new one. It is printed where the test fails.
func Seed(t testing.TB) uint64 {
	t.Helper()
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(t.Name()))
	seed := hash.Sum64()
	if Now() == Torture {
		seed = rand.Uint64()
	}
	if text := os.Getenv(SeedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", SeedVariable, err)
		}
	}
	if Now() == Torture {
		t.Logf("%s=%d", SeedVariable, seed)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat it, set %s=%d", SeedVariable, seed)
		}
	})
	return seed
}

// FixRapid gives the property tests of a package the same choices in every run,
// except in make torture's. A package that uses rapid calls it from an init function
// of its tests.
func FixRapid() {
	if seed := flag.Lookup("rapid.seed"); seed != nil && Now() != Torture {
		_ = seed.Value.Set("1")
	}
}

// Tool is for a test that needs a program beyond Go, PostgreSQL and Chromium. Such a
// test runs from make check on. There a missing program is a failure: a run that
// leaves something out must not pass for one that tested everything.
func Tool(t testing.TB, program, debianPackage string) {
	t.Helper()
	Needs(t, Check)
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("this test needs %s: install the Debian package %s", program, debianPackage)
	}
}
