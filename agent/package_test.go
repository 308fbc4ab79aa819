//go:build linux

package agent_test

import (
	"io/fs"
	"maps"
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

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A small program for small devices, in the language that all of them have.
func TestProgram(t *testing.T) {
	if size := len(read(t, "beacon-agent")); size > 26<<10 {
		t.Errorf("the agent has %d bytes; 26 KB are the most", size)
	}
	for _, shell := range shells {
		words := append(strings.Fields(shell), "-n", "beacon-agent")
		needs(t, words[0], words[0])
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
}

func TestShellcheck(t *testing.T) {
	level.Tool(t, "shellcheck", "shellcheck")
	scripts := []string{"-s", "sh", "beacon-agent", "install", "openwrt/beacon-agent/files/beacon-agent.init", "gluon/gluon-beacon/files/lib/gluon/upgrade/500-beacon"}
	for _, pattern := range []string{"linux/debian/p*", "openwrt/ipk/p*", "openwrt/luci-app-beacon/ipk/p*"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		scripts = append(scripts, found...)
	}
	out, err := exec.Command("shellcheck", scripts...).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// sdk stands for the two files of OpenWrt's SDK that the Makefile includes.
var sdk = map[string]string{
	"rules.mk": `
INSTALL_BIN:=install -m0755
INSTALL_DIR:=install -d -m0755
INSTALL_DATA:=install -m0644
INSTALL_CONF:=install -m0600
`,
	"package.mk": `
define BuildPackage
stage:
	$$(call Package/$(1)/install,$$(STAGE))
conffiles:
	@:$$(info $$(Package/$(1)/conffiles))
endef
`,
}

// The files of the package lie where OpenWrt expects them, and a firmware upgrade keeps
// the settings and the key.
func TestPackage_OpenWrt(t *testing.T) {
	level.Tool(t, "make", "make")
	folder := t.TempDir()
	for name, text := range sdk {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stage := filepath.Join(folder, "stage")
	run := func(target string) string {
		cmd := exec.Command("make", "-s", "-C", "openwrt/beacon-agent", target, "TOPDIR="+folder, "INCLUDE_DIR="+folder, "STAGE="+stage)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	run("stage")
	want := map[string]fs.FileMode{
		"usr/sbin/beacon-agent": 0o755, "etc/init.d/beacon-agent": 0o755, "etc/config/beacon": 0o600, "lib/upgrade/keep.d/beacon-agent": 0o644,
	}
	if got := filesOf(t, stage); !maps.Equal(got, want) {
		t.Errorf("the package has %v; want %v", got, want)
	}
	if got := strings.Fields(run("conffiles")); !slices.Equal(got, []string{"/etc/config/beacon", "/etc/beacon/"}) {
		t.Errorf("settings that a new version of the package keeps: %q", got)
	}
	if got := read(t, filepath.Join(stage, "lib/upgrade/keep.d/beacon-agent")); got != "/etc/beacon/\n" {
		t.Errorf("a firmware upgrade keeps %q beside /etc/config", got)
	}
	init := read(t, filepath.Join(stage, "etc/init.d/beacon-agent"))
	for _, line := range []string{"#!/bin/sh /etc/rc.common\n", "\nUSE_PROCD=1\n", "\tprocd_set_param respawn ", "\tprocd_set_param command /usr/sbin/beacon-agent run\n"} {
		if !strings.Contains(init, line) {
			t.Errorf("the init script has no %q", line)
		}
	}
}

func filesOf(t testing.TB, root string) map[string]fs.FileMode {
	t.Helper()
	files := map[string]fs.FileMode{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		files[strings.TrimPrefix(path, root+"/")] = info.Mode()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Both files of settings name all settings that the agent reads, and no others.
func TestSettings(t *testing.T) {
	names := func(file, pattern string) []string {
		found := map[string]bool{}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, file), -1) {
			found[m[1]] = true
		}
		return slices.Sorted(maps.Keys(found))
	}
	want := names("beacon-agent", `\$\(option (\w+)`)
	for file, pattern := range map[string]string{"linux/agent.conf": `(?m)^#(\w+)=`, "openwrt/beacon-agent/files/beacon.config": `(?m)^#\t(?:option|list) (\w+) '`, "../docs/agent.md": "(?m)^\\| `(\\w+)` \\|"} {
		if got := names(file, pattern); !slices.Equal(got, want) {
			t.Errorf("%s names %v; the agent reads %v", file, got, want)
		}
	}
}

// systemd understands every line of the unit, and finds it well locked up.
func TestUnit(t *testing.T) {
	harness.CheckUnit(t, "linux/beacon-agent.service", "/usr/sbin/beacon-agent run", "45")
}
