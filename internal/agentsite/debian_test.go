package agentsite_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/agent"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// debianPackage writes the package for Debian, and returns its path.
func debianPackage(t testing.TB) string {
	t.Helper()
	name := "beacon-agent_" + agent.Version() + "_all.deb"
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, ask(t, newSite(t, publicURL), "GET", "/agent/"+name, "").Body.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// command runs a program of Debian's and returns what it prints.
func command(t testing.TB, folder string, environment []string, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Env = folder, append(os.Environ(), environment...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%s %v: %v: %s", name, args, err, out)
	}
	return string(out)
}

func TestDebian_Lintian(t *testing.T) {
	level.Tool(t, "lintian", "lintian")
	file := debianPackage(t)
	if said := command(t, t.TempDir(), nil, "lintian", "--fail-on", "error,warning", "--allow-root", file); strings.TrimSpace(said) != "" {
		t.Errorf("lintian says %s", said)
	}
	folder := t.TempDir()
	command(t, folder, nil, "dpkg-deb", "--raw-extract", file, folder)
	command(t, folder, nil, "md5sum", "--check", "--strict", "DEBIAN/md5sums")
}

// In an image that is only being built, no systemd runs. The agent starts when the image
// does, unless whoever built it chose otherwise, and a package that is purged leaves
// nothing of it.
func TestDebian_Image(t *testing.T) {
	level.Tool(t, "deb-systemd-helper", "init-system-helpers")
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	command(t, root, nil, "dpkg-deb", "--raw-extract", debianPackage(t), root)
	script := func(name string, args ...string) {
		t.Helper()
		command(t, root, []string{"DPKG_ROOT=" + root, "DPKG_MAINTSCRIPT_PACKAGE=beacon-agent"}, filepath.Join(root, "DEBIAN", name), args...)
	}
	wanted := filepath.Join(root, "etc/systemd/system/multi-user.target.wants/beacon-agent.service")
	starts := func(want bool) {
		t.Helper()
		if at, err := os.Readlink(wanted); want && (err != nil || at != "/usr/lib/systemd/system/beacon-agent.service") || !want && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the link is %q, %v; want one: %t", at, err, want)
		}
	}
	script("postinst", "configure", "")
	starts(true)
	script("prerm", "upgrade", "2.0")
	script("postinst", "configure", agent.Version())
	starts(true)
	if err := os.Remove(wanted); err != nil { // systemctl disable
		t.Error(err)
	}
	script("postinst", "configure", agent.Version())
	starts(false)
	script("prerm", "remove")
	script("postrm", "remove")
	if _, err := os.Stat(filepath.Join(root, "etc/beacon")); err != nil {
		t.Error("removed, and not purged:", err)
	}
	script("postrm", "purge")
	starts(false)
	for _, gone := range []string{"etc/beacon", "var/lib/systemd/deb-systemd-helper-enabled/beacon-agent.service.dsh-also"} {
		if _, err := os.Stat(filepath.Join(root, gone)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", gone, err)
		}
	}
}
