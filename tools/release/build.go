package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// platform is a system that a release is for.
type platform struct {
	os, arch string
	variant  string // of arm
	debian   string // what Debian calls the processor; empty where there is no package
}

var platforms = []platform{
	{os: "linux", arch: "amd64", debian: "amd64"},
	{os: "linux", arch: "arm64", debian: "arm64"},
	{os: "linux", arch: "arm", variant: "7", debian: "armhf"},
	{os: "linux", arch: "riscv64", debian: "riscv64"},
	{os: "darwin", arch: "amd64"},
	{os: "darwin", arch: "arm64"},
	{os: "windows", arch: "amd64"},
	{os: "freebsd", arch: "amd64"},
}

// String is the platform in names of files, such as linux_armv7.
func (p platform) String() string {
	if p.variant != "" {
		return p.os + "_" + p.arch + "v" + p.variant
	}
	return p.os + "_" + p.arch
}

func names() (all []string) {
	for _, p := range platforms {
		all = append(all, p.String())
	}
	return all
}

func platformOf(name string) (platform, error) {
	i := slices.Index(names(), name)
	if i < 0 {
		return platform{}, fmt.Errorf("there is no platform %q: they are %s", name, strings.Join(names(), ", "))
	}
	return platforms[i], nil
}

// program is the program as it was built for a platform.
type program struct {
	platform
	path    string
	source  string // the project
	info    *buildinfo.BuildInfo
	version string    // such as 1.2.3, or of a commit without a tag 0.0.0-20261119104626-8269651bdeab
	at      time.Time // when that was committed: the time of all files
}

// name is the beginning of the names of its files.
func (p program) name() string { return "beacon_" + p.version + "_" + p.String() }

// build compiles the program.
func build(ctx context.Context, source, work string, p platform) (program, error) {
	built := program{platform: p, source: source, path: filepath.Join(work, p.String(), "beacon")}
	if p.os == "windows" {
		built.path += ".exe"
	}
	path, err := filepath.Abs(built.path)
	if err != nil {
		return built, err
	}
	compile := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "./cmd/beacon")
	compile.Dir = source
	compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOOS="+p.os, "GOARCH="+p.arch, "GOARM="+p.variant)
	if out, err := compile.CombinedOutput(); err != nil {
		return built, fmt.Errorf("%s: %w\n%s", p, err, out)
	}
	if built.info, err = buildinfo.ReadFile(built.path); err != nil {
		return built, err
	}
	built.version, built.at = "devel", time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	if v := built.info.Main.Version; strings.HasPrefix(v, "v") {
		built.version, _, _ = strings.Cut(v[1:], "+")
	}
	for _, s := range built.info.Settings {
		switch {
		case s.Key == "vcs.time":
			built.at, err = time.Parse(time.RFC3339, s.Value)
		case s.Key == "vcs.modified" && s.Value == "true":
			fmt.Fprintln(os.Stderr, "release: there are changes that are not committed: this is nothing to publish")
			built.version += "-modified"
		}
	}
	return built, err
}

// licenses returns the licenses of all that is in the program but Beacon itself.
func (p program) licenses() ([]byte, error) {
	var all bytes.Buffer
	fmt.Fprintf(&all, "What %s is made of beside Beacon, with the licenses of each.\n", p.name())
	for _, dep := range p.info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", dep.Path)
		list.Dir = p.source
		folder, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("where is %s: %w", dep.Path, err)
		}
		if err := addLicenses(&all, dep.Path+" "+dep.Version, strings.TrimSpace(string(folder))); err != nil {
			return nil, err
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	if err := addLicenses(&all, p.info.GoVersion, strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	err = addLicenses(&all, "the console", filepath.Join(p.source, "console", "dist", "assets"))
	return all.Bytes(), err
}

// addLicenses adds the files of a module that are its license.
func addLicenses(all *bytes.Buffer, module, folder string) error {
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	found := false
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if f.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, func(word string) bool { return strings.HasPrefix(name, word) }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(all, "\n=== %s: %s ===\n\n%s\n", module, f.Name(), bytes.TrimSpace(text))
		found = true
	}
	if !found {
		return fmt.Errorf("%s has no license", module)
	}
	return nil
}
