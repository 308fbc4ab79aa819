package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// heartbeats is a server that takes nothing else, and answers as it is told.
type heartbeats struct {
	*httptest.Server
	mu     sync.Mutex
	seen   map[string][]form // by hotspot
	times  map[string][]time.Time
	answer func(w http.ResponseWriter, hotspot string, number int)
}

func serveHeartbeats(t *testing.T, answer func(w http.ResponseWriter, hotspot string, number int)) *heartbeats {
	t.Helper()
	s := &heartbeats{seen: map[string][]form{}, times: map[string][]time.Time{}, answer: answer}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/hotspots/{id}/heartbeats", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		var f form
		if err := json.NewDecoder(r.Body).Decode(&f); err != nil || r.Header.Get("Authorization") != "Bearer key of "+id {
			t.Errorf("%s: %v, %v", id, err, r.Header)
		}
		s.mu.Lock()
		s.seen[id] = append(s.seen[id], f)
		s.times[id] = append(s.times[id], time.Now())
		number := len(s.seen[id])
		s.mu.Unlock()
		s.answer(w, id, number)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func ok(w http.ResponseWriter, _ string, _ int) {
	fmt.Fprint(w, `{"data":{"status":"online","next_in_s":60}}`)
}

func linkedDevices(count int) []*Device {
	devices := Devices(count, 1, Around{})
	for i, d := range devices {
		d.hotspot = fmt.Sprintf("hs_%d", i)
		d.key = "key of " + d.hotspot
		d.failsAt = epochOf(monday.AddDate(100, 0, 0)) // they are reliable here
	}
	return devices
}

func newTestClient(t *testing.T, url string, connections int) *Client {
	t.Helper()
	c, err := NewClient(url, "bcn_admin", connections)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// What the server has already, or does not count for another reason, is said and not
// counted, however the response is sent.
func TestDrive_Uncounted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := serveHeartbeats(t, func(w http.ResponseWriter, id string, n int) {
		switch {
		case n > 3:
			cancel()
		case n == 2:
			ok(w, id, n)
			return
		}
		fmt.Fprint(w, `{"data":{"status":"online","next_in_s":60,"counted":false,"reason":"repeated"}}`)
		if n == 3 {
			w.(http.Flusher).Flush() // in chunks
		}
	})
	var meter Meter
	newTestClient(t, s.URL, 1).Drive(ctx, linkedDevices(1), time.Millisecond, &meter)
	if r := meter.Read(); r.Taken != 1 || r.Uncounted != 2 || r.Why != "repeated" || r.Failed != 0 {
		t.Errorf("%+v", r)
	}
}

// A second run of a seed sends nothing that the server could take for a repetition, also
// after its devices have restarted. Its devices are otherwise the same.
func TestDistinguish(t *testing.T) {
	first, second := linkedDevices(20), linkedDevices(20)
	Distinguish(second, 7)
	boots := map[uint64]bool{}
	for _, devices := range [][]*Device{first, second} {
		for _, d := range devices {
			for range 3 {
				b, _ := d.Beat(monday)
				boots[b.Boot] = true
				d.Restart()
			}
		}
	}
	if len(boots) != 2*3*20 {
		t.Errorf("%d boots; want %d", len(boots), 2*3*20)
	}
	a, _ := first[0].Beat(monday)
	b, _ := second[0].Beat(monday)
	if a.Boot = b.Boot; a != b {
		t.Errorf("a device sends %+v, and in the second run %+v", a, b)
	}
}

// Each device beats once in each interval, one after the other.
func TestDrive_Pace(t *testing.T) {
	var all atomic.Int64
	done := make(chan struct{})
	s := serveHeartbeats(t, func(w http.ResponseWriter, id string, n int) {
		ok(w, id, n)
		if all.Add(1) == 300 {
			close(done)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { <-done; cancel() }()
	devices := linkedDevices(100)
	var meter Meter
	began := time.Now()
	newTestClient(t, s.URL, 8).Drive(ctx, devices, 200*time.Millisecond, &meter)
	if took := time.Since(began); took < 500*time.Millisecond {
		t.Errorf("three rounds took %v; want about 600 ms", took)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, beats := range s.seen {
		for i, b := range beats {
			if b.Seq != uint64(i+1) {
				t.Errorf("%s: beat %d has the number %d", id, i+1, b.Seq)
			}
		}
		if len(beats) < 2 || len(beats) > 4 {
			t.Errorf("%s has sent %d beats", id, len(beats))
		}
	}
	if r := meter.Read(); r.Taken < 290 || r.Failed != 0 || r.Repeated != 0 || len(s.seen) != 100 {
		t.Errorf("%d taken, %d failed, %d repeated, of %d devices", r.Taken, r.Failed, r.Repeated, len(s.seen))
	}
}

// Devices on one line send from one address, and those on different lines from different
// ones, also when they take over a connection from another line.
func TestDrive_Lines(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has more than one address for itself")
	}
	from, last := map[string]string{}, make(chan struct{})
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		id := strings.Split(r.URL.Path, "/")[3]
		if was, again := from[id]; again && was != host {
			t.Errorf("%s sends from %s, and from %s before", id, host, was)
		} else if len(from) == 4 && again && last != nil {
			close(last)
			last = nil
		}
		from[id] = host
		ok(w, "", 0)
	}))
	t.Cleanup(s.Close)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func(last chan struct{}) { <-last; cancel() }(last)
	devices := linkedDevices(4)
	for i, line := range []int{1, 14_999_999, 1, 251} {
		devices[i].character.Line = line
	}
	newTestClient(t, s.URL, 1).Drive(ctx, devices, 20*time.Millisecond, new(Meter))
	mu.Lock()
	defer mu.Unlock()
	want := map[string]string{"hs_0": "127.0.1.2", "hs_1": "127.239.250.250", "hs_2": "127.0.1.2", "hs_3": "127.0.2.2"}
	if !maps.Equal(from, want) {
		t.Errorf("devices sent from %v; want %v", from, want)
	}
}

// A device that is told to wait does, and then sends the same beat.
func TestDrive_RetryAfter(t *testing.T) {
	for _, status := range []int{429, 503} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			done := make(chan struct{})
			s := serveHeartbeats(t, func(w http.ResponseWriter, id string, number int) {
				if number == 1 {
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(status)
					return
				}
				ok(w, id, number)
				if number == 2 {
					close(done)
				}
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { <-done; cancel() }()
			var meter Meter
			newTestClient(t, s.URL, 8).Drive(ctx, linkedDevices(1), 10*time.Millisecond, &meter)
			beats, times := s.seen["hs_0"], s.times["hs_0"]
			if waited := times[1].Sub(times[0]); waited < time.Second || !reflect.DeepEqual(beats[0], beats[1]) {
				t.Errorf("after %v it sent %v instead of %v", waited, beats[1], beats[0])
			}
			if r := meter.Read(); r.Repeated != 1 {
				t.Errorf("%d were asked to come later", r.Repeated)
			}
		})
	}
}

// A key that is not right is no matter of patience.
func TestDrive_Refused(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := serveHeartbeats(t, func(w http.ResponseWriter, _ string, n int) {
		http.Error(w, `{"error":{"code":"unauthorized","message":"wrong key"}}`, http.StatusUnauthorized)
		if n == 3 {
			cancel()
		}
	})
	var meter Meter
	newTestClient(t, s.URL, 8).Drive(ctx, linkedDevices(1), 100*time.Millisecond, &meter)
	if r := meter.Read(); r.Failed < 2 || r.Repeated != 0 || !strings.Contains(r.Trouble, "wrong key") {
		t.Errorf("%d failed, %d repeated: %s", r.Failed, r.Repeated, r.Trouble)
	}
}

// An end comes also when the server hangs or is not there.
func TestDrive_Ends(t *testing.T) {
	release := make(chan struct{})
	s := serveHeartbeats(t, func(http.ResponseWriter, string, int) { <-release })
	defer close(release)
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, url := range []string{s.URL, gone.URL} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var meter Meter
		ended := make(chan struct{})
		go func() {
			newTestClient(t, url, 8).Drive(ctx, linkedDevices(50), 10*time.Millisecond, &meter)
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(5 * time.Minute): // the server would hang for ever
			t.Fatalf("%s: it does not end", url)
		}
	}
}

// All ways to end an answer are understood, and connections are used again.
func TestWire_Answers(t *testing.T) {
	const body = `{"data":{}}`
	for name, test := range map[string]struct {
		answer      string
		status      int
		connections int // for three beats
	}{
		"length":         {"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n" + body, 200, 1},
		"spelling":       {"HTTP/1.1 200 OK\r\ncontent-LENGTH:11\r\nX: y: z\r\n\r\n" + body, 200, 1},
		"chunked":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{\"data\r\n5\r\n\":{}}\r\n0\r\n\r\n", 200, 1},
		"last":           {"HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\n" + body, 200, 3},
		"refused":        {"HTTP/1.1 401 Unauthorized\r\nContent-Length: 11\r\n\r\n" + body, 401, 1},
		"without reason": {"HTTP/1.1 503 \r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", 503, 1},
	} {
		t.Run(name, func(t *testing.T) {
			server := rawServer(t, test.answer, -1)
			w := NewWire(t.Context(), newTestClient(t, "http://"+server.addr, 1).base)
			defer w.Close()
			for range 3 {
				r, err := w.send(t.Context(), linkedDevices(1)[0], &Beat{Seq: 1})
				if err != nil || r.status != test.status {
					t.Fatalf("got %+v, %v", r, err)
				}
				if test.status == 503 && r.retryAfter != 7*time.Second {
					t.Errorf("to be repeated after %v", r.retryAfter)
				}
			}
			if n := int(server.connections.Load()); n != test.connections {
				t.Errorf("%d connections; want %d", n, test.connections)
			}
		})
	}
}

func TestWire_Nonsense(t *testing.T) {
	for _, answer := range []string{
		"", "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}",
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
	} {
		server := rawServer(t, answer, 1)
		w := NewWire(t.Context(), newTestClient(t, "http://"+server.addr, 1).base)
		if r, err := w.send(t.Context(), linkedDevices(1)[0], &Beat{}); err == nil {
			t.Errorf("%q is taken for %+v", answer, r)
		}
		w.Close()
	}
}

// A connection that the server closed while it lay idle is no failure.
func TestWire_ClosedWhileIdle(t *testing.T) {
	server := rawServer(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 2)
	w := NewWire(t.Context(), newTestClient(t, "http://"+server.addr, 1).base)
	defer w.Close()
	for range 10 {
		if _, err := w.send(t.Context(), linkedDevices(1)[0], &Beat{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := server.connections.Load(); n != 5 {
		t.Errorf("%d connections for ten beats; two go over each", n)
	}
}

type raw struct {
	addr        string
	connections atomic.Int64
}

// rawServer answers every request with the same bytes, and closes a connection
// after so many; below 0: never.
func rawServer(t *testing.T, answer string, requests int) *raw {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &raw{addr: ln.Addr().String()}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			serving.Go(func() {
				defer conn.Close()
				in := make([]byte, 4096)
				for left := requests; left != 0; left-- {
					if _, err := conn.Read(in); err != nil {
						return
					}
					if _, err := conn.Write([]byte(answer)); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() { ln.Close(); serving.Wait() })
	return s
}

// Every beat of a minute is taken before the clock moves on, whatever it takes.
func TestMarch(t *testing.T) {
	var clock atomic.Int64
	var asked atomic.Int64
	s := serveHeartbeats(t, nil)
	minutes := map[string]int{}
	var mu sync.Mutex
	s.answer = func(w http.ResponseWriter, id string, number int) {
		if asked.Add(1)%100 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		mu.Lock()
		minutes[fmt.Sprint(id, " ", clock.Load())]++
		mu.Unlock()
		ok(w, id, number)
	}
	var meter Meter
	from, to := monday, monday.Add(30*time.Minute)
	set := func(now time.Time) { clock.Store(now.Unix()) }
	if err := newTestClient(t, s.URL, 8).March(t.Context(), linkedDevices(20), from, to, set, &meter); err != nil {
		t.Fatal(err)
	}
	if r := meter.Read(); r.Taken != 600 || r.Repeated < 6 || len(minutes) != 600 {
		t.Errorf("%d taken, %d repeated, %d minutes of devices; want 600", r.Taken, r.Repeated, len(minutes))
	}
	if !time.Unix(clock.Load(), 0).Equal(to) {
		t.Errorf("in the end it is %v", time.Unix(clock.Load(), 0))
	}
}

// A beat that is lost would change the outcome: better none.
func TestMarch_Fails(t *testing.T) {
	s := serveHeartbeats(t, func(w http.ResponseWriter, id string, number int) {
		if number == 3 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		ok(w, id, number)
	})
	err := newTestClient(t, s.URL, 8).March(t.Context(), linkedDevices(5), monday, monday.Add(time.Hour), func(time.Time) {}, &Meter{})
	if err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("March = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = newTestClient(t, s.URL, 8).March(ctx, linkedDevices(5), monday, monday.Add(time.Hour), func(time.Time) {}, &Meter{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestNewClient_Addresses(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:8080", "ftp://h", "http://", "http://h/v1", "http://h?x=y", "http://h:port"} {
		if _, err := NewClient(address, "k", 1); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
	for _, address := range []string{"http://h", "https://h:8443/", "http://[::1]:80"} {
		if _, err := NewClient(address, "k", 1); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}
