package main

import (
	"runtime/debug"
	"testing"
)

func TestBuildLine(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v1.2.3"}}
	for _, step := range []struct {
		key, value, want string
	}{
		{"-trimpath", "true", "beacon v1.2.3 go1.26.8"},
		{"vcs.revision", "93229348661f", "beacon v1.2.3 commit 93229348661f go1.26.8"},
		{"vcs.time", "2026-11-15T13:35:02Z", "beacon v1.2.3 commit 93229348661f of 2026-11-15T13:35:02Z go1.26.8"},
		{"GOARCH", "arm64", "beacon v1.2.3 commit 93229348661f of 2026-11-15T13:35:02Z go1.26.8"},
		{"GOOS", "linux", "beacon v1.2.3 commit 93229348661f of 2026-11-15T13:35:02Z go1.26.8 linux/arm64"},
		{"vcs.modified", "true", "beacon v1.2.3 commit 93229348661f of 2026-11-15T13:35:02Z (modified since) go1.26.8 linux/arm64"},
	} {
		info.Settings = append(info.Settings, debug.BuildSetting{Key: step.key, Value: step.value})
		if got := buildLine(info); got != step.want {
			t.Errorf("%s; want %s", got, step.want)
		}
	}
}
