package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The test binary doubles as the command: scripts and tests that execute
// "beacon" run this package's own main.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"beacon": main})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: scriptCommands()})
}
