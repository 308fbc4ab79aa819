package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

const maintainer = "The authors of Beacon <beacon-wifi@users.noreply.github.com>"

// debian writes the package for Debian and Ubuntu, if the platform has one.
func debian(p program, out string) error {
	if p.debian == "" {
		return nil
	}
	staged := filepath.Join(filepath.Dir(p.path), "debian")
	if err := os.MkdirAll(staged, 0o755); err != nil {
		return err
	}
	info := &nfpm.Info{
		Name: "beacon", Arch: p.debian, Platform: "linux", Version: debianVersion(p.version), VersionSchema: "none", MTime: p.at,
		Section: "net", Priority: "optional", Maintainer: maintainer, Homepage: "https://github.com/beacon-wifi/beacon",
		Description: "backend of a community Wi-Fi network\n" +
			"Operators register hotspots, devices report in, apps find the nearest one,\n" +
			"maps show what is covered, and operators are paid for what their hotspots\n" +
			"did. One server with an embedded database, or several on PostgreSQL.",
		Overridables: nfpm.Overridables{
			Depends: []string{"init-system-helpers (>= 1.54)"}, Recommends: []string{"ca-certificates"},
			Deb: nfpm.Deb{Compression: "xz"},
			Scripts: nfpm.Scripts{
				PostInstall: filepath.Join(p.source, "deploy/debian/postinst"),
				PreRemove:   filepath.Join(p.source, "deploy/debian/prerm"),
				PostRemove:  filepath.Join(p.source, "deploy/debian/postrm"),
			},
		},
	}
	stage := func(destination string, mode fs.FileMode, body []byte) error {
		path := filepath.Join(staged, strings.ReplaceAll(destination[1:], "/", "-"))
		info.Contents = append(info.Contents, &files.Content{Source: path, Destination: destination, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: p.at}})
		return os.WriteFile(path, body, mode)
	}
	contents, err := p.debianFiles()
	if err != nil {
		return err
	}
	for _, f := range contents {
		if err := stage(f.name, f.mode, f.body); err != nil {
			return err
		}
	}
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(out, fmt.Sprintf("beacon_%s_%s.deb", info.Version, p.debian)))
	if err != nil {
		return err
	}
	return closing(f, deb.Default.Package(info, f))
}

// debianVersion is a version as Debian orders it: what comes before 1.2.3 is 1.2.3~….
func debianVersion(version string) string {
	if version[0] < '0' || version[0] > '9' {
		version = "0~" + version
	}
	return strings.ReplaceAll(strings.Replace(version, "-", "~", 1), "-", ".")
}

// debianFiles are the files of the package, by their places.
func (p program) debianFiles() ([]file, error) {
	var all []file
	add := func(place string, mode fs.FileMode, source string, edit func([]byte) []byte) error {
		body, err := os.ReadFile(source)
		if edit != nil {
			body = edit(body)
		}
		all = append(all, file{place, mode, body})
		return err
	}
	if err := add("/usr/bin/beacon", 0o755, p.path, nil); err != nil {
		return nil, err
	}
	deployed := filepath.Join(p.source, "deploy")
	if err := add("/usr/lib/systemd/system/beacon.service", 0o644, filepath.Join(deployed, "beacon.service"), installed); err != nil {
		return nil, err
	}
	if err := add("/usr/share/doc/beacon/copyright", 0o644, filepath.Join(deployed, "debian", "copyright"), nil); err != nil {
		return nil, err
	}
	if err := add("/usr/share/lintian/overrides/beacon", 0o644, filepath.Join(deployed, "debian", "lintian-overrides"), nil); err != nil {
		return nil, err
	}
	changes := fmt.Sprintf("beacon (%s) unstable; urgency=medium\n\n  * See https://github.com/beacon-wifi/beacon/blob/main/CHANGELOG.md\n\n -- %s  %s\n",
		debianVersion(p.version), maintainer, p.at.UTC().Format(time.RFC1123Z))
	licenses, err := p.licenses()
	return append(all,
		file{"/usr/share/doc/beacon/changelog.gz", 0o644, compressed([]byte(changes))},
		file{"/usr/share/doc/beacon/LICENSES.txt.gz", 0o644, compressed(licenses)},
	), err
}

// installed is the unit for a program that came in a package.
func installed(unit []byte) []byte {
	_, unit, _ = bytes.Cut(unit, []byte("\n\n")) // how to install it
	return bytes.ReplaceAll(unit, []byte("/usr/local/bin/"), []byte("/usr/bin/"))
}

func compressed(body []byte) []byte {
	var all bytes.Buffer
	packed, _ := gzip.NewWriterLevel(&all, gzip.BestCompression) // that level exists
	_, _ = packed.Write(body)                                    // into memory
	_ = packed.Close()
	return all.Bytes()
}
