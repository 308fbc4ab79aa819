//go:build linux

package agent_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

const enrolKey = "bcn_01kb3gzk00e9x8q6s5t4v3w2y1_enrolmentKeyForManyDevices"

// newKey is one that every server takes.
const newKey = enrolKey + "2"

// enrolled is what a server answers to a device that may join.
const enrolled = `{"data":{"hotspot_id":"hs_test","device_key":"bcn_device_key","linked_at":"2026-11-15T12:00:00.000Z",` +
	`"heartbeat_path":"/v1/hotspots/hs_test/heartbeats","next_in_s":60,"registered":false},"meta":{}}`

// enrolment is a request to join, and who could see its key meanwhile.
type enrolment struct {
	authorization, once, body string
	visible                   []string // processes with the key in their arguments
	slept                     int      // for how many seconds the device had slept
}

// office answers requests to join, one response after the other, the last again and again.
type office struct {
	url      string
	mutex    sync.Mutex
	requests []enrolment
	answers  []response
	device   *box // whose time is looked at, if it is not nil
}

func newOffice(t testing.TB, answers ...response) *office {
	o := &office{answers: answers}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/devices/enrol", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		o.mutex.Lock()
		defer o.mutex.Unlock()
		o.requests = append(o.requests, enrolment{r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key"), string(body), visible(enrolKey), 0})
		if o.device != nil {
			o.requests[len(o.requests)-1].slept = o.device.time()
		}
		a := o.answers[0]
		if r.Header.Get("Authorization") == "Bearer "+newKey {
			a = response{status: http.StatusOK, body: enrolled}
		} else if len(o.answers) > 1 {
			o.answers = o.answers[1:]
		}
		if a.later != "" {
			w.Header().Set("Retry-After", a.later)
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	})
	o.url = newMux(t, mux)
	return o
}

// time is for how many seconds the device has slept.
func (b *box) time() (sum int) {
	for _, n := range b.slept() {
		sum += n
	}
	return sum
}

func (o *office) seen() []enrolment {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return slices.Clone(o.requests)
}

// visible returns the processes that anybody on the machine can see a text of.
func visible(text string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if words, err := os.ReadFile(file); err == nil && bytes.Contains(words, []byte(text)) {
			found = append(found, strings.ReplaceAll(string(words), "\x00", " "))
		}
	}
	return found
}

// joining is a device that is not linked, and knows its server.
func joining(t testing.TB, shell, client, url string, settings ...string) *box {
	t.Helper()
	b := newBox(t, shell, client, "iw", "uci")
	b.network("wlan0", 5, counters{})
	b.answer("iw dev wlan0 info", "Interface wlan0\n\tssid Kaffee \"Süd\" \\o/\n")
	b.answer("iw dev wlan0 station dump", "")
	b.configure(append([]string{"url=" + url, "interface=wlan0"}, settings...)...)
	return b
}

// readsTheKey runs enrol with a key from stdin, and holds that it was read.
func (b *box) readsTheKey() {
	b.t.Helper()
	r, w, err := os.Pipe()
	b.check(err)
	defer r.Close()
	_, err = w.WriteString(enrolKey + "\n")
	b.check(err)
	cmd := b.command("enrol")
	cmd.Stdin = r
	out, err := cmd.CombinedOutput()
	w.Close()
	if left, _ := io.ReadAll(r); err != nil || len(left) > 0 {
		b.t.Errorf("it ends with %v, says %s and leaves %q unread", err, out, left)
	}
}

// A key comes as an argument, from a file, from stdin or from the settings, and needs no
// terminal. Nobody sees it in the list of processes, and it stays in no file.
func TestEnrol(t *testing.T) {
	level.Repeats(t)
	for _, c := range []struct {
		shell, client, from string
	}{
		{"busybox ash", "curl", "argument"},
		{"busybox ash", "uclient-fetch", "settings"},
		{"dash", "wget", "argument"},
		{"dash", "curl", "file"},
		{"busybox ash", "wget", "stdin"},
		{"dash", "curl", "settings"},
	} {
		t.Run(c.client+" "+c.from, func(t *testing.T) {
			o := newOffice(t, response{status: http.StatusOK, body: enrolled})
			b := joining(t, c.shell, c.client, o.url, "name=Boat \"house\" \\ café", "latitude=40.7754", "longitude=-73.9687", "type=public")
			args := []string{"enrol"}
			var stdin io.Reader
			switch c.from {
			case "argument":
				args = append(args, enrolKey)
			case "file":
				b.write("etc/key", enrolKey) // without the end of a line
				args = append(args, "-f", b.path("etc/key"))
			case "stdin":
				stdin = strings.NewReader(enrolKey + "\r\n")
			case "settings":
				b.configure(strings.TrimSpace(read(t, b.path("etc/beacon/agent.conf"))), "enrol_key="+enrolKey)
			}
			cmd := b.command(args...)
			cmd.Stdin = stdin
			out, err := cmd.CombinedOutput()
			if want := "linked to hs_test at " + o.url + "\n"; err != nil || string(out) != want {
				t.Fatalf("it ends with %v and says %s; want %s", err, out, want)
			}
			got := o.seen()
			if len(got) != 1 || got[0].authorization != "Bearer "+enrolKey || !regexp.MustCompile(`^[0-9a-f-]{36}$`).MatchString(got[0].once) {
				t.Fatalf("the server got %+v", got)
			}
			if len(got[0].visible) > 0 != (c.client == "uclient-fetch") { // which takes headers as arguments only
				t.Errorf("the key is in the arguments of %q", got[0].visible)
			}
			var body map[string]any
			if err := json.Unmarshal([]byte(got[0].body), &body); err != nil {
				t.Fatal(err, got[0].body)
			}
			place, _ := body["location"].(map[string]any)
			if body["mac_address"] != "02:00:5e:10:00:05" || body["name"] != `Boat "house" \ café` || body["ssid"] != `Kaffee "Süd" \o/` || body["type"] != "public" ||
				place["latitude"] != 40.7754 || place["longitude"] != -73.9687 || body["agent"] == nil {
				t.Errorf("the server got %s", got[0].body)
			}
			for name, mode := range filesOf(t, b.root) {
				if strings.HasPrefix(name, "proc/") || strings.HasPrefix(name, "sys/") {
					continue
				}
				if mode != 0o600 || strings.Contains(read(t, b.path(name)), enrolKey) != (name == "etc/key") {
					t.Errorf("%s has the mode %v and is %s", name, mode, read(t, b.path(name)))
				}
			}
			if want := o.url + " /v1/hotspots/hs_test/heartbeats bcn_device_key "; !strings.HasPrefix(read(t, b.path("etc/beacon/device")), want) {
				t.Errorf("it keeps %s", read(t, b.path("etc/beacon/device")))
			}
			if left, _ := filepath.Glob(b.path("etc/beacon/*")); len(left) != 2 {
				t.Errorf("it leaves %v", left)
			}
			if !strings.Contains(read(t, b.path("etc/beacon/agent.conf")), "longitude=") {
				t.Error("it forgot a setting that is no key")
			}
			if printed, exit := b.do("enrol", enrolKey); exit != 0 || printed != "linked already: hs_test at "+o.url+"\n" || len(o.seen()) != 1 {
				t.Errorf("again: it exits with %d and says %s", exit, printed)
			}
			if c.from == "stdin" { // a sender of the key fails if nobody reads it
				b.readsTheKey()
			}
		})
	}
}

// What is wrong here and what the server refuses has its own code and a sentence. A request
// that may have been done is sent again as it was, another one is not.
func TestEnrol_Answers(t *testing.T) {
	level.Repeats(t)
	b := joining(t, "busybox ash", "curl", "", "name=Boathouse", "type=public", "latitude=40", "longitude=-73")
	do := func(url string, args ...string) (string, int) {
		return b.do(append([]string{"enrol", "-u", url}, args...)...)
	}
	done := response{status: http.StatusOK, body: strings.Replace(enrolled, `"registered":false`, `"registered":true`, 1)}
	var before enrolment
	for _, c := range []struct {
		response
		code  int
		want  string
		again bool // as the request before
	}{
		{problem(401), 2, "the server does not know this key", false},
		{problem(403), 2, "the key is used up or over", false},
		{problem(404), 2, "the key has no hotspot with the MAC address 02:00:5e:10:00:05 (see -m), and may not register it (404, ", false},
		{problem(409), 2, "unlink the other in the console (409, because of 409)", false},
		{problem(400), 2, "the server refuses this (400, because of 400)", false},
		{problem(503), 3, "no response: 503", false},
		{response{status: 429, later: "17", body: problem(429).body}, 3, "not yet: 429 because of 429; again in 17 seconds\n", true},
		{problem(502), 3, "no response: 502", true},
		{response{status: 200, body: `{"data":{"device_key":"$(id)","heartbeat_path":"/v1/x"}}`}, 1, "this is not a Beacon server", true},
		{done, 0, "linked to hs_test at …\nThe hotspot is registered now, and waits for a visit of the staff.\n", true},
	} {
		o := newOffice(t, c.response)
		printed, code := do(o.url, enrolKey)
		printed = strings.ReplaceAll(printed, o.url, "…")
		if code != c.code || !strings.Contains(printed, c.want) || strings.Contains(printed, enrolKey) {
			t.Errorf("%d: it exits with %d and says %s; want %d and %q", c.status, code, printed, c.code, c.want)
		}
		got := o.seen()
		if len(got) != 1 {
			t.Fatalf("%d requests came", len(got))
		}
		if same := got[0].once == before.once && got[0].body == before.body; same != c.again {
			t.Errorf("%d: it sent %+v after %+v", c.status, got[0], before)
		}
		before = got[0]
		b.answer("iw dev wlan0 info", "\tssid "+printed) // changes meanwhile
	}
	if _, exit := b.do("unlink"); exit != 0 {
		t.Fatal("it cannot be unlinked")
	}
	o := newOffice(t, done)
	b.write("etc/empty", "\n")
	for want, args := range map[string][]string{
		"no key: run beacon-agent enrol KEY":            {o.url},
		"etc/nothing: there is no key in it":            {o.url, "-f", b.path("etc/nothing")},
		"no key: ":                                      {o.url, "-f", b.path("etc/empty")},
		"wrong characters in the key":                   {o.url, `x","y":"`},
		"wrong characters in the MAC address":           {o.url, "-m", `"`, enrolKey},
		"http://beacon.example is not https":            {"http://beacon.example", enrolKey},
		"no server: add -u":                             {"", enrolKey},
		"usage: beacon-agent link [-u URL]":             {o.url, enrolKey, "more"},
		"[-f FILE | KEY]":                               {o.url, "-f", b.path("etc/empty"), enrolKey},
		"no response: 000 ":                             {"http://127.0.0.1:9", enrolKey},
		"latitude and longitude are numbers, such as 4": nil,
	} {
		code := 1
		if want == "no response: 000 " {
			code = 3
		}
		if args == nil {
			b.configure("interface=wlan0", "latitude=40,7", "longitude=-73,9")
			b.check(os.RemoveAll(b.path("etc/beacon/enrol")))
			args = []string{o.url, enrolKey}
		}
		if printed, exit := do(args[0], args[1:]...); exit != code || !strings.Contains(printed, want) {
			t.Errorf("%q exits with %d and says %s; want %q", args, exit, printed, want)
		}
		b.configure("interface=wlan0")
		b.write("etc/beacon/enrol", "")
	}
	if got := o.seen(); len(got) > 0 {
		t.Errorf("the server got %+v", got)
	}
}

// A device that starts with a key in its settings enrols by itself. It waits as long as
// the server says, tries rarely what is refused, says why, and begins at once with a key
// that is new.
func TestEnrol_FirstStart(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		beats := newScripted(t)
		later := response{status: http.StatusTooManyRequests, later: "1700", body: problem(429).body}
		o := newOffice(t, later, problem(503), problem(404), problem(404))
		b := joining(t, shell, "curl", o.url, "enrol_key="+enrolKey)
		o.device = b
		s := b.run()
		harness.Eventually(t, "the agent tries", func() bool { return len(o.seen()) > 3 })
		got := o.seen()
		for i, want := range [][2]int{{1700, 3500}, {15, 250}, {3600, 7400}} {
			if pause := got[i+1].slept - got[i].slept; pause < want[0] || pause > want[1] {
				t.Errorf("pause %d is %d seconds; want %v", i, pause, want)
			}
		}
		if got[0].once != got[1].once || got[1].once != got[2].once || got[2].once == got[3].once {
			t.Errorf("the requests were %+v", got)
		}
		why := "the key has no hotspot with the MAC address 02:00:5e:10:00:05 (see -m), and may not register it (404, because of 404)"
		harness.Eventually(t, "status says why", func() bool {
			printed, exit := b.do("status")
			return exit == 1 && regexp.MustCompile(`(?m)^not linked: enrolling, \d+ seconds ago: refused: `+regexp.QuoteMeta(why)+"$").MatchString(printed)
		})
		if !strings.Contains(s.said(), why) || strings.Contains(s.said(), enrolKey) {
			t.Errorf("it said %s", s.said())
		}

		o.mutex.Lock()
		before := len(o.requests)
		b.configure("url="+o.url, "interface=wlan0", "enrol_key="+newKey)
		changed := b.time()
		o.mutex.Unlock()
		harness.Eventually(t, "the device is linked", func() bool {
			_, err := os.Stat(b.path("etc/beacon/device"))
			return err == nil
		})
		got = slices.DeleteFunc(o.seen()[before:], func(e enrolment) bool { return e.authorization != "Bearer "+newKey })
		if len(got) != 1 || got[0].slept > changed+300 {
			t.Errorf("after %d seconds the server got %+v", changed, got)
		}
		harness.Eventually(t, "the key is forgotten", func() bool { return !strings.Contains(read(t, b.path("etc/beacon/agent.conf")), "enrol_key") })
		b.linkTo(beats.URL, "link-2")
		beats.next(t).respond(accepted)
		if _, err := os.Stat(b.path("var/run/beacon/enrol")); err == nil {
			t.Error("status would say that the device enrols")
		}
	})
}

// Keys go over TLS, or to an address in a range that allow_http names, and never elsewhere:
// what that is, Go's own package for addresses says.
func TestAllowHTTP(t *testing.T) {
	level.Repeats(t)
	const sent = "curl: sent"
	for _, c := range []struct{ ranges, hosts string }{
		{"", "10.0.0.1 8.8.8.8 [::1] [fd00::1]"},
		{"10.0.0.0/8", "10.0.0.1 10.255.255.255 11.0.0.1 9.255.255.255 [::a00:1] [::ffff:10.0.0.1]"},
		{"192.168.4.0/22 10.1.2.3", "192.168.3.255 192.168.4.0 192.168.7.255 192.168.8.0 10.1.2.3 10.1.2.4"},
		{"fd12:3456:789A::/48 2001:db8::1/128", "[fd12:3456:789a:ffff::1] [FD12:3456:789A::1] [fd12:3456:789b::1] [2001:db8::1] [2001:db8:0:0:0:0:0:1] [2001:db8::2] 253.18.0.1"},
		{"fc00::/7 ::/128", "[fc00::] [fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff] [fe00::] [::] [::0] [1::] [fd00:1:2:3:4:5:6:7::] [fd00:1:2:3:4:5:6:7] [fd00:1:2:3:4:5:6:7:8:9]"},
		{"10.0.0.0/33 10.0.0.0/-1 10.0.0/8 10.0.0.0/8/8 10.0.0.0/x x 010.0.0.0/8 fd00:::/8 fd00::1::/8 12345::/8", "10.0.0.0 10.0.0.1 [fd00::1]"},
		{"10.0.0.0/8", "10.1 010.0.0.1 012.0.0.1 0xa.0.0.1 167772161 10.0.0.1.example 10.0.0.256 10.0.0.1@evil.example evil.example#10.0.0.1 evil.example?@10.0.0.1 evil.example\\@10.0.0.1 [10.0.0.1] wifi.example"},
	} {
		t.Run(c.ranges, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, "busybox ash")
			b.script("curl", "cat >/dev/null; echo '"+sent+"' \"$http_proxy$ALL_PROXY\"; exit 7")
			b.env = append(b.env, "http_proxy=elsewhere", "ALL_PROXY=elsewhere")
			b.network("wlan0", 5, counters{})
			settings := []string{"interface=wlan0"}
			var ranges []netip.Prefix
			for word := range strings.FieldsSeq(c.ranges) {
				settings = append(settings, "allow_http="+word)
				if !strings.Contains(word, "/") {
					word += "/32"
				}
				if prefix, err := netip.ParsePrefix(word); err == nil {
					ranges = append(ranges, prefix)
				}
			}
			b.configure(settings...)
			for host := range strings.FieldsSeq(c.hosts) {
				address, err := netip.ParseAddr(strings.Trim(host, "[]"))
				allowed := err == nil && address.Is6() == strings.HasPrefix(host, "[") && !strings.Contains(host, ".0.0.1]") &&
					slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(address) })
				printed, exit := b.do("link", "-u", "http://"+host+":8080/beacon", "K7Q2-M4XD")
				if got := strings.Contains(printed, sent); exit != 1 || got != allowed || got == strings.Contains(printed, "is not https") || strings.Contains(printed, "elsewhere") {
					t.Errorf("%s, with %q: allowed is %v; want %v: %s", host, c.ranges, got, allowed, printed)
				}
			}
		})
	}
}

// A key that was got over http is sent to that address only as long as the settings allow
// it: a device that moves to another network does not send it there.
func TestAllowHTTP_Heartbeats(t *testing.T) {
	b := newBox(t, "busybox ash", "iw")
	b.script("curl", `echo "$*" >>"$TEST_ANSWERS/sent"; cat >>"$TEST_ANSWERS/sent"; printf 'HTTP/1.1 200 OK\n\n{"data":{"status":"online","next_in_s":60},"meta":{}}\n'`)
	sent := func() string {
		text, _ := os.ReadFile(filepath.Join(b.answers, "sent"))
		return string(text)
	}
	b.network("wlan0", 5, counters{})
	b.configure("interface=wlan0", "allow_http=10.0.0.0/8")
	b.linkTo("http://10.1.2.3", "link-1")
	s := b.run()
	harness.Eventually(t, "heartbeats are sent", func() bool { return strings.Count(sent(), "http://10.1.2.3/v1/hotspots/hs_test/heartbeats") > 1 })
	b.configure("interface=wlan0", "allow_http=192.168.0.0/16")
	harness.Eventually(t, "it says why none is sent", func() bool {
		return strings.Contains(s.said(), "http://10.1.2.3 is not https, nor an address that allow_http names")
	})
	before, naps := sent(), len(b.slept())
	harness.Eventually(t, "time passes", func() bool { return len(b.slept()) > naps+10 })
	if sent() != before {
		t.Error("the key was sent all the same")
	}
	b.configure("interface=wlan0", "allow_http=10.0.0.0/8")
	harness.Eventually(t, "heartbeats are sent again", func() bool { return sent() != before })
}
