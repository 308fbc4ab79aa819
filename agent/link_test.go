//go:build linux

package agent_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// authority is a certificate authority, and makes servers with certificates of it.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().AddDate(1, 0, 0), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a := &authority{certificate: template}
	der := a.sign(t, template, nil)
	var err error
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

// sign makes a certificate; the first one signs itself.
func (a *authority) sign(t testing.TB, template *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	var err error
	if a.key == nil {
		if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			t.Fatal(err)
		}
		key = a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// serve serves a handler over TLS at https://127.0.0.1:…, with a certificate for a host.
func (a *authority) serve(t testing.TB, handler http.Handler, host *url.URL) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "server"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 1, 0),
		DNSNames: []string{"localhost"},
	}
	if host != nil {
		template.DNSNames = []string{host.Hostname()}
	}
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{a.sign(t, template, key)}, PrivateKey: key}}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it is refused on purpose
	server.Listener = distant{server.Listener}
	server.StartTLS()
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// distant is a server that is not on the same machine: it responds a little later. The
// real uclient-fetch fails where a handshake takes no time.
type distant struct{ net.Listener }

func (d distant) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	return distantConn{conn}, err
}

type distantConn struct{ net.Conn }

func (c distantConn) Write(text []byte) (int, error) {
	time.Sleep(10 * time.Millisecond) // that is how far away it is
	return c.Conn.Write(text)
}

// trust makes a device trust the authority.
func (b *box) trust(a *authority, settings ...string) {
	b.write("etc/ssl/ca.pem", string(a.pem))
	b.configure(append(settings, "ca="+b.path("etc/ssl/ca.pem"))...)
}

// inGuide checks that the guide has a transcript, without what differs from run to run.
func inGuide(t testing.TB, transcript string) {
	t.Helper()
	for _, c := range [][2]string{
		{`localhost:\d+`, "beacon.example.org"}, {`hs_[0-9a-z]{26}`, "hs_…"}, {`-m \S+ \S+`, `-m … …`}, {`\d+ seconds ago`, "… seconds ago"}, {`(?m) +$`, ""},
	} {
		transcript = regexp.MustCompile(c[0]).ReplaceAllString(transcript, c[1])
	}
	guide, err := os.ReadFile(filepath.Join(harness.Root(), "docs/agent.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(guide), "\n```text\n"+transcript+"```\n") {
		t.Errorf("docs/agent.md does not have this transcript:\n%s", transcript)
	}
}

// The whole path, over TLS and with each program for HTTP: a device is linked with a
// code, its hotspot goes online, Wi-Fi is restarted twice, and the bytes of the day are
// those that the interfaces carried.
func TestWholePath(t *testing.T) {
	server := harness.Start(t, harness.NewDatabase(t, "sqlite"))
	admin := harness.NewClient(t, harness.CreateKey(t, server.DB, "admin").Key)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	a := newAuthority(t)
	address := a.serve(t, httputil.NewSingleHostReverseProxy(target), nil)
	for i, c := range []struct{ shell, client string }{
		{"busybox ash", "uclient-fetch"}, {"dash", "curl"}, {"dash", "wget"}, {"busybox ash", "curl"},
	}[:level.Rounds(1, 4, 4)] {
		t.Run(c.shell+" with "+c.client, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, c.shell, "ubus", "jsonfilter", "uci", c.client)
			recorded(t, b, "openwrt-24.10-ath11k")
			b.describe()
			b.trust(a)
			b.network("phy0-ap0", 5, counters{9_000_000, 9_000_000, 9_000, 9_000})
			b.network("phy1-ap0", 6, counters{1, 2, 1, 1})
			device := &harness.Device{SSID: "net", MAC: harness.MACOf(i)}
			device.Hotspot = admin.MustRegister(t, server, i)
			lat, lng := harness.PlaceOf(i)
			admin.Ask(t, http.MethodPost, server.URL+"/v1/hotspots/"+device.Hotspot+"/verification",
				harness.Fields{"lat": lat, "lng": lng, "accuracy_m": 5, "method": "gps"})
			code := admin.LinkCode(t, server, device)

			printed, exit := b.do("link", "-u", address+"/", "-m", "02:00:00:00:00:99", code)
			if exit == 0 || !strings.Contains(printed, "refused: ") || !strings.Contains(printed, "02:00:00:00:00:99") {
				t.Fatalf("with a wrong MAC address it said %s", printed)
			}
			printed, exit = b.do("link", "-u", address+"/", "-m", device.MAC, strings.ToLower(code))
			if want := "linked to " + device.Hotspot + " at " + address + "\n"; exit != 0 || printed != want {
				t.Fatalf("it said %s; want %s", printed, want)
			}
			var transcript strings.Builder
			fmt.Fprintf(&transcript, "$ beacon-agent link -u %s -m %s %s\n%s", address, device.MAC, code, printed)
			shown := admin.Ask(t, http.MethodGet, server.URL+"/v1/hotspots/"+device.Hotspot, nil)["device"].(map[string]any)["agent"].(map[string]any)
			if shown["model"] != modelText || shown["firmware"] != "OpenWrt 24.10.4" || shown["radios"] != 2.0 || shown["bssid"] == nil || shown["channel"] == nil {
				t.Errorf("the server knows of the device: %v", shown)
			}
			if info, err := os.Stat(b.path("etc/beacon/device")); err != nil || info.Mode() != 0o600 {
				t.Errorf("the file with the key has the mode %v, %v", info.Mode(), err)
			}

			reading := func() harness.Reading {
				return harness.ReadingOf(admin.Ask(t, http.MethodGet, server.URL+"/v1/hotspots/"+device.Hotspot, nil))
			}
			until := func(bytes uint64) {
				t.Helper()
				harness.Eventually(t, "the server knows the traffic", func() bool { return reading().Bytes >= bytes })
				if got := reading(); got.Bytes != bytes || got.Status != "online" {
					t.Fatalf("the hotspot is %s with %d bytes; want %d", got.Status, got.Bytes, bytes)
				}
				fmt.Fprintf(&transcript, "(the server: %s is online, with %d bytes)\n", device.Hotspot, bytes)
			}
			s := b.run()
			harness.Eventually(t, "the hotspot is online", func() bool { return strings.HasSuffix(s.said(), "online\n") && reading().Status == "online" })
			fmt.Fprintf(&transcript, "$ beacon-agent run\n%s(phy0-ap0 carries 400100 bytes)\n", s.said())
			b.network("phy0-ap0", 5, counters{9_400_000, 9_000_100, 9_400, 9_001})
			until(400_100)
			for restart := range 2 { // wifi: the interfaces are deleted and made again
				b.check(os.RemoveAll(b.path("sys/class/net/phy0-ap0")))
				carried := counters{uint64(70_000 * (restart + 1)), 5_000, 100, 100}
				b.network("phy0-ap0", 7+restart, carried)
				fmt.Fprintf(&transcript, "$ wifi\n(phy0-ap0 is made again and carries %d bytes)\n", carried.rxBytes+carried.txBytes)
				until([]uint64{475_100, 620_100}[restart])
			}
			if got := reading(); got.Connections != 5 {
				t.Errorf("%d connections; want 5", got.Connections)
			}

			printed, exit = b.do("status")
			for _, want := range []string{"linked: " + device.Hotspot + " at " + address, "service: runs", ", 200 online", "clients: 5, median signal -67 dBm", "counted: "} {
				if exit != 0 || !strings.Contains(printed, want) {
					t.Errorf("status exits with %d and does not say %q:\n%s", exit, want, printed)
				}
			}
			fmt.Fprintf(&transcript, "$ beacon-agent status\n%s", printed)
			inGuide(t, transcript.String())
			if text := s.said() + printed; strings.Contains(text, "bcn_") {
				t.Errorf("the key is in what the agent says: %s", text)
			}
			if _, exit := b.do("unlink"); exit != 0 {
				t.Error("it cannot be unlinked")
			}
			harness.Eventually(t, "the agent stops", func() bool { return strings.HasSuffix(strings.TrimSpace(s.said()), "run beacon-agent link") })
		})
	}
}

// Where the key cannot be stored, the code is not used up; and what did not succeed
// leaves nothing behind.
func TestLink_Folder(t *testing.T) {
	for _, shell := range shells {
		b, server := ready(t, shell, "curl")
		b.check(os.Remove(b.path("etc/beacon/device")))
		b.write("etc/beacon/device.new/file", "") // as in a folder that is read-only, also for root
		printed, exit := b.do("link", "-u", server.URL, "K7Q2-M4XD")
		if want := "beacon-agent: " + b.path("etc/beacon") + ": cannot write\n"; exit != 1 || printed != want {
			t.Errorf("%s: it exits with %d and says %q; want %q", shell, exit, printed, want)
		}
		b.check(os.RemoveAll(b.path("etc/beacon/device.new")))
		address := newMux(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
		if printed, exit := b.do("link", "-u", address, "K7Q2-M4XD"); exit != 1 || !strings.Contains(printed, "refused: ") {
			t.Errorf("%s: it exits with %d and says %q", shell, exit, printed)
		}
		left, err := filepath.Glob(b.path("etc/beacon/device*"))
		if b.check(err); len(left) > 0 {
			t.Errorf("%s: a refused link leaves %v", shell, left)
		}
	}
}

// modelText is a model as it may be sent, of a device that has quotes in its name.
const modelText = "Router AX (v2) [x] ~caf"

// describe gives the device files that say what it is.
func (b *box) describe() {
	b.write("tmp/sysinfo/model", "Router \"AX\" (v2)\t [x] \\~café\n")
	b.write("etc/os-release", "NAME=x\nPRETTY_NAME=\"OpenWrt 24.10.4\"\n")
	b.write("sys/class/ieee80211/phy0/index", "0\n")
	b.write("sys/class/ieee80211/phy1/index", "1\n")
}

// The agent says what it runs once a day, and only to a server that accepts it.
func TestReport(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		t.Parallel()
		b := newBox(t, shell, "curl")
		b.describe()
		b.network("wlan0", 3, counters{1, 1, 1, 1})
		b.configure("interface=wlan0")
		server := newScripted(t)
		b.linkTo(server.URL, "link-1")
		b.run()
		knows := response{status: http.StatusOK, body: `{"data":{"status":"online","next_in_s":60,"accepts":{"agent":1,"boot_id":1}},"meta":{}}`}
		for i, answer := range []response{accepted, knows, accepted, knows, knows} {
			beat := server.next(t)
			if sent := beat.Agent != nil; sent != (i == 2) {
				t.Fatalf("beat %d has the agent %v", i, beat.Agent)
			}
			if i == 2 && (beat.Agent["model"] != modelText || beat.Agent["firmware"] != "OpenWrt 24.10.4" || beat.Agent["version"] == nil || beat.Agent["kernel"] == nil) {
				t.Errorf("it says %v", beat.Agent)
			}
			beat.respond(answer)
		}
	})
}

// A key is sent over TLS only, and to the server that it belongs to.
func TestTLS(t *testing.T) {
	reached := func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength >= 0 { // uclient-fetch alone sends chunks, and verifies the name too late
			t.Errorf("a request got through: %s", r.URL)
		}
	}
	a := newAuthority(t)
	elsewhere := a.serve(t, http.HandlerFunc(reached), &url.URL{Host: "elsewhere.example"})
	stranger := newAuthority(t).serve(t, http.HandlerFunc(reached), nil)
	for _, c := range []struct{ shell, client string }{{"busybox ash", "uclient-fetch"}, {"dash", "curl"}, {"dash", "wget"}} {
		b := newBox(t, c.shell, c.client)
		b.write("home/.curlrc", "insecure\n")
		b.write("home/.wgetrc", "check_certificate = off\n")
		b.env = append(b.env, "HOME="+b.path("home"))
		b.trust(a)
		b.network("wlan0", 5, counters{})
		for name, address := range map[string]string{"another name": elsewhere, "another authority": stranger} {
			if printed, exit := b.do("link", "-u", address, "K7Q2-M4XD"); exit == 0 || !strings.Contains(strings.ToLower(printed), "certificate") {
				t.Errorf("%s, %s: it exits with %d and says %s", c.client, name, exit, printed)
			}
		}
		for _, address := range []string{"http://beacon.example", "ftp://beacon.example", "http://127.0.0.1.example:80", "https://"} {
			if printed, exit := b.do("link", "-u", address, "K7Q2-M4XD"); exit == 0 || !strings.Contains(printed, "not https") {
				t.Errorf("%s: it exits with %d and says %s", address, exit, printed)
			}
		}
	}
	// Those that verify before they send come first.
	b := newBox(t, "dash", "uclient-fetch", "curl", "wget")
	b.network("wlan0", 5, counters{})
	if printed, _ := b.do("link", "-u", stranger, "K7Q2-M4XD"); !strings.Contains(printed, "curl: ") {
		t.Errorf("with curl and uclient-fetch it says %s", printed)
	}
	// BusyBox's wget does not verify certificates.
	b = newBox(t, "busybox ash")
	b.install("wget", "busybox")
	b.network("wlan0", 5, counters{})
	if printed, exit := b.do("link", "-u", stranger, "K7Q2-M4XD"); exit == 0 || !strings.Contains(printed, "no program for HTTPS") {
		t.Errorf("with BusyBox's wget it exits with %d and says %s", exit, printed)
	}
}

// A device without a battery starts in 1970. The certificate is not valid then, until
// somebody sets the clock.
func TestTLS_WrongClock(t *testing.T) {
	needs(t, "faketime", "faketime")
	library, err := exec.Command("faketime", "now", "printenv", "LD_PRELOAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	scripted := newScripted(t)
	a := newAuthority(t)
	b := newBox(t, "dash", "curl")
	b.trust(a, "interface=wlan0")
	b.network("wlan0", 5, counters{})
	b.linkTo(a.serve(t, scripted, nil), "link-1")
	b.write("clock", "1970-01-01 00:02:00")
	b.env = append(b.env, "LD_PRELOAD="+strings.TrimSpace(string(library)), "FAKETIME_TIMESTAMP_FILE="+b.path("clock"), "FAKETIME_NO_CACHE=1", "DONT_FAKE_MONOTONIC=1")
	s := b.run()
	harness.Eventually(t, "it says why", func() bool {
		return strings.Contains(s.said(), "not yet valid (the clock says 1970-01-01")
	})
	printed, exit := b.do("status")
	if exit == 0 || !strings.Contains(printed, "not yet valid (the clock says 1970-01-01") {
		t.Errorf("status exits with %d and says %s", exit, printed)
	}
	b.write("clock", "+0")
	scripted.next(t).respond(accepted)
}
