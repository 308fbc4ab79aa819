// Package architecture holds the code to what the project says of itself: which
// package may import which, that each fuzz target has a corpus, and that each test and
// each decision that is named exists.
package architecture_test

import (
	"os"
	"testing"
)

// The tests read the project's files from its root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
