package main

import (
	"fmt"
	"runtime/debug"
)

type versionCmd struct{}

// Run prints what the Go toolchain recorded in the binary.
func (versionCmd) Run(out *console) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		_, err := fmt.Fprintln(out.stdout, "beacon (built without module information)")
		return err
	}
	version, commit := info.Main.Version, ""
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			commit = " " + s.Value
		}
	}
	_, err := fmt.Fprintf(out.stdout, "beacon %s%s %s\n", version, commit, info.GoVersion)
	return err
}
