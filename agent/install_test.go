//go:build linux

package agent_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/agent"
	"github.com/beacon-wifi/beacon/internal/agentsite"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// fresh is a device without an agent: OpenWrt under BusyBox ash, or Linux with systemd
// under dash. What its services are told is in the file services.
func fresh(t testing.TB, openWrt bool, programs ...string) *box {
	t.Helper()
	shell := "dash"
	if openWrt {
		shell = "busybox ash"
	}
	b := newBox(t, shell, append([]string{"iw"}, programs...)...)
	for _, name := range []string{"cp", "mktemp", "sha256sum", "sh"} {
		switch {
		case openWrt:
			b.install(name, "busybox")
		case name == "sh":
			b.install(name, "dash")
		default:
			b.install(name, name)
		}
	}
	b.env = append(b.env, "TMPDIR="+b.folder)
	b.check(os.RemoveAll(b.path("etc/beacon")))
	if openWrt {
		b.write("etc/openwrt_release", "DISTRIB_ID='OpenWrt'\n")
		b.write("etc/rc.common", `echo "${1##*/} $2" >>"$TEST_ANSWERS/services"`+"\n")
	} else {
		b.check(os.MkdirAll(b.path("run/systemd/system"), 0o755))
		b.script("systemctl", `echo "$*" >>"$TEST_ANSWERS/services"`)
	}
	b.network("wlan0", 3, counters{1, 1, 1, 1})
	b.answer("iw dev", "phy#0\n\tInterface wlan0\n\t\tssid boathouse\n\t\ttype AP\n")
	return b
}

// script makes a program of the device, in place of a link to one of the machine.
func (b *box) script(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.bin, name)
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		b.check(err)
	}
	b.check(os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
}

// sh runs a line as somebody types it.
func (b *box) sh(line string) (printed string, code int) {
	b.t.Helper()
	cmd := b.command()
	cmd.Args = append(slices.Clone(b.shell), "-c", line)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		b.check(err)
	}
	return string(out), code
}

// serving is the site at a URL of its own.
type serving struct {
	*httptest.Server
	site   *agentsite.Site
	change func(path, body string) string // of what is served, if it is not nil
}

func newServing(t testing.TB, change func(path, body string) string) *serving {
	t.Helper()
	s := &serving{change: change}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(s.body(r.URL.Path))) }))
	t.Cleanup(s.Close)
	var err error
	if s.site, err = agentsite.New(agentsite.Config{PublicURL: s.URL}); err != nil {
		t.Fatal(err)
	}
	return s
}

// body returns what a path has, also when the server is gone.
func (s *serving) body(path string) string {
	w := httptest.NewRecorder()
	s.site.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if s.change != nil {
		return s.change(path, w.Body.String())
	}
	return w.Body.String()
}

// files lists what is on the device, with modes, without what is there from the beginning.
func (b *box) files() map[string]fs.FileMode {
	all := filesOf(b.t, b.root)
	for name := range all {
		for _, from := range []string{"proc/", "sys/", "var/", "etc/rc.common", "etc/openwrt_release"} {
			if strings.HasPrefix(name, from) {
				delete(all, name)
			}
		}
	}
	return all
}

func (b *box) services() string {
	text, _ := os.ReadFile(filepath.Join(b.answers, "services"))
	return string(text)
}

// One command on a new device: the agent is installed from a real server, linked, and its
// heartbeats bring the hotspot online. The same command without a code is an upgrade.
func TestInstall(t *testing.T) {
	server := harness.Start(t, harness.NewDatabase(t, "sqlite"))
	admin := harness.NewClient(t, harness.CreateKey(t, server.DB, "admin").Key)
	for i, c := range []struct {
		system, client, fetch string
		files                 map[string]fs.FileMode
		services              string
	}{
		{
			"OpenWrt", "uclient-fetch", "uclient-fetch -q -O -",
			map[string]fs.FileMode{
				"usr/sbin/beacon-agent": 0o755, "etc/init.d/beacon-agent": 0o755, "lib/upgrade/keep.d/beacon-agent": 0o644, "etc/config/beacon": 0o600, "etc/beacon/device": 0o600,
			},
			"beacon-agent enable\nbeacon-agent restart\n",
		},
		{
			"systemd", "wget", "wget -qO-",
			map[string]fs.FileMode{
				"usr/sbin/beacon-agent": 0o755, "usr/lib/systemd/system/beacon-agent.service": 0o644, "etc/beacon/agent.conf": 0o600, "etc/beacon/device": 0o600,
			},
			"daemon-reload\nenable beacon-agent\nrestart beacon-agent\n",
		},
	} {
		t.Run(c.system, func(t *testing.T) {
			t.Parallel()
			b := fresh(t, c.system == "OpenWrt", c.client)
			device := &harness.Device{SSID: "net", MAC: harness.MACOf(i)}
			device.Hotspot = admin.MustRegister(t, server, i)
			lat, lng := harness.PlaceOf(i)
			admin.Ask(t, http.MethodPost, server.URL+"/v1/hotspots/"+device.Hotspot+"/verification",
				harness.Fields{"lat": lat, "lng": lng, "accuracy_m": 5, "method": "gps"})
			command := c.fetch + " " + server.URL + "/agent/install | sh -s --"

			printed, exit := b.sh(command + " -m " + device.MAC + " WRONG-CODE")
			if exit == 0 || !strings.Contains(printed, "refused: ") || !strings.HasSuffix(printed, "beacon-agent: the agent runs, but this device is not linked\n") {
				t.Fatalf("with a wrong code it exits with %d and says %s", exit, printed)
			}
			b.check(os.RemoveAll(filepath.Join(b.answers, "services")))
			printed, exit = b.sh(command + " -m " + device.MAC + " " + admin.LinkCode(t, server, device))
			want := fmt.Sprintf("beacon-agent %s is installed again\nlinked to %s at %s\nThe first heartbeat is sent within a minute: \"beacon-agent status\" tells of it.\n", agent.Version(), device.Hotspot, server.URL)
			if exit != 0 || printed != want {
				t.Fatalf("it exits with %d and says\n%swant\n%s", exit, printed, want)
			}
			if got := b.files(); fmt.Sprint(got) != fmt.Sprint(c.files) {
				t.Errorf("the device has %v; want %v", got, c.files)
			}
			if info, err := os.Stat(b.path("etc/beacon")); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the folder of the key has %v %v", info, err)
			}
			if got := b.services(); got != c.services {
				t.Errorf("the services are told %q; want %q", got, c.services)
			}
			b.run()
			harness.Eventually(t, "the hotspot is online", func() bool {
				return harness.ReadingOf(admin.Ask(t, http.MethodGet, server.URL+"/v1/hotspots/"+device.Hotspot, nil)).Status == "online"
			})

			// An upgrade keeps settings and the link.
			old := strings.Replace(read(t, "beacon-agent"), "VERSION="+agent.Version(), "VERSION=0.9.0", 1)
			b.write("usr/sbin/beacon-agent", old)
			settings := map[bool]string{true: "etc/config/beacon", false: "etc/beacon/agent.conf"}[c.system == "OpenWrt"]
			b.write(settings, "interface=wlan0\n")
			link := read(t, b.path("etc/beacon/device"))
			printed, exit = b.sh(command)
			if want := "beacon-agent 0.9.0 is now " + agent.Version() + "\nThe first heartbeat"; exit != 0 || !strings.HasPrefix(printed, want) {
				t.Errorf("an upgrade exits with %d and says %s", exit, printed)
			}
			if read(t, b.path("usr/sbin/beacon-agent")) != read(t, "beacon-agent") || read(t, b.path(settings)) != "interface=wlan0\n" || read(t, b.path("etc/beacon/device")) != link {
				t.Error("the upgrade left the old agent, or changed settings or the link")
			}
			if got := b.files(); fmt.Sprint(got) != fmt.Sprint(c.files) {
				t.Errorf("after the upgrade the device has %v", got)
			}
			b.check(os.Remove(filepath.Join(b.bin, "iw")))
			printed, exit = b.sh(command + " -m " + device.MAC + " WRONG-CODE")
			if exit != 1 || !strings.HasSuffix(printed, "beacon-agent: the agent runs, and this device stays linked as it was\n") ||
				strings.Contains(printed, "apt install iw") != (c.system == "systemd") || read(t, b.path("etc/beacon/device")) != link {
				t.Errorf("with a wrong code it exits with %d and says %s", exit, printed)
			}
		})
	}
}

// What a firmware upgrade of OpenWrt keeps: everything, since it is no package there.
func TestInstall_Keep(t *testing.T) {
	b := fresh(t, true, "curl")
	if printed, exit := b.sh("curl -s " + newServing(t, nil).URL + "/agent/install | sh"); exit != 0 || !strings.Contains(printed, "Now link this device: beacon-agent link -u http://127.0.0.1:") {
		t.Fatalf("%d %s", exit, printed)
	}
	kept := strings.Fields(read(t, b.path("lib/upgrade/keep.d/beacon-agent")))
	for name := range b.files() {
		if !strings.HasPrefix(name, "etc/config/") && !slices.Contains(kept, "/"+name) {
			t.Errorf("%s is not kept, only %v", name, kept)
		}
	}
	if !slices.Contains(kept, "/etc/beacon/") || !slices.Contains(kept, "/etc/rc.d/S99beacon-agent") {
		t.Errorf("only %v is kept", kept)
	}
}

// Whatever goes wrong before the files are in their places changes nothing, and the script
// says what to do.
func TestInstall_Fails(t *testing.T) {
	level.Repeats(t)
	// change changes a file on the way.
	change := func(file, from, to string) func(path, body string) string {
		return func(path, body string) string {
			if path == "/agent/"+file {
				return strings.Replace(body, from, to, 1)
			}
			return body
		}
	}
	for name, c := range map[string]struct {
		change  func(path, body string) string
		gone    bool // the server, when the script is there
		prepare func(b *box)
		want    string
	}{
		"a changed file":        {change: change("beacon-agent", "VERSION", "true; VERSION"), want: "beacon-agent is not the file that belongs to this script"},
		"a cut file":            {change: change("beacon-agent", "*) usage ;;\nesac\n", ""), want: "its SHA-256 sum is wrong.\nNothing is changed. Try again"},
		"a sum that is missing": {change: change("install", "  beacon-agent\n", "  another\n"), want: "beacon-agent is not the file that belongs to this script"},
		"a public http URL":     {change: change("install", "URL='http://", "URL='http://wifi."), want: "is not https: http://wifi."},
		"no network":            {gone: true, want: "cannot download http://127.0.0.1:"},
		"a read-only disk":      {prepare: func(b *box) { b.write("usr/sbin", "") }, want: "usr/sbin. Nothing is changed: make room, or make the disk writable"},
		"a full disk":           {prepare: func(b *box) { b.script("cp", `case $2 in *conf*) echo half >"$2"; exit 1 ;; esac; cat "$1" >"$2"`) }, want: "Nothing is changed: make room"},
		"no program":            {prepare: func(b *box) { b.check(os.Remove(filepath.Join(b.bin, "curl"))) }, want: "no program for HTTPS"},
		"no checksums":          {prepare: func(b *box) { b.check(os.Remove(filepath.Join(b.bin, "sha256sum"))) }, want: "no program for checksums"},
		"another system": {prepare: func(b *box) {
			b.check(errors.Join(os.RemoveAll(b.path("run")), os.RemoveAll(b.path("etc/openwrt_release"))))
		}, want: "neither OpenWrt nor Linux with systemd"},
	} {
		for _, openWrt := range []bool{true, false} {
			b := fresh(t, openWrt, "curl")
			server := newServing(t, c.change)
			b.check(os.WriteFile(filepath.Join(b.folder, "install"), []byte(server.body("/agent/install")), 0o600))
			if c.gone {
				server.Close()
			}
			if c.prepare != nil {
				c.prepare(b)
			}
			before := fmt.Sprint(b.files())
			printed, exit := b.sh("sh install K7Q2-M4XD")
			if exit != 1 || !strings.Contains(printed, c.want) || b.services() != "" {
				t.Errorf("%s, OpenWrt %v: it exits with %d, tells services %q and says\n%s", name, openWrt, exit, b.services(), printed)
			}
			if got := fmt.Sprint(b.files()); got != before {
				t.Errorf("%s, OpenWrt %v: it leaves %v; there was %v", name, openWrt, got, before)
			}
			if left, _ := filepath.Glob(filepath.Join(b.folder, "tmp*")); len(left) > 0 {
				t.Errorf("%s, OpenWrt %v: it leaves %v", name, openWrt, left)
			}
		}
	}
}

// A download that was cut at any place does nothing, or all of it.
func TestInstall_Cut(t *testing.T) {
	level.Repeats(t)
	script := newServing(t, nil).body("/agent/install")
	end := strings.LastIndex(script, "{ main")
	if end < 0 {
		t.Fatal("the script does not end with main")
	}
	for _, shell := range shells {
		b := fresh(t, strings.HasPrefix(shell, "busybox"), "curl")
		before := fmt.Sprint(b.files())
		for n := 0; n < len(script)-2; {
			b.check(os.WriteFile(filepath.Join(b.folder, "install"), []byte(script[:n]), 0o600))
			if printed, _ := b.sh("sh install K7Q2-M4XD"); strings.Contains(printed, "beacon-agent:") || fmt.Sprint(b.files()) != before {
				t.Fatalf("%s: the first %d of %d bytes do something: %s", shell, n, len(script), printed)
			}
			if n++; n < end {
				n += 400
			}
		}
	}
}

// What a package has installed stays as it is, and the device is linked all the same.
func TestInstall_Package(t *testing.T) {
	for tool, c := range map[string]struct {
		openWrt bool
		says    string
	}{"dpkg-query": {false, `echo "install ok installed"`}, "opkg": {true, `echo "Status: install user installed"`}, "apk": {true, `[ "$*" = "info -e beacon-agent" ]`}} {
		b := fresh(t, c.openWrt, "curl")
		b.script(tool, c.says)
		b.write("usr/sbin/beacon-agent", `echo "agent $*"`)
		before := b.files()
		printed, exit := b.sh("curl -s " + newServing(t, nil).URL + "/agent/install | sh -s -- -m 02:00:00:00:00:01 K7Q2-M4XD")
		if exit != 0 || !strings.Contains(printed, "stays as it is") || !strings.Contains(printed, "agent link -u http://127.0.0.1:") || !strings.Contains(printed, " -m 02:00:00:00:00:01 K7Q2-M4XD\n") {
			t.Errorf("%s: it exits with %d and says %s", tool, exit, printed)
		}
		if got := b.files(); fmt.Sprint(got) != fmt.Sprint(before) || b.services() == "" {
			t.Errorf("%s: the device has %v, and the services were told %q", tool, got, b.services())
		}
	}
}
