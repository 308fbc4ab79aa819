package agentsite

import (
	"archive/tar"
	"bytes"
	"crypto/md5" // dpkg knows no other
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// placed is a file of the agent in a package.
type placed struct {
	source string
	path   string // with ./ before it, as packages have it
	mode   int64
}

// built is the time of all files in packages, so that two servers make the same bytes.
var built = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// debian returns the package for Debian, Ubuntu and Raspberry Pi OS.
func debian(source fs.FS, version string) ([]byte, error) {
	installed, err := read(source, []placed{
		{"linux/agent.conf", "./etc/beacon/agent.conf", 0o600},
		{"linux/beacon-agent.service", "./usr/lib/systemd/system/beacon-agent.service", 0o644},
		{"beacon-agent", "./usr/sbin/beacon-agent", 0o755},
		{"linux/debian/copyright", "./usr/share/doc/beacon-agent/copyright", 0o644},
		{"linux/debian/lintian-overrides", "./usr/share/lintian/overrides/beacon-agent", 0o644},
	}, version)
	if err != nil {
		return nil, err
	}
	about, err := read(source, []placed{
		{"linux/debian/control", "./control", 0o644},
		{"linux/debian/conffiles", "./conffiles", 0o644},
		{"linux/debian/postinst", "./postinst", 0o755},
		{"linux/debian/prerm", "./prerm", 0o755},
		{"linux/debian/postrm", "./postrm", 0o755},
	}, version)
	if err != nil {
		return nil, err
	}
	changes, err := changelog(about[0].body, version)
	if err != nil {
		return nil, err
	}
	installed = append(installed, member{"./usr/share/doc/beacon-agent/changelog.gz", 0o644, changes})
	data, err := pack(foldered(installed))
	if err != nil {
		return nil, err
	}
	control, err := pack(foldered(append(about, member{"./md5sums", 0o644, md5sums(installed)})))
	if err != nil {
		return nil, err
	}
	// An ar archive: its members begin at even offsets.
	var all bytes.Buffer
	all.WriteString("!<arch>\n")
	for _, member := range []struct {
		name string
		body []byte
	}{{"debian-binary", []byte("2.0\n")}, {"control.tar.gz", control}, {"data.tar.gz", data}} {
		fmt.Fprintf(&all, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", member.name, built.Unix(), 0, 0, "100644", len(member.body))
		all.Write(member.body)
		if len(member.body)%2 == 1 {
			all.WriteByte('\n')
		}
	}
	return all.Bytes(), nil
}

// changelog returns the changelog of the package, signed by the maintainer in its control file.
func changelog(control []byte, version string) ([]byte, error) {
	_, rest, _ := strings.Cut(string(control), "\nMaintainer: ")
	maintainer, _, _ := strings.Cut(rest, "\n")
	return zip(fmt.Appendf(nil, "beacon-agent (%s) unstable; urgency=medium\n\n  * See https://github.com/beacon-wifi/beacon/blob/main/CHANGELOG.md\n\n -- %s  %s\n",
		version, maintainer, built.Format(time.RFC1123Z)))
}

// md5sums lets dpkg see whether a file has changed since it was installed. Settings may.
func md5sums(files []member) (all []byte) {
	for _, f := range files {
		if !strings.HasPrefix(f.name, "./etc/") {
			all = fmt.Appendf(all, "%x  %s\n", md5.Sum(f.body), strings.TrimPrefix(f.name, "./"))
		}
	}
	return all
}

// archive packs files, with their folders. The control file gets the version.
func archive(source fs.FS, version string, files []placed) ([]byte, error) {
	members, err := read(source, files, version)
	if err != nil {
		return nil, err
	}
	return pack(foldered(members))
}

// read returns the files. The control file gets the version.
func read(source fs.FS, files []placed, version string) (members []member, err error) {
	for _, f := range files {
		body, err := fs.ReadFile(source, f.source)
		if err != nil {
			return nil, err
		}
		if f.path == "./control" {
			body = versioned(body, version)
		}
		members = append(members, member{f.path, f.mode, body})
	}
	return members, nil
}

// foldered returns files with the folders they are in, each before what is in it.
func foldered(files []member) []member {
	members := []member{{"./", 0o755, nil}}
	known := map[string]bool{"./": true}
	for _, f := range files {
		for i, c := range f.name {
			if folder := f.name[:i+1]; c == '/' && !known[folder] {
				known[folder] = true
				members = append(members, member{folder, folderMode(folder), nil})
			}
		}
		members = append(members, f)
	}
	return members
}

// versioned adds the version to a control file.
func versioned(control []byte, version string) []byte {
	return bytes.Replace(control, []byte("\n"), []byte("\nVersion: "+version+"\n"), 1)
}

// folderMode: the key of the device is in a folder that only root can read.
func folderMode(folder string) int64 {
	if path.Clean(folder) == "etc/beacon" {
		return 0o700
	}
	return 0o755
}

// member is a file of an archive, or a folder, whose name ends in a slash.
type member struct {
	name string
	mode int64
	body []byte
}

// pack returns a compressed archive, which has the same bytes each time.
func pack(members []member) ([]byte, error) {
	var all bytes.Buffer
	archive := tar.NewWriter(&all)
	for _, m := range members {
		kind := byte(tar.TypeReg)
		if strings.HasSuffix(m.name, "/") {
			kind = tar.TypeDir
		}
		header := &tar.Header{Typeflag: kind, Name: m.name, Mode: m.mode, Size: int64(len(m.body)), ModTime: built, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(m.body); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return zip(all.Bytes())
}
