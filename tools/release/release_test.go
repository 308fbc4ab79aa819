//go:build linux

package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// A release for this machine: what make release writes for all platforms.
func TestRelease(t *testing.T) {
	here := "linux_" + runtime.GOARCH
	out, again := filepath.Join(t.TempDir(), "dist"), filepath.Join(t.TempDir(), "dist")
	for _, folder := range []string{out, again} {
		if err := write(t.Context(), "../..", folder, []string{here}); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(t.Context(), "../..", out, []string{here}); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("into the same folder: %v", err)
	}
	first, second := contents(t, out), contents(t, again)
	if !slices.Equal(slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(second))) {
		t.Fatalf("there are %v; a second time %v", slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(second)))
	}
	for name, body := range first {
		if !bytes.Equal(body, second[name]) {
			t.Errorf("%s has other bytes a second time", name)
		}
	}
	command(t, out, "sha256sum", "--check", "--strict", "SHA256SUMS")
	if listed := strings.Count(string(first["SHA256SUMS"]), "\n"); listed != len(first)-1 || listed != 4 {
		t.Errorf("%d checksums of %d files", listed, len(first))
	}
	t.Run("archive", func(t *testing.T) { checkArchive(t, the(t, out, "*.tar.gz"), the(t, out, "*.cdx.json")) })
	t.Run("package", func(t *testing.T) { checkPackage(t, the(t, out, "*.deb")) })
	t.Run("image", func(t *testing.T) { checkImage(t, the(t, out, "*_oci.tar")) })
}

func TestPlatforms(t *testing.T) {
	if err := write(t.Context(), "../..", t.TempDir(), []string{"plan9_mips"}); err == nil || !strings.Contains(err.Error(), "linux_armv7") {
		t.Errorf("an unknown platform: %v", err)
	}
	known := command(t, ".", "go", "tool", "dist", "list")
	for _, p := range platforms {
		if !strings.Contains(known, p.os+"/"+p.arch+"\n") {
			t.Errorf("Go has no %s", p)
		}
	}
}

func TestDebianVersion(t *testing.T) {
	for version, want := range map[string]string{"1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3~rc.1", "0.0.0-20261119104626-8269651bdeab": "0.0.0~20261119104626.8269651bdeab", "devel-modified": "0~devel~modified"} {
		if got := debianVersion(version); got != want {
			t.Errorf("%s is %s; want %s", version, got, want)
		}
	}
}

// contents are the files of a folder.
func contents(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	files, err := os.ReadDir(folder)
	for _, f := range files {
		if all[f.Name()], err = os.ReadFile(filepath.Join(folder, f.Name())); err != nil {
			break
		}
	}
	if err != nil || len(all) == 0 {
		t.Fatal(folder, err)
	}
	return all
}

// the is the one file that a pattern names.
func the(t *testing.T, folder, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

func command(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = folder
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return string(out)
}

// The program in the archive runs, and what it is made of is listed with its licenses.
func checkArchive(t *testing.T, archive, materials string) {
	folder := t.TempDir()
	command(t, folder, "tar", "xzf", archive)
	unpacked := the(t, folder, "*")
	if want := strings.TrimSuffix(filepath.Base(archive), ".tar.gz"); filepath.Base(unpacked) != want {
		t.Errorf("it unpacks into %s; want %s", filepath.Base(unpacked), want)
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "beacon.service"} {
		if info, err := os.Stat(filepath.Join(unpacked, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if said := command(t, unpacked, "./beacon", "version"); !strings.HasPrefix(said, "beacon ") {
		t.Errorf("it says %q", said)
	}
	licenses := contents(t, unpacked)["LICENSES.txt"]
	text, err := os.ReadFile(materials)
	if err != nil {
		t.Fatal(err)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, c := range *bom.Components {
		parts = append(parts, c.PackageURL)
	}
	made := regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)`).FindAllStringSubmatch(command(t, unpacked, "go", "version", "-m", "beacon"), -1)
	if len(made) < 10 || len(parts) != len(made)+1 {
		t.Errorf("%d modules and Go are in the program; %d parts in the bill", len(made), len(parts))
	}
	for _, m := range made {
		if !slices.Contains(parts, "pkg:golang/"+m[1]+"@"+m[2]) {
			t.Errorf("the bill lacks %s", m[1])
		}
		if !bytes.Contains(licenses, []byte("\n=== "+m[1]+" "+m[2]+": ")) {
			t.Errorf("the licenses lack that of %s", m[1])
		}
	}
	for _, other := range []string{"=== go1.", "=== the console: ", "MapLibre"} {
		if !bytes.Contains(licenses, []byte(other)) {
			t.Errorf("the licenses lack %q", other)
		}
	}
}

// checkPackage looks at the package as Debian's own tools do.
func checkPackage(t *testing.T, file string) {
	folder := t.TempDir()
	command(t, folder, "dpkg-deb", "--extract", file, "x")
	command(t, folder, "dpkg-deb", "--control", file, "control")
	unit, err := os.ReadFile(filepath.Join(folder, "x/usr/lib/systemd/system/beacon.service"))
	if err != nil || !strings.HasPrefix(string(unit), "[Unit]\n") || !bytes.Contains(unit, []byte("\nExecStart=/usr/bin/beacon serve\n")) {
		t.Errorf("%v; the unit is %s", err, unit)
	}
	if said := command(t, folder, "x/usr/bin/beacon", "version"); !strings.HasPrefix(said, "beacon ") {
		t.Errorf("it says %q", said)
	}
	command(t, filepath.Join(folder, "x"), "md5sum", "--check", "--strict", "../control/md5sums")
	if _, err := exec.LookPath("lintian"); err != nil {
		t.Log("lintian is not installed")
		return
	}
	if said := command(t, folder, "lintian", "--fail-on", "error,warning", "--allow-root", file); strings.TrimSpace(said) != "" {
		t.Errorf("lintian says %s", said)
	}
}

// checkImage unpacks the image and runs it as a container would: with its files and
// nothing else, as its user, in its environment.
func checkImage(t *testing.T, file string) {
	folder := t.TempDir()
	command(t, folder, "tar", "xf", file)
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	one := theImage(t, theIndex(t, index))
	config, err := one.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "root")
	extract(t, one, root)
	start := func(ctx context.Context, addr string, args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, filepath.Join(root, args[0]), args[1:]...)
		c.Env, c.Dir = append(slices.Clone(config.Config.Env), "BEACON_ADDR="+addr, "BEACON_ADMIN_ADDR=off"), filepath.Join(root, config.Config.WorkingDir)
		if os.Geteuid() == 0 { // or it runs as whoever this is, in the file system that is there
			c.Path, c.Dir = args[0], config.Config.WorkingDir
			c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		} else {
			c.Env = append(c.Env, "BEACON_DB="+filepath.Join(root, "data/beacon.db"))
		}
		return c
	}
	if config.Config.User != "65532:65532" || len(config.Config.Entrypoint) != 1 {
		t.Errorf("the image is started as %+v", config.Config)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var log bytes.Buffer
	server := start(ctx, "127.0.0.1:0", append(slices.Clone(config.Config.Entrypoint), config.Config.Cmd...)...)
	server.Stderr = &log
	said, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	_, addr, ready := strings.Cut(strings.TrimSpace(line), "beacon: listening on http://")
	if err != nil || !ready {
		t.Fatalf("%q, %v: %s", line, err, &log)
	}
	if out, err := start(ctx, addr, config.Config.Healthcheck.Test[1:]...).CombinedOutput(); err != nil || !bytes.Contains(out, []byte(`"ok"`)) {
		t.Errorf("the health check of one that is well: %v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(root, "data/beacon.db")); err != nil {
		t.Error(err)
	}
	_ = server.Process.Signal(syscall.SIGTERM)
	if err := server.Wait(); err != nil {
		t.Errorf("stopped, it says %v: %s", err, &log)
	}
	var failed *exec.ExitError
	if out, err := start(ctx, addr, config.Config.Healthcheck.Test[1:]...).CombinedOutput(); !errors.As(err, &failed) {
		t.Errorf("the health check of one that is gone: %v: %s", err, out)
	}
	if roots, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")); err != nil || bytes.Count(roots, []byte("BEGIN CERTIFICATE")) < 100 {
		t.Errorf("the certificates: %v", err)
	}
}

// theImage is the image of an index that has one, and theIndex the index of such an index.
func theImage(t *testing.T, index v1.ImageIndex) v1.Image {
	t.Helper()
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("%+v, %v", manifest, err)
	}
	if p := manifest.Manifests[0].Platform; p == nil || p.OS != "linux" || p.Architecture != runtime.GOARCH {
		t.Errorf("the image is for %+v", p)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func theIndex(t *testing.T, index v1.ImageIndex) v1.ImageIndex {
	t.Helper()
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("%+v, %v", manifest, err)
	}
	if name := manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"]; !strings.HasPrefix(name, "beacon:") {
		t.Errorf("the image is called %q", name)
	}
	inner, err := index.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return inner
}

func extract(t *testing.T, image v1.Image, root string) {
	t.Helper()
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	all := mutate.Extract(image)
	defer all.Close()
	archive := tar.NewReader(all)
	for {
		header, err := archive.Next()
		if err == io.EOF {
			return
		}
		path := filepath.Join(root, filepath.Clean("/"+header.Name))
		if err == nil && header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else if err == nil {
			var body []byte
			if body, err = io.ReadAll(archive); err == nil {
				if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
					err = os.WriteFile(path, body, 0o600)
				}
			}
		}
		if err == nil {
			err = os.Chmod(path, header.FileInfo().Mode())
		}
		if err == nil && os.Geteuid() == 0 {
			err = os.Chown(path, header.Uid, header.Gid)
		}
		if err != nil {
			t.Fatal(header, err)
		}
	}
}
