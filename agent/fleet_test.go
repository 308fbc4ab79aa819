//go:build linux

package agent_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

// Gluon's package lies where Gluon expects it, and its script can be run.
func TestGluon_Package(t *testing.T) {
	level.Tool(t, "make", "make")
	folder := t.TempDir()
	top := filepath.Join(folder, "gluon", "openwrt")
	for name, text := range map[string]string{
		"gluon/openwrt/rules.mk": sdk["rules.mk"],
		"gluon/package/gluon.mk": "define BuildPackageGluon\nstage:\n\tcp -a files/. $$(STAGE)\ndepends:\n\t@:$$(info $$(Package/$(1)))\nendef\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stage := filepath.Join(folder, "stage")
	if out, err := exec.Command("make", "-s", "-C", "gluon/gluon-beacon", "stage", "TOPDIR="+top, "STAGE="+stage).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := filesOf(t, stage); len(got) != 1 || got["lib/gluon/upgrade/500-beacon"] != 0o755 {
		t.Errorf("the package has %v", got)
	}
	out, err := exec.Command("make", "-s", "-C", "gluon/gluon-beacon", "depends", "TOPDIR="+top).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "+beacon-agent") {
		t.Errorf("it needs %s, %v", out, err)
	}
}

// A site's configuration is checked before an image is built.
func TestGluon_Site(t *testing.T) {
	level.Tool(t, "lua5.1", "lua5.1")
	const gluon = `
local function at(path) local v = site; for _, k in ipairs(path) do v = v and v[k] end; return v end
local function match(v, pattern) assert(type(v) == "string" and v:match(pattern)) end
function need_string_match(path, pattern, required) local v = at(path); if v ~= nil or required ~= false then match(v, pattern) end end
function need_string_array_match(path, pattern, required)
	local v = at(path)
	if v ~= nil or required ~= false then for _, one in ipairs(assert(v)) do match(one, pattern) end end
end
site = {beacon = %s}
dofile("gluon/gluon-beacon/check_site.lua")
`
	for site, good := range map[string]bool{
		`{url = "https://beacon.example.org", enrol_key = "bcn_01kb_Ab"}`:          true,
		`{url = "http://10.1.2.3:8080", allow_http = {"10.0.0.0/8", "fd12::/16"}}`: true,
		`{}`: false, `nil`: false, `{url = "beacon.example.org"}`: false, `{url = "https://x", enrol_key = "my key"}`: false,
		`{url = "https://x", allow_http = {"everything"}}`: false, `{url = "https://x", allow_http = {"10.0.0.1"}}`: false,
	} {
		out, err := exec.Command("lua5.1", "-e", fmt.Sprintf(gluon, site)).CombinedOutput()
		if (err == nil) != good {
			t.Errorf("%s: %v %s", site, err, out)
		}
	}
}

// node is a node of Gluon with a site's configuration.
func node(t *testing.T, site string) *box {
	t.Helper()
	b := newBox(t, "busybox ash", "curl", "iw", "uci", "jsonfilter")
	b.script("gluon-show-site", "cat <<'SITE'\n"+site+"\nSITE")
	b.write("lib/gluon/core/sysconfig/primary_mac", "02:00:5e:10:00:05\n")
	b.answer("uci get system.@system[0].hostname", "ff-boathouse\n")
	b.answer("uci get gluon-node-info.@location[0].latitude", "40.7754\n")
	b.answer("uci get gluon-node-info.@location[0].longitude", "-73.9687\n")
	return b
}

func (b *box) upgrade() map[string][]string {
	b.t.Helper()
	if out, exit := b.sh("busybox ash " + filepath.Join(folderOf(b.t), "gluon/gluon-beacon/files/lib/gluon/upgrade/500-beacon") + " && uci -q commit beacon"); exit != 0 {
		b.t.Fatalf("it exits with %d and says %s", exit, out)
	}
	found := map[string][]string{}
	for line := range strings.Lines(read(b.t, b.path("etc/beacon/agent.conf"))) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		found[name] = append(found[name], value)
	}
	return found
}

func folderOf(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// A node gets what its site says, what its owner shares of it, and a key until it is linked.
// With these settings it enrols.
func TestGluon_Upgrade(t *testing.T) {
	o := newOffice(t, response{status: http.StatusOK, body: enrolled})
	b := node(t, `{"site_name": "Freifunk", "wifi24": {"ap": {"ssid": "freifunk.net", "owe_ssid": "owe.freifunk.net"}, "mesh": {"id": "mesh"}}, "wifi5": {"ap": {"ssid": "freifunk.net"}},
		"beacon": {"url": "`+o.url+`", "enrol_key": "`+enrolKey+`", "allow_http": ["10.0.0.0/8", "fd12::/16"]}}`)
	b.install("busybox", "busybox")
	b.network("client0", 5, counters{})
	want := map[string][]string{
		"url": {o.url}, "enrol_key": {enrolKey}, "allow_http": {"10.0.0.0/8", "fd12::/16"}, "mac": {"02:00:5e:10:00:05"},
		"ssid": {"freifunk.net", "owe.freifunk.net"}, "name": {"ff-boathouse"}, "type": {"public"},
	}
	for _, share := range []string{"", "0\n", "1\n"} {
		if share != "" {
			b.answer("uci get gluon-node-info.@location[0].share_location", share)
		}
		if share == "1\n" {
			want["latitude"], want["longitude"] = []string{"40.7754"}, []string{"-73.9687"}
		}
		if got := b.upgrade(); !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("sharing its place %q, the node has %v; want %v", share, got, want)
		}
	}
	b.answer("uci get gluon-node-info.@system[0].pretty_hostname", "Boat house\n")
	if printed, exit := b.do("enrol"); exit != 0 || !strings.HasPrefix(printed, "linked to hs_test") {
		t.Fatalf("it exits with %d and says %s", exit, printed)
	}
	var body struct{ Name, SSID, Type, MAC string }
	if err := json.Unmarshal([]byte(o.seen()[0].body), &body); err != nil || body.SSID != "freifunk.net" || body.Type != "public" || body.Name != "ff-boathouse" {
		t.Errorf("the server got %s", o.seen()[0].body)
	}
	delete(want, "enrol_key")
	want["name"] = []string{"Boat house"}
	if got := b.upgrade(); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("once it is linked, the node has %v; want %v", got, want)
	}
}

// The role for Ansible is YAML of tasks that Ansible knows.
func TestAnsible(t *testing.T) {
	files, err := filepath.Glob("ansible/roles/beacon_agent/*/main.yml")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "ansible/site.yml") {
		var value any
		if _, err := yaml.Unmarshal([]byte(read(t, file)), &value, yaml.DecodeOpts{}); err != nil || value == nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	level.Tool(t, "yamllint", "yamllint")
	if out, err := exec.Command("yamllint", "-d", "{extends: default, rules: {line-length: {max: 120}}}", "ansible").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// With the role, a device is installed on, set up and enrolled from elsewhere, without
// Python and without its key on a command line. Done again, it changes nothing.
func TestAnsible_Run(t *testing.T) {
	level.Tool(t, "ansible-playbook", "ansible-core")
	for _, openWrt := range []bool{false, true} {
		o := newOffice(t, problem(503), response{status: http.StatusOK, body: enrolled})
		programs := []string{"curl"}
		if openWrt {
			programs = append(programs, "uci", "jsonfilter")
		}
		b := fresh(t, openWrt, programs...)
		b.check(os.MkdirAll(b.path("etc/config"), 0o700))
		for _, name := range []string{"cmp", "touch"} {
			b.install(name, name)
		}
		b.script("beacon-agent", "exec sh "+filepath.Join(folderOf(t), "beacon-agent")+` "$@"`)
		b.check(os.MkdirAll(b.path("etc/beacon"), 0o700))
		ansible := filepath.Join(b.folder, "ansible")
		run := func() string {
			cmd := exec.Command("ansible-playbook", "-i", filepath.Join(b.folder, "inventory.json"), "site.yml")
			cmd.Dir = "ansible"
			cmd.Env = append(os.Environ(), "PATH="+ansible+":"+os.Getenv("PATH"), "HOME="+ansible, "ANSIBLE_NOCOLOR=1", "ANSIBLE_LOCAL_TEMP="+ansible+"/tmp", "ANSIBLE_REMOTE_TEMP="+ansible+"/tmp")
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Contains(string(out), enrolKey) {
				t.Fatalf("%v: %s", err, out)
			}
			return string(out)
		}
		// What ssh is told to run on the device runs in its sandbox.
		b.check(os.MkdirAll(ansible, 0o700))
		b.check(os.WriteFile(filepath.Join(ansible, "ssh"), []byte("#!/bin/sh\nfor last; do :; done\nexec env -i PATH="+b.bin+" BEACON_ROOT="+b.root+" TEST_ANSWERS="+b.answers+" sh -c \"$last\"\n"), 0o700))
		vars, err := json.Marshal(map[string]any{
			"beacon_agent_url": o.url, "beacon_agent_enrol_key": enrolKey,
			"beacon_agent_retry_delay": 0, "beacon_agent_mac": "02:00:5e:10:00:77", "beacon_agent_settings": map[string]any{"name": "Joe's boat", "ssid": []string{"Guests", "Our $house"}},
		})
		b.check(err)
		b.check(os.WriteFile(filepath.Join(b.folder, "inventory.json"), fmt.Appendf(nil, `{"access_points": {"hosts": {"router": %s}}}`, vars), 0o600))
		if out := run(); !strings.Contains(out, "changed=2") || !strings.Contains(out, "failed=0") {
			t.Errorf("OpenWrt %v: %s", openWrt, out)
		}
		got := o.seen()
		if len(got) != 2 || got[1].authorization != "Bearer "+enrolKey || len(got[1].visible) > 0 || !strings.Contains(got[1].body, `"02:00:5e:10:00:77"`) ||
			!strings.Contains(got[1].body, `"name":"Joe's boat"`) || !strings.Contains(got[1].body, `"ssid":"Guests"`) {
			t.Errorf("OpenWrt %v: the server got %+v", openWrt, got)
		}
		if conf := read(t, b.path("etc/beacon/agent.conf")); conf != "name=Joe's boat\nssid=Guests\nssid=Our $house\nurl="+o.url+"\n" {
			t.Errorf("OpenWrt %v: the settings are %s", openWrt, conf)
		}
		if out := run(); !strings.Contains(out, "changed=0") || len(o.seen()) != 2 {
			t.Errorf("OpenWrt %v, again: %s", openWrt, out)
		}
	}
}
