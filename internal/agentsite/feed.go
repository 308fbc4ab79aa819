package agentsite

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"

	"github.com/beacon-wifi/beacon/agent"
)

// Feed returns the files of a feed for opkg, by name: packages for OpenWrt up to 24.10 and
// their index, and if there is a secret key, its public key and the signature of the index.
func Feed(secret []byte) (map[string][]byte, error) {
	d, err := newDownloads(agent.Files, "")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	var index bytes.Buffer
	for _, p := range packages {
		name := p.file(d.version)
		body, control, err := p.build(agent.Files, d.version)
		if err != nil {
			return nil, err
		}
		files[name] = body
		about := fmt.Sprintf("Filename: %s\nSize: %d\nSHA256sum: %x\nDescription:", name, len(body), sha256.Sum256(body))
		index.Write(bytes.Replace(control, []byte("Description:"), []byte(about), 1))
		index.WriteString("\n")
	}
	files["Packages"] = index.Bytes()
	if files["Packages.gz"], err = zip(index.Bytes()); err != nil || secret == nil {
		return files, err
	}
	key, err := parseSecret(secret)
	if err != nil {
		return nil, err
	}
	files["Packages.sig"], files["beacon.pub"] = key.sign(index.Bytes()), key.public()
	return files, nil
}

// zip compresses a file, to the same bytes each time.
func zip(body []byte) ([]byte, error) {
	var all bytes.Buffer
	zipped, _ := gzip.NewWriterLevel(&all, gzip.BestCompression) // that level exists
	if _, err := zipped.Write(body); err != nil {
		return nil, err
	}
	err := zipped.Close()
	return all.Bytes(), err
}

// opkg is a package for OpenWrt up to 24.10.
type opkg struct {
	name    string
	what    string // for people
	about   string // the folder of its control file
	scripts []placed
	files   []placed
}

const (
	settings = "openwrt/beacon-agent/files/"
	luci     = "openwrt/luci-app-beacon/"
)

// packages are all of them.
var packages = []opkg{
	{
		"beacon-agent", "package for OpenWrt up to 24.10", "openwrt/ipk/",
		[]placed{
			{"openwrt/ipk/conffiles", "./conffiles", 0o644},
			{"openwrt/ipk/postinst", "./postinst", 0o755},
			{"openwrt/ipk/prerm", "./prerm", 0o755},
		},
		[]placed{
			{settings + "beacon.config", "./etc/config/beacon", 0o600},
			{settings + "beacon-agent.init", "./etc/init.d/beacon-agent", 0o755},
			{settings + "beacon-agent.keep", "./lib/upgrade/keep.d/beacon-agent", 0o644},
			{"beacon-agent", "./usr/sbin/beacon-agent", 0o755},
		},
	},
	{
		"luci-app-beacon", "its page in LuCI, OpenWrt's web interface", luci + "ipk/",
		[]placed{{luci + "ipk/postinst", "./postinst", 0o755}},
		[]placed{
			{luci + "root/usr/share/luci/menu.d/luci-app-beacon.json", "./usr/share/luci/menu.d/luci-app-beacon.json", 0o644},
			{luci + "root/usr/share/rpcd/acl.d/luci-app-beacon.json", "./usr/share/rpcd/acl.d/luci-app-beacon.json", 0o644},
			{luci + "htdocs/luci-static/resources/view/beacon.js", "./www/luci-static/resources/view/beacon.js", 0o644},
		},
	},
}

// file is the name of the package's file.
func (p opkg) file(version string) string { return p.name + "_" + version + "-r1_all.ipk" }

// build returns the package, and its control file.
func (p opkg) build(source fs.FS, version string) (body, control []byte, err error) {
	about := append([]placed{{p.about + "control", "./control", 0o644}}, p.scripts...)
	scripts, err := archive(source, version+"-r1", about)
	if err != nil {
		return nil, nil, err
	}
	data, err := archive(source, version, p.files)
	if err != nil {
		return nil, nil, err
	}
	if control, err = fs.ReadFile(source, p.about+"control"); err != nil {
		return nil, nil, err
	}
	body, err = pack([]member{{"./debian-binary", 0o644, []byte("2.0\n")}, {"./data.tar.gz", 0o644, data}, {"./control.tar.gz", 0o644, scripts}})
	return body, versioned(control, version+"-r1"), err
}
