package level

import (
	"os/exec"
	"testing"
)

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
