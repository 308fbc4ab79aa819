package main

import (
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// flood sends wrong keys until they are refused unread, and reports whether they
// are; address gives what the i-th one says of where it comes from.
func flood(t *testing.T, p *process, address func(i int) string) bool {
	t.Helper()
	var sent atomic.Int64
	var refused atomic.Bool
	var senders sync.WaitGroup
	for range 8 { // together they are faster than the limit, which is 100 at once and 20 a second
		senders.Go(func() {
			for i := sent.Add(1); i < 5000 && !refused.Load(); i = sent.Add(1) {
				if status, _ := fetch(t, p.url+"/v1/keys/self", "Authorization", "Bearer wrong", "X-Forwarded-For", address(int(i))); status == http.StatusTooManyRequests {
					refused.Store(true)
				}
			}
		})
	}
	senders.Wait()
	return refused.Load()
}

// Behind proxies that the server knows, limits count whom those heard from. From
// anyone else, the header is nothing but a claim.
func TestServe_TrustedProxies(t *testing.T) {
	t.Parallel()
	p := startServer(t, nil, "--trusted-proxies", "127.0.0.1,10.0.0.0/8")
	for _, tc := range []struct {
		flooding, same, other string
	}{
		{"192.0.2.1", "203.0.113.1, 192.0.2.1, 10.9.9.9", "192.0.2.2"},
		{"2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"}, // decision N21: by /64
	} {
		// One more is let through every 50 ms, which may be just then. An address
		// with a limit of its own would be let through 100 times.
		for tries := 1; ; tries++ {
			if !flood(t, p, func(int) string { return tc.flooding }) {
				t.Errorf("%s may send wrong keys without end", tc.flooding)
			}
			status, body := fetch(t, p.url+"/v1/keys/self", "Authorization", "Bearer wrong", "X-Forwarded-For", tc.same)
			if status == http.StatusTooManyRequests {
				break
			}
			if tries == 90 {
				t.Errorf("%s has another limit than %s: %d %s", tc.same, tc.flooding, status, body)
				break
			}
		}
		if status, body := fetch(t, p.url+"/v1/keys/self", "Authorization", "Bearer wrong", "X-Forwarded-For", tc.other); status != http.StatusUnauthorized {
			t.Errorf("%s suffers for %s: %d %s", tc.other, tc.flooding, status, body)
		}
	}
	p.stop(t)
	if log := p.log.String(); !strings.Contains(log, `"remote":"192.0.2.2:0"`) || strings.Contains(log, "203.0.113.1") {
		t.Errorf("the log does not name the clients alone: %.2000s", log)
	}

	p = startServer(t, nil)
	if !flood(t, p, func(i int) string { return net.IPv4(192, 0, byte(i>>8), byte(i)).String() }) {
		t.Error("with made-up addresses, wrong keys may be sent without end")
	}
	p.stop(t)
}

func TestServe_MaxConnectionsPerAddress(t *testing.T) {
	t.Parallel()
	p := startServer(t, nil, "--max-connections-per-address", "2")
	admin := p.adminURL(t)
	served := 0
	for range 4 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")) // it may be closed already
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			served++
		}
	}
	if served != 2 {
		t.Errorf("%d of 4 connections are served; want 2", served)
	}
	if _, body := fetch(t, admin+"/metrics"); !strings.Contains(body, "\nbeacon_connections_refused_total 2\n") {
		t.Error("the metrics do not count 2 refused connections")
	}
}

func TestServe_ProxiesUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--trusted-proxies", "10.0.0.0/8,proxy.example.org"}, {"--trusted-proxies", "10.0.0.7/8"}, {"--max-connections-per-address=-1"},
	} {
		out, err := exec.Command("beacon", append([]string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", "off", "--db", t.TempDir() + "/beacon.db"}, args...)...).CombinedOutput()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != exitUsage || !strings.Contains(string(out), strings.SplitN(args[0], "=", 2)[0]) {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
}
