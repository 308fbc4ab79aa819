package main

import (
	"bytes"
	"html"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

var (
	operationPart = regexp.MustCompile(`(?s)<section class="card operation" id="op-(\w+)" aria-label="([^"]+)">.*?</section>`)
	statusPart    = regexp.MustCompile(`<span class="status s\d">(\d+)</span>`)
	curlPart      = regexp.MustCompile(`(?s)<pre class="curl" tabindex="0"[^>]*><code>(.*?)</code></pre>`)
)

// The lines to copy are copied, into a shell: each asks what it should, and is
// understood.
func TestDocs_LinesToCopy(t *testing.T) {
	t.Parallel()
	level.Tool(t, "curl", "curl")
	p := startServer(t, nil, "--clock-start", "2026-11-15T12:00:00Z") // examples have days
	db := p.cmd.Dir + "/beacon.db"
	key, err := exec.Command("beacon", "keys", "create", "--db", db, "--user", "new", "--scopes", "admin").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"preview", "network"} {
		overview := "/docs/api/" + page
		body := fetchPage(t, p.url+overview)
		first := html.UnescapeString(curlPart.FindStringSubmatch(body)[1])
		if got := runLine(t, first, strings.TrimSpace(string(key))); got != "200" {
			t.Errorf("the first request of %s is answered with %s:\n%s", page, got, first)
		}
		var parts [][]string
		links := regexp.MustCompile(`class="tag"><th[^>]*><a href="(`+overview+`/[^"]+)"`).FindAllStringSubmatch(body, -1)
		for _, link := range links {
			parts = append(parts, operationPart.FindAllStringSubmatch(fetchPage(t, p.url+link[1]), -1)...)
		}
		if len(parts) < 12 {
			t.Errorf("%s has %d operations", page, len(parts))
		}
		for _, part := range parts {
			line := html.UnescapeString(curlPart.FindStringSubmatch(part[0])[1])
			var documented []string
			for _, s := range statusPart.FindAllStringSubmatch(part[0], -1) {
				documented = append(documented, s[1])
			}
			got := runLine(t, line, strings.TrimSpace(string(key)))
			// There is no hotspot with this id, no device, no closed day, no reserved MAC.
			understood := []string{"200", "201", "204"}
			if strings.Contains(part[2], "{") || slices.Contains([]string{"linkDevice", "enrolDevice", "placeHold", "reopenDays", "releaseMac", "replayRewards"}, part[1]) {
				understood = append(understood, "401", "403", "404", "409")
			}
			if strings.Contains(part[2], "/people/me") { // for people alone: a line has a key
				understood = []string{"403"}
			}
			if !slices.Contains(documented, got) || !slices.Contains(understood, got) {
				t.Errorf("%s is answered with %s:\n%s", part[2], got, line)
			}
		}
	}
	p.stop(t)
}

func fetchPage(t *testing.T, url string) string {
	t.Helper()
	status, body := fetch(t, url)
	if status != http.StatusOK {
		t.Fatalf("%s: %d", url, status)
	}
	return body
}

// runLine gives the status of the answer. A stream is left after a second.
func runLine(t *testing.T, line, key string) string {
	t.Helper()
	const id = "hs_01kb3gzk00e9x8q6s5t4v3w2y1"
	shell := exec.Command("sh", "-eu", "-c", line+` -s -o /dev/null -w '%{http_code}' --max-time "$WAIT"`)
	wait := "30"
	if strings.Contains(line, "/v1/events") {
		wait = "1"
	}
	shell.Env = append(shell.Environ(), "KEY="+key, "DEVICE_KEY="+key, "ID="+id, "MONTH=2026-10", "KIND=too_regular", "WAIT="+wait)
	var problems bytes.Buffer
	shell.Stderr = &problems
	out, err := shell.Output()
	if err != nil && wait == "30" {
		t.Errorf("%v %s:\n%s", err, problems.String(), line)
	}
	return string(out)
}
