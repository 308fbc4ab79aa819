package agentsite_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/agent"
	"github.com/beacon-wifi/beacon/internal/agentsite"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

const publicURL = "https://wifi.example.org"

func newSite(t testing.TB, url string) *agentsite.Site {
	t.Helper()
	s, err := agentsite.New(agentsite.Config{PublicURL: url})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask sends a request, if the site handles it.
func ask(t testing.TB, s *agentsite.Site, method, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "evil.example"
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	if !s.Handles(r) {
		w.Code = 0
		return w
	}
	s.ServeHTTP(w, r)
	if !slices.Contains(s.Routes(), r.Pattern) {
		t.Errorf("%s %s has the route %q", method, path, r.Pattern)
	}
	return w
}

func names(t testing.TB, s *agentsite.Site) (all []string) {
	for line := range strings.Lines(ask(t, s, "GET", "/agent/SHA256SUMS", "").Body.String()) {
		all = append(all, strings.Fields(line)[1])
	}
	return all
}

// The files are those of the repository, with their sums; a client that has one gets it once.
func TestFiles(t *testing.T) {
	s := newSite(t, publicURL)
	if got := names(t, s); len(got) != 10 {
		t.Fatalf("there are sums of %v", got)
	}
	for line := range strings.Lines(ask(t, s, "GET", "/agent/SHA256SUMS", "").Body.String()) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		w := ask(t, s, "GET", "/agent/"+name, "")
		got := sha256.Sum256(w.Body.Bytes())
		if w.Code != 200 || hex.EncodeToString(got[:]) != sum || w.Header().Get("Cache-Control") != "no-cache" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v, sum %x", name, w.Code, w.Header(), got)
		}
		head := ask(t, s, "HEAD", "/agent/"+name, "")
		if head.Code != 200 || head.Body.Len() > 0 || head.Header().Get("Content-Length") != w.Header().Get("Content-Length") {
			t.Errorf("HEAD %s: %d %v", name, head.Code, head.Header())
		}
		if again := ask(t, s, "GET", "/agent/"+name, "", "If-None-Match", w.Header().Get("Etag")); again.Code != 304 || again.Body.Len() > 0 {
			t.Errorf("%s again: %d", name, again.Code)
		}
	}
	want, err := agent.Files.ReadFile("beacon-agent")
	if got := ask(t, s, "GET", "/agent/beacon-agent", "").Body.String(); err != nil || got != string(want) {
		t.Errorf("the agent is not that of the repository: %v", err)
	}
	for _, path := range []string{"/agent/nothing", "/agent/../agent/install", "/agent/%69nstall", "/agents", "/agent/install/", "/agent/linux/agent.conf", "/agent/control"} {
		if w := ask(t, s, "GET", path, ""); w.Code != 0 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		if w := ask(t, s, method, "/agent/install", ""); w.Code != 0 {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

// The page is HTML for browsers and text for curl. Both have the commands and the files.
func TestPage(t *testing.T) {
	s := newSite(t, publicURL)
	for accept, kind := range map[string]string{"*/*": "text/plain; charset=utf-8", "": "text/plain; charset=utf-8", "text/html,application/xhtml+xml;q=0.9": "text/html; charset=utf-8"} {
		w := ask(t, s, "GET", "/agent", "", "Accept", accept)
		if w.Code != 200 || w.Header().Get("Content-Type") != kind || !slices.Contains(w.Header()["Vary"], "Accept") {
			t.Errorf("%q: %d %v", accept, w.Code, w.Header())
		}
		for _, want := range append(names(t, s), "wget -qO- https://wifi.example.org/agent/install | sh -s -- CODE", "| sudo sh -s -- CODE", "/docs/agent", agent.Version()) {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%q: the page does not have %q", accept, want)
			}
		}
	}
}

// The page is the network's: it has its name as of now, as text, its color and its logo.
func TestPage_Name(t *testing.T) {
	name := "Beacon"
	s, err := agentsite.New(agentsite.Config{PublicURL: publicURL, Name: func() string { return name }})
	if err != nil {
		t.Fatal(err)
	}
	for _, name = range []string{"Beacon", "Freifunk <b>&", "Beacon"} {
		w := ask(t, s, "GET", "/agent", "", "Accept", "text/html")
		for _, want := range []string{"online · " + html.EscapeString(name) + "</title>", "/> " + html.EscapeString(name) + "</a>", `rel="icon" href="/logo"`, `<img src="/logo"`, `href="/brand.css"`} {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("the page of %s does not have %s", name, want)
			}
		}
		if again := ask(t, s, "GET", "/agent", "", "Accept", "text/html", "If-None-Match", w.Header().Get("Etag")); again.Code != 304 {
			t.Errorf("again: %d", again.Code)
		}
	}
}

// What a request says of the server's name is in nothing that is served.
func TestHost(t *testing.T) {
	s := newSite(t, publicURL)
	for _, path := range append([]string{"/agent", "/agent/SHA256SUMS"}, names(t, s)...) {
		if !strings.HasPrefix(path, "/") {
			path = "/agent/" + path
		}
		w := ask(t, s, "GET", path, "", "X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example")
		if w.Code != 200 || strings.Contains(w.Body.String(), "evil") {
			t.Errorf("%s: %d, or it has the name", path, w.Code)
		}
	}
	if w := ask(t, s, "POST", "/agent/command", "K7Q2-M4XD"); strings.Contains(w.Body.String(), "evil") {
		t.Errorf("%s", w.Body)
	}
}

// A configured URL may have any character. To a shell it is text, in the script and in the
// command.
func TestInjection(t *testing.T) {
	for _, url := range []string{publicURL, `https://x/'$(touch pwned)'`, "https://x/`touch pwned`", `https://x/$HOME"&|;<>(){}*[a]#\`, "https://x/'\\''; touch pwned; '"} {
		s := newSite(t, url)
		folder := t.TempDir()
		run := func(script string, args ...string) string {
			cmd := exec.Command("/bin/sh", append([]string{"-c", script, "sh"}, args...)...)
			cmd.Dir, cmd.Env = folder, []string{"PATH=" + folder, "BEACON_ROOT=" + folder}
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			return string(out)
		}
		if err := os.WriteFile(filepath.Join(folder, "wget"), []byte("#!/bin/sh\nprintf '%s\\n' \"echo asked for $2\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "sh"), []byte("#!/bin/sh\nread -r line && printf '%s %s' \"$line\" \"$*\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		script := ask(t, s, "GET", "/agent/install", "").Body.String()
		if got, want := run(script), "The agent alone is "+url+"/agent/beacon-agent"; !strings.Contains(got, want) {
			t.Errorf("%s: the script says %s", url, got)
		}
		var answer struct {
			OpenWrt struct{ Command string }
		}
		if err := json.Unmarshal(ask(t, s, "POST", "/agent/command", "K7Q2-M4XD").Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if got, want := run(answer.OpenWrt.Command), "echo asked for "+url+"/agent/install -s -- K7Q2-M4XD"; got != want {
			t.Errorf("%s: the command does %q; want %q", url, got, want)
		}
		if _, err := os.Stat(filepath.Join(folder, "pwned")); err == nil {
			t.Errorf("%s: it ran", url)
		}
	}
}

// The command is written with the code of who asks; whatever is no code is refused.
func TestCommand(t *testing.T) {
	s := newSite(t, publicURL)
	w := ask(t, s, "POST", "/agent/command", "K7Q2-M4XD")
	type shown struct {
		Command string   `json:"command"`
		QR      []string `json:"qr"`
		Size    int      `json:"qr_size"`
	}
	var got struct {
		URL            string `json:"url"`
		OpenWrt, Linux shown
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatal(err, w.Header())
	}
	if got.URL != publicURL || got.OpenWrt.Command != "wget -qO- https://wifi.example.org/agent/install | sh -s -- K7Q2-M4XD" || got.Linux.Command != "wget -qO- https://wifi.example.org/agent/install | sudo sh -s -- K7Q2-M4XD" {
		t.Errorf("the commands are %+v", got)
	}
	for _, c := range []shown{got.OpenWrt, got.Linux} {
		if path := strings.Join(c.QR, ""); c.Size < 40 || !regexp.MustCompile(`^(M\d+ \d+h\d+v1h-\d+z)+$`).MatchString(path) {
			t.Errorf("the picture is %d wide: %.80s", c.Size, path)
		}
	}
	for _, body := range []string{"", " ", "K7Q2-M4XD\n", "K7Q2;M4XD", "$(id)", "'", strings.Repeat("A", 33), strings.Repeat("A", 100_000), "K7Q2-M4XÉ"} {
		if w := ask(t, s, "POST", "/agent/command", body); w.Code != http.StatusBadRequest {
			t.Errorf("%.40q: %d %s", body, w.Code, w.Body)
		}
	}
}

// The package for Debian has the same bytes each time, and nothing that others may read
// or that changes the root of the system.
func TestDebian(t *testing.T) {
	level.Tool(t, "dpkg-deb", "dpkg")
	path := "/agent/beacon-agent_" + agent.Version() + "_all.deb"
	body := ask(t, newSite(t, publicURL), "GET", path, "").Body.Bytes()
	if other := ask(t, newSite(t, "https://other.example"), "GET", path, "").Body.Bytes(); !bytes.Equal(body, other) {
		t.Error("two packages differ")
	}
	file := debianPackage(t)
	list, err := exec.Command("dpkg-deb", "-c", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"drwxr-xr-x root/root .* \\./\n", "drwx------ root/root .* \\./etc/beacon/\n", "-rw------- root/root .* \\./etc/beacon/agent.conf\n", "-rwxr-xr-x root/root .* \\./usr/sbin/beacon-agent\n", " \\./usr/lib/systemd/system/beacon-agent.service\n"} {
		if !regexp.MustCompile(want).Match(list) {
			t.Errorf("no %s in\n%s", want, list)
		}
	}
	about, err := exec.Command("dpkg-deb", "-f", file, "Package", "Version", "Architecture").Output()
	if want := "Package: beacon-agent\nVersion: " + agent.Version() + "\nArchitecture: all\n"; err != nil || string(about) != want {
		t.Errorf("it is %s%v", about, err)
	}
	control := filepath.Join(t.TempDir(), "control")
	if out, err := exec.Command("dpkg-deb", "-e", file, control).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		if info, err := os.Stat(filepath.Join(control, name)); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
}

// unpack returns what is in an archive, by name: modes and texts.
func unpack(t testing.TB, body []byte) (modes map[string]int64, texts map[string][]byte) {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	modes, texts = map[string]int64{}, map[string][]byte{}
	for archive := tar.NewReader(zipped); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return modes, texts
		}
		text, err2 := io.ReadAll(archive)
		if err != nil || err2 != nil || h.Uid != 0 || h.Gid != 0 {
			t.Fatal(err, err2, h)
		}
		modes[h.Name], texts[h.Name] = h.Mode, text
	}
}

// The package for OpenWrt is three members in an archive, as opkg has it, and has the files,
// modes and needs of the one that OpenWrt's SDK makes (TestPackage_OpenWrt of package agent).
func TestOpenWrt(t *testing.T) {
	_, outer := unpack(t, ask(t, newSite(t, publicURL), "GET", "/agent/beacon-agent_"+agent.Version()+"-r1_all.ipk", "").Body.Bytes())
	if string(outer["./debian-binary"]) != "2.0\n" {
		t.Fatalf("it has %v", outer)
	}
	modes, _ := unpack(t, outer["./data.tar.gz"])
	for name, want := range map[string]int64{
		"./usr/sbin/beacon-agent": 0o755, "./etc/init.d/beacon-agent": 0o755, "./etc/config/beacon": 0o600, "./lib/upgrade/keep.d/beacon-agent": 0o644, "./": 0o755, "./etc/": 0o755,
	} {
		if modes[name] != want {
			t.Errorf("%s has the mode %o; want %o", name, modes[name], want)
		}
	}
	modes, control := unpack(t, outer["./control.tar.gz"])
	if modes["./postinst"] != 0o755 || modes["./prerm"] != 0o755 || string(control["./conffiles"]) != "/etc/config/beacon\n/etc/beacon/\n" {
		t.Errorf("it has %v, %s", modes, control["./conffiles"])
	}
	source, err := os.ReadFile("../../agent/openwrt/beacon-agent/Makefile")
	needs := regexp.MustCompile(`DEPENDS:=\+(.*)\n`).FindSubmatch(source)
	if err != nil || needs == nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Package: beacon-agent\n", "Version: " + agent.Version() + "-r1\n", "Architecture: all\n", "Depends: libc, " + strings.ReplaceAll(string(needs[1]), " +", ", ") + "\n"} {
		if !strings.Contains(string(control["./control"]), want) {
			t.Errorf("no %q in %s", want, control["./control"])
		}
	}
}
