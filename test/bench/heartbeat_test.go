package bench

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// beats is how the devices of a world beat: each in its turn, every beat another
// than all before.
type beats struct {
	devices []device
	boot    string // another in each run: a beat that is known costs nothing
	next    atomic.Int64
}

func newBeats(devices []device) *beats {
	return &beats{devices: devices, boot: fmt.Sprintf("%016x", time.Now().UnixNano())}
}

// The counters have as many digits as all that follow, so that every request is
// of one length.
const (
	firstSeq   = 100_000_000
	firstCount = 100_000_000_000
	bodyLength = 122
)

// request writes the next beat over out.
func (s *beats) request(out []byte) []byte {
	n := s.next.Add(1)
	d := &s.devices[int(n)%len(s.devices)]
	round := n / int64(len(s.devices))
	out = fmt.Appendf(out[:0], "POST /v1/hotspots/%s/heartbeats HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", d.hotspot, d.key, bodyLength)
	return fmt.Appendf(out, `{"boot_id":"%s","seq":%d,"clients":12,"rx_bytes":%d,"tx_bytes":%d,"rssi_dbm":-61}`,
		s.boot, firstSeq+round, firstCount+n, firstCount+round)
}

// crowd beats on many connections at once, as many devices do.
const crowd = 256

// drum sends n beats and gives how long each took, in microseconds. Interval is
// the time between two beats of one connection, 0 for none.
func (s *beats) drum(b *testing.B, p *process, n int, interval time.Duration) (took []float64) {
	b.Helper()
	var mu sync.Mutex
	var clients sync.WaitGroup
	failed := make(chan error, crowd)
	for c := range crowd {
		clients.Go(func() {
			times, err := s.client(p.addr, n/crowd, interval, time.Duration(c)*interval/crowd)
			if err != nil {
				failed <- err
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, times...)
		})
	}
	clients.Wait()
	select {
	case err := <-failed:
		b.Fatal(err)
	default:
	}
	return took
}

func (s *beats) client(addr string, n int, interval, offset time.Duration) (took []float64, err error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 4<<10)
	var request []byte
	began := time.Now().Add(offset)
	for i := range n {
		if interval > 0 {
			time.Sleep(time.Until(began.Add(time.Duration(i) * interval)))
		}
		request = s.request(request)
		sent := time.Now()
		if _, err := conn.Write(request); err != nil {
			return took, err
		}
		if err := skipAnswer(in); err != nil {
			return took, err
		}
		took = append(took, float64(time.Since(sent).Microseconds()))
	}
	return took, nil
}

// Heartbeats of a million hotspots, each durable before it is acknowledged.
// First the live network as it is, for more than a minute: 16,700 beats a
// second, with the load generator on the same machine. Then CPU per beat beside
// that of a bare handler that reads the same body and answers the same bytes, at
// the same rate and as fast as each can; the target is 1.5, and 1,200 bytes of
// memory a hotspot in all.
func BenchmarkHeartbeat(b *testing.B) {
	const n = 1_000_000
	w := newLiveWorld(b, n)
	subject := serveBeacon(b, "--db", w.file, "--rate-limit", "off", "--log-level", "debug")
	all := newBeats(w.devices)
	limit := bare(b, fetch(b, subject, string(all.request(nil))))

	const rate, seconds = 16_700, 70
	began, cpu := time.Now(), subject.cpu(b)
	took := all.drum(b, subject, rate*seconds, crowd*time.Second/rate)
	slices.Sort(took)
	elapsed := time.Since(began).Seconds()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(len(took))/elapsed, "beats/s")
	b.ReportMetric((subject.cpu(b)-cpu)/elapsed, "cores")
	b.ReportMetric(took[len(took)/2]/1e3, "ms-p50")
	b.ReportMetric(took[len(took)*99/100]/1e3, "ms-p99")

	// The first fold is for all; the next comes in five minutes.
	for deadline := time.Now().Add(3 * time.Minute); largestFold(b, subject.log).Hotspots == 0; time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			b.Fatal("no fold within three minutes")
		}
	}
	all.drum(b, limit, 20*perTurn, 0) // warm it up too
	besides := func(bouts, perBout int, interval time.Duration, note string) {
		ours, theirs := -subject.cpu(b), -limit.cpu(b)
		for range bouts {
			all.drum(b, subject, perBout, interval)
			all.drum(b, limit, perBout, interval)
		}
		ours, theirs = ours+subject.cpu(b), theirs+limit.cpu(b)
		total := float64(bouts * perBout)
		b.ReportMetric(ours/total*1e6, "µs-cpu/beat"+note)
		b.ReportMetric(theirs/total*1e6, "µs-cpu/beat-bare"+note)
		b.ReportMetric(ours/theirs, "×bare"+note)
	}
	besides(10, 2*rate, crowd*time.Second/rate, "") // two seconds each, as in the live network
	besides(60, 16*crowd, 0, "-flat-out")
	b.ReportMetric(subject.memory(b)/n, "B-rss/hotspot")
}
