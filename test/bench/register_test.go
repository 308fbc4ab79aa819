package bench

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver that the store uses
)

// window is how long each rate is measured.
const window = 2 * time.Second

// Registration over HTTP, durable on SQLite, in registrations a second: from
// one client and from 64, beside the rate at which the same driver commits
// transactions of one row. The targets: one client at least 0.6 of that rate,
// 64 clients at least 1.3 of one.
func BenchmarkRegister(b *testing.B) {
	file := filepath.Join(b.TempDir(), "register.db")
	db := open(b, file, time.Now())
	key := newKey(b, db, time.Now())
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	subject := serveBeacon(b, "--db", file, "--rate-limit", hugeLimit)
	var commits, one, many []float64
	for range 5 {
		commits = append(commits, commitRate(b))
		one = append(one, registerRate(b, subject, key, 1))
		many = append(many, registerRate(b, subject, key, 64))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(commits), "commits/s")
	b.ReportMetric(median(one), "registrations/s-1")
	b.ReportMetric(median(many), "registrations/s-64")
	b.ReportMetric(median(one)/median(commits), "×commits")
	b.ReportMetric(median(many)/median(one), "×one")
}

// commitRate is the limit: transactions of one row, each durable.
func commitRate(b *testing.B) float64 {
	b.Helper()
	file := filepath.Join(b.TempDir(), fmt.Sprintf("limit-%d.db", time.Now().UnixNano()))
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE rows (id text PRIMARY KEY, body text NOT NULL)"); err != nil {
		b.Fatal(err)
	}
	body := fmt.Sprintf("%0300d", 7) // as large as a hotspot
	count := 0
	began := time.Now()
	for ; time.Since(began) < window; count++ {
		if _, err := db.Exec("INSERT INTO rows VALUES (?, ?)", fmt.Sprintf("%020d", count), body); err != nil {
			b.Fatal(err)
		}
	}
	return float64(count) / time.Since(began).Seconds()
}

// serial makes every MAC of the run another.
var serial atomic.Int64

// registerRate lets clients register one hotspot after the other.
func registerRate(b *testing.B, p *process, key string, clients int) float64 {
	b.Helper()
	var count atomic.Int64
	var group sync.WaitGroup
	failed := make(chan error, clients)
	began := time.Now()
	for range clients {
		group.Go(func() {
			if err := keepRegistering(p.addr, key, began, &count); err != nil {
				failed <- err
			}
		})
	}
	group.Wait()
	took := time.Since(began).Seconds()
	select {
	case err := <-failed:
		b.Fatal(err)
	default:
	}
	return float64(count.Load()) / took
}

func keepRegistering(addr, key string, began time.Time, count *atomic.Int64) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for time.Since(began) < window {
		n := serial.Add(1)
		body := fmt.Sprintf(`{"name":"Corner of street %d","type":"public","location":{"lat":%.6f,"lng":%.6f,"address":"%d Long Street"},`+
			`"device":{"ssid":"beacon-guest","mac_address":"02:00:%02x:%02x:%02x:%02x"}}`,
			n, float64(n%170)-85, float64(n%359)-179, n, n>>24&255, n>>16&255, n>>8&255, n&255)
		_, err := fmt.Fprintf(conn, "POST /v1/hotspots HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			key, len(body), body)
		if err != nil {
			return err
		}
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusCreated {
			return fmt.Errorf("%d %s, %w", response.StatusCode, answer, err)
		}
		count.Add(1)
	}
	return nil
}
