package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/beacon-wifi/beacon/client"
)

// table writes a file of so many hotspots.
func table(t testing.TB, count int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hotspots.csv")
	var text strings.Builder
	text.WriteString("name,type,lat,lng,ssid,mac_address\n")
	for n := range count {
		fmt.Fprintf(&text, "Hotspot %d,home,%d,2,x,02005e%06x\n", n, n%90, n)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// importServer is a server, and a user at it whom no quota limits.
func importServer(t *testing.T) (address, key string, own *client.Client) {
	t.Helper()
	return importServerAs(t, "hotspots:write,hotspots:verify")
}

// importServerAs is a server, and a key at it with scopes.
func importServerAs(t *testing.T, scopes string) (address, key string, own *client.Client) {
	t.Helper()
	p := startServer(t, nil, "--rate-limit", "off")
	t.Cleanup(func() { p.stop(t) })
	var out, diagnosis bytes.Buffer
	if run(t.Context(), []string{"keys", "create", "--user", "new", "--scopes", scopes, "--db", filepath.Join(p.cmd.Dir, "beacon.db")}, &out, &diagnosis) != 0 {
		t.Fatal(diagnosis.String())
	}
	key = strings.TrimSpace(out.String())
	own, err := client.New(p.url, key)
	if err != nil {
		t.Fatal(err)
	}
	return p.url, key, own
}

func total(t *testing.T, c *client.Client) int {
	t.Helper()
	page, err := c.HotspotsPage(context.WithoutCancel(t.Context()), "me", client.PageQuery{PerPage: 1})
	if err != nil {
		t.Fatal(err)
	}
	return page.Total
}

// interruptAt passes requests on to a server, and interrupts something just before the
// n-th.
func interruptAt(t *testing.T, server string, n int64, interrupt func()) http.Handler {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	var seen atomic.Int64
	proxy := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorLog: log.New(io.Discard, "", 0), // that a client has left is what it is about
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seen.Add(1) == n {
			interrupt()
		}
		proxy.ServeHTTP(w, r)
	})
}

// An import that is interrupted leaves what it did, and the next one does the rest.
func TestImport_Interrupted(t *testing.T) {
	t.Parallel()
	const count = 1000
	server, key, own := importServer(t)
	file := table(t, count)
	ctx, cancel := context.WithCancel(t.Context())
	between := httptest.NewServer(interruptAt(t, server, 5, cancel))
	defer between.Close()
	var out, diagnosis bytes.Buffer
	code := run(ctx, []string{"import", file, "--url", between.URL, "--key", key, "--connections", "2"}, &out, &diagnosis)
	if code != exitFailed || !strings.Contains(diagnosis.String(), "interrupted; import the file again to continue") || !strings.Contains(out.String(), " registered, ") {
		t.Fatalf("exit code %d, %s %s", code, &out, &diagnosis)
	}
	before := total(t, own)
	if before >= count {
		t.Fatal("all was imported although it was interrupted")
	}
	importRest(t, server, key, file, count, before, own)
}

// importRest imports a file of which some hotspots are there, and wants the rest registered.
func importRest(t *testing.T, server, key, file string, count, before int, own *client.Client) {
	t.Helper()
	var out, diagnosis bytes.Buffer
	if code := run(t.Context(), []string{"import", file, "--url", server, "--key", key}, &out, &diagnosis); code != exitDone {
		t.Fatalf("exit code %d, %s", code, &diagnosis)
	}
	var registered, there int // what was on its way may have arrived after we looked
	_, err := fmt.Sscanf(out.String(), "%d registered, %d already there, 0 failed", &registered, &there)
	if err != nil || there < before || registered+there != count || total(t, own) != count {
		t.Errorf("%d were there; it says %s, %v; %d are there now", before, &out, err, total(t, own))
	}
}

// An import whose process is killed is as good as one that is interrupted.
func TestImport_Killed(t *testing.T) {
	t.Parallel()
	const count = 1000
	server, key, own := importServer(t)
	file := table(t, count)
	started := make(chan *os.Process, 1)
	between := httptest.NewServer(interruptAt(t, server, 6, func() {
		if err := (<-started).Kill(); err != nil {
			t.Error(err)
		}
	}))
	defer between.Close()
	importing := exec.Command("beacon", "import", file, "--url", between.URL, "--key", key, "--connections", "2")
	if err := importing.Start(); err != nil {
		t.Fatal(err)
	}
	started <- importing.Process
	if err := importing.Wait(); err == nil || importing.ProcessState.Exited() {
		t.Fatalf("the import ended by itself: %v", err)
	}
	before := total(t, own)
	if before == 0 || before >= count {
		t.Fatalf("%d were registered before the kill", before)
	}
	importRest(t, server, key, file, count, before, own)
}

// What makes an import fast is how few requests it takes: one for a hundred hotspots, or for
// a hundred that are there. It needs one more for the key, and one for the list.
func TestImport_Requests(t *testing.T) {
	t.Parallel()
	const count = 1000
	server, key, _ := importServer(t)
	file := table(t, count)
	for _, said := range []string{"1000 registered, 0 already there, 0 failed\n", "0 registered, 1000 already there, 0 failed\n"} {
		var requests atomic.Int64
		pass := interruptAt(t, server, 0, nil)
		between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			pass.ServeHTTP(w, r)
		}))
		var out, diagnosis bytes.Buffer
		code := run(t.Context(), []string{"import", file, "--url", between.URL, "--key", key}, &out, &diagnosis)
		between.Close()
		if code != exitDone || out.String() != said || requests.Load() > count/100+2 {
			t.Errorf("exit code %d, %d requests, %s %s; want %s", code, requests.Load(), &out, &diagnosis, said)
		}
	}
}

// Two imports of one file at once register each hotspot once, and neither fails.
func TestImport_Twice(t *testing.T) {
	t.Parallel()
	const count = 200
	server, key, own := importServer(t)
	file := table(t, count)
	var importing sync.WaitGroup
	var out [2]bytes.Buffer
	for i := range out {
		importing.Go(func() {
			var diagnosis bytes.Buffer
			if code := run(t.Context(), []string{"import", file, "--url", server, "--key", key}, &out[i], &diagnosis); code != exitDone {
				t.Errorf("exit code %d, %s", code, &diagnosis)
			}
		})
	}
	importing.Wait()
	sum := 0
	for i := range out {
		var registered, there int
		if _, err := fmt.Sscanf(out[i].String(), "%d registered, %d already there, 0 failed", &registered, &there); err != nil || registered+there != count {
			t.Errorf("it says %s, %v", &out[i], err)
		}
		sum += registered
	}
	if sum != count || total(t, own) != count {
		t.Errorf("%d were registered, %d are there; want %d", sum, total(t, own), count)
	}
}

// An operator who imports more hotspots than may wait to be verified learns what to do,
// and imports the rest when staff have raised the quota.
func TestImport_Quota(t *testing.T) {
	t.Parallel()
	server, _, staff := importServerAs(t, "admin")
	made, err := staff.CreateKey(t.Context(), client.KeyCreation{UserID: "new", Scopes: []string{client.ScopeHotspotsWrite}})
	if err != nil {
		t.Fatal(err)
	}
	file := table(t, 60)
	var out, diagnosis bytes.Buffer
	code := run(t.Context(), []string{"import", file, "--url", server, "--key", made.Secret}, &out, &diagnosis)
	if code != exitFailed || !strings.Contains(diagnosis.String(), "you have 50 hotspots that wait to be verified, the most allowed: wait until staff have verified some, delete some, or ask staff for a higher quota") {
		t.Errorf("exit code %d, %s %s", code, &out, &diagnosis)
	}
	if _, err := staff.SetQuota(t.Context(), made.UserID, client.QuotaForm{Hotspots: new(60)}); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	code = run(t.Context(), []string{"import", file, "--url", server, "--key", made.Secret}, &out, &diagnosis)
	var registered, there int // a request that the first import broke off may have come to its end since
	_, err = fmt.Sscanf(out.String(), "%d registered, %d already there, 0 failed", &registered, &there)
	if code != exitDone || err != nil || registered+there != 60 || there < 50 {
		t.Errorf("with a higher quota: exit code %d, %s %s", code, &out, &diagnosis)
	}
}
