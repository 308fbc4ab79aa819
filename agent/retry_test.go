//go:build linux

package agent_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// ready is a device that is linked to a server of the test.
func ready(t testing.TB, shell string, programs ...string) (*box, *scripted) {
	t.Helper()
	b := newBox(t, shell, programs...)
	b.configure("interface=wlan0")
	b.network("wlan0", 5, counters{})
	server := newScripted(t)
	b.linkTo(server.URL, "link-1")
	return b, server
}

// The result of the last heartbeat is replaced as a whole: status would find nothing in a
// file that is just being written, and say that there was no heartbeat.
func TestStatus_WhileBeating(t *testing.T) {
	for _, shell := range []string{"busybox ash", "dash"} {
		b, server := ready(t, shell, "curl")
		b.run()
		server.next(t).respond(accepted)
		second := server.next(t) // the result of the first is noted before
		before, err := os.Open(b.path("var/run/beacon/last"))
		b.check(err)
		defer before.Close()
		second.respond(problem(http.StatusBadRequest))
		server.next(t)
		if text, err := io.ReadAll(before); err != nil || !strings.HasSuffix(string(text), " 200 online\n") {
			t.Errorf("%s: a reader meanwhile finds %q, %v", shell, text, err)
		}
		if printed, _ := b.do("status"); !strings.Contains(printed, ", 400 because of 400") {
			t.Errorf("%s: then status says %s", shell, printed)
		}
	}
}

// steering is a text that steers a terminal, in bytes and as a shell's echo would make
// bytes of it, and plain is what is left of it.
const (
	steering = `a \033[31m\c b` + "\x1b[1m\x07\u009b2J\x7f"
	plain    = `a \033[31m\c b[1m2J`
)

// What a server says, in whichever field, is shown as it is, and cannot steer a terminal.
func TestTextOfTheServer(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		b, server := ready(t, shell, "curl", "iw")
		b.answer("iw dev wlan0 station dump", "")
		s := b.run()
		shown := func(want string) {
			t.Helper()
			server.next(t).respond(accepted) // the response before it is noted
			printed, _ := b.do("status")
			if text := s.said() + printed; !strings.Contains(text, want) || strings.ContainsFunc(text, unprintable) {
				t.Errorf("it says %q; want %q", text, want)
			}
		}
		server.next(t).respond(response{status: http.StatusBadRequest, body: `{"error":{"code":"c","message":"` + steering + `"}}`})
		shown("the server refuses this: " + plain)
		server.next(t).respond(response{status: http.StatusOK, body: `{"data":{"status":"` + steering + `","next_in_s":60},"meta":{}}`})
		shown("the hotspot is " + plain)
		server.next(t).respond(response{status: http.StatusOK, body: `{"data":{"status":"online","next_in_s":60,"counted":false,"reason":"` + steering + `"},"meta":{}}`})
		shown("not counted: " + plain)

		for status, body := range map[int]string{
			http.StatusOK:                 `{"data":{"hotspot_id":"` + steering + `","device_key":"bcn_x","heartbeat_path":"/v1/x"}}`,
			http.StatusServiceUnavailable: `{"error":{"code":"c","message":"` + steering + `"}}`,
		} {
			address := newMux(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			}))
			if printed, _ := b.do("link", "-u", address, "K7Q2-M4XD"); !strings.Contains(printed, plain) || strings.ContainsFunc(printed, unprintable) {
				t.Errorf("link says %q", printed)
			}
		}
	})
}

func unprintable(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

func problem(status int) response {
	return response{status: status, body: fmt.Sprintf(`{"error":{"code":"c","message":"because of %d"}}`, status)}
}

// A heartbeat is repeated, byte for byte, until there is a response, with pauses as the
// server asks for, and then there is one new heartbeat, not one for each that was due.
func TestRetry(t *testing.T) {
	for _, c := range []struct{ shell, client string }{{"dash", "curl"}, {"busybox ash", "uclient-fetch"}, {"dash", "wget"}}[:level.Rounds(1, 3, 3)] {
		t.Run(c.client, func(t *testing.T) {
			t.Parallel()
			b, server := ready(t, c.shell, c.client)
			s := b.run()
			first := server.next(t)
			if got := first.header.Get("Authorization"); got != "Bearer bcn_test_key" {
				t.Errorf("Authorization is %q", got)
			}
			if got := first.header.Get("User-Agent"); !strings.HasPrefix(got, "beacon-agent/") {
				t.Errorf("User-Agent is %q", got)
			}
			first.respond(response{status: http.StatusTooManyRequests, later: "17", body: problem(429).body})
			for _, again := range []response{
				{status: http.StatusServiceUnavailable, later: "1300", body: "{}"},
				problem(http.StatusBadGateway), problem(http.StatusInternalServerError), problem(http.StatusNotFound),
				{status: http.StatusFound, body: "<a>"},
				accepted,
			} {
				// The counters go on while it waits.
				b.network("wlan0", 5, counters{first.RxBytes + 1000, first.TxBytes + 2000, 10, 10})
				got := server.next(t)
				if got.text != first.text {
					t.Fatalf("got %s; want the same as before: %s", got.text, first.text)
				}
				got.respond(again)
			}
			if later := server.next(t); later.RxBytes != first.RxBytes+1000 || later.Seq <= first.Seq {
				t.Errorf("then %s after %s", later.text, first.text)
			}
			if c.client != "uclient-fetch" { // which shows no headers
				slept := 0
				for _, n := range b.slept() {
					slept += n
				}
				if slept < 1300+17 || slices.Max(b.slept()) > 20 {
					t.Errorf("it slept for %d seconds: %v; want at least 1317, in steps of 20", slept, b.slept())
				}
			}
			if !strings.Contains(s.said(), "503") {
				t.Errorf("it said %s", s.said())
			}
		})
	}
}

// The server is away for an hour. Then the heartbeat that waits is sent, and no other.
func TestRetry_AnHour(t *testing.T) {
	level.Needs(t, level.Check)
	b, server := ready(t, "dash", "curl")
	b.linkTo("http://127.0.0.1:9", "link-1") // nobody listens there
	s := b.run()
	slept := func() (sum int) {
		for _, n := range b.slept() {
			sum += n
		}
		return sum
	}
	harness.Eventually(t, "an hour passes", func() bool { return slept() > 3600 })
	if pauses := len(b.slept()); pauses < 60 {
		t.Errorf("it slept %d times in an hour, so it would return late", pauses)
	}
	if !strings.Contains(s.said(), "no response: 000") {
		t.Errorf("it said %s", s.said())
	}
	b.linkTo(server.URL, "link-1")
	first := server.next(t)
	first.respond(accepted)
	if second := server.next(t); second.text == first.text || second.Boot != first.Boot {
		t.Errorf("%s follows %s", second.text, first.text)
	}
	if n := strings.Count(s.said(), "no response"); n > 2 {
		t.Errorf("it said so %d times", n)
	}
}

// A heartbeat that the server refuses is not repeated; a key that it does not know is
// tried rarely, and a new one at once.
func TestRefused(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		b, server := ready(t, shell, "curl")
		s := b.run()
		first := server.next(t)
		first.respond(problem(http.StatusBadRequest))
		second := server.next(t)
		if second.text == first.text {
			t.Error("a heartbeat that is wrong was repeated")
		}
		second.respond(response{status: http.StatusOK, body: `{"data":{"status":"online","next_in_s":120,"counted":false,"reason":"the counters fell"},"meta":{}}`})
		before := len(b.slept())
		third := server.next(t)
		if slept := b.slept()[before:]; len(slept) < 5 {
			t.Errorf("it slept for %v; want 120 seconds in all", slept)
		}
		if !strings.Contains(s.said(), "because of 400") || !strings.Contains(s.said(), "not counted: the counters fell") {
			t.Errorf("it said %s", s.said())
		}
		third.respond(problem(http.StatusUnauthorized))
		harness.Eventually(t, "it says why", func() bool { return strings.Contains(s.said(), "the key is not valid any more") })
		b.linkTo(server.URL, "link-2")
		if fresh := server.next(t); fresh.Boot == third.Boot {
			t.Errorf("%s has the id of the link before", fresh.text)
		}
	})
}

// When the RAM disk is full, heartbeats go on. What they count stays as it was, also if
// the agent is restarted, and nothing is missing once there is room.
func TestFullDisk(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		b, server := ready(t, shell, "curl")
		room := harness.NewRoom(t, 1)
		b.check(os.RemoveAll(b.path("var/run")))
		b.check(os.Symlink(room.Folder, b.path("var/run")))
		s := b.run()
		first := server.next(t)
		room.Fill(t)
		b.network("wlan0", 5, counters{5000, 7000, 10, 10})
		first.respond(accepted)
		for range 2 {
			full := server.next(t)
			if full.RxBytes+full.TxBytes != 0 || full.Boot != first.Boot || full.Seq <= first.Seq {
				t.Errorf("with a full disk it sent %s after %s", full.text, first.text)
			}
			s.kill()
			s = b.run()
		}
		if printed, exit := b.do("status"); exit == 0 || !strings.Contains(printed, "no room in ") || strings.Contains(printed, "does not run") || strings.Contains(printed, "last heartbeat") {
			t.Errorf("with a full disk, status exits with %d and says %s", exit, printed)
		}
		full := server.next(t)
		room.Free(t)
		full.respond(accepted)
		if !strings.Contains(s.said(), "no room in") {
			harness.Eventually(t, "it says so", func() bool { return strings.Contains(s.said(), "no room in") })
		}
		if got := server.next(t); got.RxBytes != 5000 || got.TxBytes != 7000 || got.Boot != first.Boot {
			t.Errorf("with room it sent %s", got.text)
		}
		if printed, exit := b.do("status"); exit != 0 || !strings.Contains(printed, "service: runs") || !strings.Contains(printed, ", 200 online") {
			t.Errorf("with room, status exits with %d and says %s", exit, printed)
		}
	})
}

// A device that is not linked says so and sends nothing.
func TestNotLinked(t *testing.T) {
	b, server := ready(t, "dash", "curl")
	b.check(os.Remove(b.path("etc/beacon/device")))
	s := b.run()
	harness.Eventually(t, "it waits", func() bool { return len(b.slept()) > 3 })
	if printed, exit := b.do("status"); exit == 0 || !strings.Contains(printed, "not linked") || !strings.Contains(s.said(), "not linked") {
		t.Errorf("status exits with %d and says %s", exit, printed)
	}
	if printed, exit := b.do("unlink"); exit != 1 || printed != "beacon-agent: not linked\n" {
		t.Errorf("unlink exits with %d and says %s", exit, printed)
	}
	for _, args := range [][]string{{}, {"link"}, {"link", "a", "b"}, {"restart"}, {"link", "-x"}} {
		if printed, exit := b.do(args...); exit != 1 || !strings.Contains(printed, "usage") {
			t.Errorf("%q exits with %d and says %s", args, exit, printed)
		}
	}
	if printed, exit := b.do("link", "-u", server.URL, `K7","x":"`); exit == 0 || !strings.Contains(printed, "wrong characters") {
		t.Errorf("a strange code: it exits with %d and says %s", exit, printed)
	}
	b.linkTo(server.URL, "link-1") // it need not be restarted
	server.next(t)
}

// A speed test is off unless the operator names two URLs, and then is made once in each
// of the hours named.
func TestSpeedTest(t *testing.T) {
	level.Needs(t, level.Check)
	for _, c := range []struct{ shell, client string }{{"busybox ash", "uclient-fetch"}, {"dash", "curl"}, {"dash", "wget"}} {
		t.Run(c.client, func(t *testing.T) {
			t.Parallel()
			b, server := ready(t, c.shell, c.client, "ping")
			b.answer("ping", "5 packets transmitted, 5 packets received, 0% packet loss\nround-trip min/avg/max = 9.1/12.5/20.0 ms\n")
			mux := http.NewServeMux()
			mux.HandleFunc("GET /down", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2_000_000)) })
			mux.HandleFunc("POST /up", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
			a := newAuthority(t)
			speed := a.serve(t, mux, nil)
			b.run()
			first := server.next(t)
			if first.Speedtest != nil {
				t.Errorf("without settings there is a speed test: %s", first.text)
			}
			var hours []string
			for hour := range 24 {
				hours = append(hours, fmt.Sprintf("%02d", hour))
			}
			b.trust(a, "interface=wlan0", "speedtest_down="+speed+"/down", "speedtest_up="+speed+"/up", "speedtest_hours="+strings.Join(hours, " "))
			first.respond(accepted)
			second := server.next(t)
			if got := second.Speedtest; got == nil || got.Latency != 12.5 || got.Down <= 0 || got.Up <= 0 {
				t.Fatalf("no speed test, or a strange one: %s", second.text)
			}
			if _, err := os.Stat(filepath.Join(b.path("var/run/beacon"), "upload")); err == nil {
				t.Error("the file that was uploaded is still there")
			}
		})
	}
}
