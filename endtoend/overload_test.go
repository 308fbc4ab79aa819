//go:build linux

package endtoend_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/rig"
)

// TestOverload asks a server for several times as much as it can do, while 200
// devices beat in their rhythm. Every beat is taken in time, others get an
// answer or are told to come back, memory stays within bounds, and soon after
// the flood all is as before.
func TestOverload(t *testing.T) {
	db := filepath.Join(t.TempDir(), "beacon.db")
	s := rig.Start(t, db, "--log-level", "warn")
	admin := rig.NewClient(t, rig.CreateKey(t, db, "admin").Key)
	devices := rig.LinkDevices(t, admin, s, 0, 200)

	// A few who wait for each answer keep it busy: that is what it can do.
	calm := flood(t, s, Flood{Key: admin.Key, Connections: 16, Deep: 1, Span: 2 * time.Second}, func() {})

	beats := make(chan latencies, 1)
	// Many who do not wait for answers keep it from ever being done.
	high := flood(t, s, Flood{Key: admin.Key, Connections: 320, Deep: 16, Span: 6 * time.Second}, func() {
		beats <- beatSteadily(t, admin, s, devices, 5*time.Second)
	})
	heard := <-beats
	t.Logf("capacity %.0f/s; in the flood %.0f/s were answered and %.0f/s turned away; %d beats, half of them within %v, 99 %% within %v, all within %v; %d MB",
		calm.rate(), high.rate(), float64(high.TurnedAway)/high.Span.Seconds(), len(heard), heard.quantile(0.5), heard.quantile(0.99), heard.quantile(1), memory(t, s)>>20)
	if heard.quantile(0.99) > 2*time.Second { // 500 ms, where nothing else runs on the machine
		t.Errorf("1 %% of the beats took more than %v", heard.quantile(0.99))
	}
	if high.rate()+float64(high.TurnedAway)/high.Span.Seconds() < calm.rate()/10 {
		t.Error("next to nobody but devices was answered")
	}
	if m := memory(t, s); m > 512<<20 {
		t.Errorf("the server took %d MB", m>>20)
	}
	s.Running(t)

	wellInARow := 0
	took := rig.Eventually(t, 10*time.Second, "all is as before", func() bool {
		a := admin.Do(t.Context(), http.MethodGet, s.URL+nearbyPath, nil)
		if a.Status != http.StatusOK || a.Took > 100*time.Millisecond {
			wellInARow = 0
		}
		wellInARow++
		return wellInARow > 50
	})
	t.Logf("50 requests in a row went well %v after the flood", took)
	rig.CheckTraffic(t, devices, admin.Readings(t, s))
}

const nearbyPath = "/v1/hotspots/nearby?lat=40&lng=-74&status=all&limit=20"

// Flood is a flood of requests for nearby, and what came of it. It comes from a
// process of its own: in the process that measures, it would be in the way.
type Flood struct {
	Address, Key string
	Connections  int
	Deep         int // requests under way on each connection
	Span         time.Duration

	Answered, TurnedAway int64
	Failure              string
}

// floodVariable makes this binary a flood.
const floodVariable = "BEACON_ENDTOEND_FLOOD"

func (f *Flood) rate() float64 { return float64(f.Answered) / f.Span.Seconds() }

// flood sends a flood, and does something else meanwhile.
func flood(t *testing.T, s *rig.Server, f Flood, meanwhile func()) Flood {
	t.Helper()
	f.Address = strings.TrimPrefix(s.URL, "http://")
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	source := exec.CommandContext(t.Context(), os.Args[0])
	source.Env = append(os.Environ(), floodVariable+"="+string(text))
	var out bytes.Buffer
	source.Stdout, source.Stderr = &out, os.Stderr
	if err := source.Start(); err != nil {
		t.Fatal(err)
	}
	meanwhile()
	err = source.Wait()
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &f)
	}
	if err != nil || f.Failure != "" {
		t.Fatalf("the flood ended with %v %s", err, f.Failure)
	}
	return f
}

// beFlood is what the other process does.
func beFlood(spec string) error {
	var f Flood
	if err := json.Unmarshal([]byte(spec), &f); err != nil {
		return err
	}
	request := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\n\r\n", nearbyPath, f.Key)
	ctx, cancel := context.WithTimeout(context.Background(), f.Span)
	defer cancel()
	var mu sync.Mutex
	var flooding sync.WaitGroup
	for range f.Connections {
		flooding.Go(func() {
			answered, turnedAway, err := pour(ctx, f.Address, request, f.Deep)
			mu.Lock()
			defer mu.Unlock()
			f.Answered += answered
			f.TurnedAway += turnedAway
			if err != nil {
				f.Failure = err.Error()
			}
		})
	}
	flooding.Wait()
	return json.NewEncoder(os.Stdout).Encode(f)
}

// pour asks over one connection.
func pour(ctx context.Context, address string, request []byte, deep int) (answered, turnedAway int64, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	answers := bufio.NewReaderSize(conn, 16<<10)
	if _, err := conn.Write(bytes.Repeat(request, deep)); err != nil {
		return 0, 0, err
	}
	for ctx.Err() == nil {
		status, err := readAnswer(answers)
		switch {
		case err != nil:
			return answered, turnedAway, err
		case status == http.StatusOK:
			answered++
		default:
			turnedAway++
		}
		if _, err := conn.Write(request); err != nil {
			return answered, turnedAway, err
		}
	}
	return answered, turnedAway, nil
}

// readAnswer reads as much HTTP as this takes: net/http would cost more than the
// server does. Beside 200, only 503 with Retry-After will do.
func readAnswer(in *bufio.Reader) (status int, err error) {
	length, retry := 0, false
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		switch {
		case first:
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, err
			}
		case len(name) == 0:
			if status != http.StatusOK && (status != http.StatusServiceUnavailable || !retry) {
				return status, fmt.Errorf("nearby answered %d; Retry-After: %v", status, retry)
			}
			_, err := in.Discard(length)
			return status, err
		case string(name) == "Content-Length":
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		case string(name) == "Retry-After":
			retry = true
		}
	}
}

// latencies are how long answers took, in order.
type latencies []time.Duration

func (l latencies) quantile(share float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[int(share*float64(len(l)-1))]
}

// beatSteadily lets each device beat twice a second for a while. Each has a
// connection of its own.
func beatSteadily(t *testing.T, c *rig.Client, s *rig.Server, devices []*rig.Device, span time.Duration) latencies {
	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	var mu sync.Mutex
	var all latencies
	var beating sync.WaitGroup
	for i, d := range devices {
		beating.Go(func() {
			const rhythm = 500 * time.Millisecond
			next := time.NewTimer(rhythm * time.Duration(i) / time.Duration(len(devices)))
			defer next.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-next.C:
				}
				next.Reset(rhythm)
				a := d.Beat(t.Context(), c, s)
				if a.Status != http.StatusOK {
					t.Errorf("in the flood, a beat was answered %d %s %v", a.Status, a.Code, a.Err)
				}
				mu.Lock()
				all = append(all, a.Took)
				mu.Unlock()
			}
		})
	}
	beating.Wait()
	slices.Sort(all)
	return all
}

// memory is the most that a process has used so far.
func memory(t testing.TB, s *rig.Server) (bytes int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	if n, err := fmt.Sscan(rest, &bytes); !found || n != 1 {
		t.Fatalf("no VmHWM: %v", err)
	}
	return bytes << 10
}
