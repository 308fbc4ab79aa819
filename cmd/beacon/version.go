package main

import (
	"fmt"
	"runtime/debug"
	"strings"
)

type versionCmd struct{}

// Run prints what the Go toolchain recorded in the binary.
func (versionCmd) Run(out *console) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		_, err := fmt.Fprintln(out.stdout, "beacon (built without module information)")
		return err
	}
	_, err := fmt.Fprintln(out.stdout, buildLine(info))
	return err
}

// buildLine describes the commit that a binary was built from, whether the sources
// had been modified, the Go version, and the platform.
func buildLine(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	words := []string{"beacon", info.Main.Version}
	if commit := settings["vcs.revision"]; commit != "" {
		words = append(words, "commit", commit)
	}
	if at := settings["vcs.time"]; at != "" {
		words = append(words, "of", at)
	}
	if settings["vcs.modified"] == "true" {
		words = append(words, "(modified since)")
	}
	words = append(words, info.GoVersion)
	if system := settings["GOOS"]; system != "" {
		words = append(words, system+"/"+settings["GOARCH"])
	}
	return strings.Join(words, " ")
}
