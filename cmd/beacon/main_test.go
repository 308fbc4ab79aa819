package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

// The test binary doubles as the command: scripts and tests that execute
// "beacon" run this package's own main.
func TestMain(m *testing.M) {
	if err := os.Setenv("BEACON_LOAD_SHEDDING", "off"); err != nil { // a busy machine is no fault of the server's
		panic(err)
	}
	testscript.Main(m, map[string]func(){"beacon": main, "move-killed": moveKilled})
}

func TestScripts(t *testing.T) {
	level.Repeats(t) // each command is a process of its own
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: scriptCommands()})
}
