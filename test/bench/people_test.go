package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What people cost: CPU time per nearby request and per heartbeat with a key, where nobody ever
// signed in and where 1,000 people are signed in, and per nearby request by the session of a
// person; each beside a bare handler that answers the same bytes, in turns. With a key the two
// must cost the same. A small form, TestPeople_Allocations in internal/api, is run by make test.
func BenchmarkPeople(b *testing.B) {
	const people = 1000
	w := newLiveWorld(b, min(monthHotspots(), 300_000))
	binary := build(b)
	var servers []*process
	cookie := ""
	for _, name := range []string{"without", "with"} {
		file := filepath.Join(b.TempDir(), name+".db")
		if err := copyFile(file, w.file); err != nil {
			b.Fatal(err)
		}
		p := serveBeacon(b, "--db", file, "--rate-limit", hugeLimit, "--load-shedding", "off")
		if name == "with" {
			cookie = signIn(b, binary, file, p, people)
		}
		servers = append(servers, p)
	}
	without, with := servers[0], servers[1]
	var byKey, bySession []string
	for _, at := range w.places {
		path := fmt.Sprintf("/v1/hotspots/nearby?lat=%.6f&lng=%.6f&status=all", at.Lat, at.Lng)
		request := get(path, "Authorization: Bearer "+w.key)
		if answer := fetch(b, without, request); len(answer.Body) > 6000 {
			byKey = append(byKey, request)
			session := get(path, "Cookie: "+cookie, "Sec-Fetch-Site: same-origin")
			bySession = append(bySession, strings.Replace(session, "Host: beacon", "Host: "+with.addr, 1)) // a session over HTTP is for this machine
		}
	}
	if len(byKey) == 0 {
		b.Fatal("no place has 20 hotspots nearby")
	}
	near, limit := 10*perTurn, bare(b, fetch(b, without, byKey[0]))
	asks := func(p *process, requests []string) func(turn int) {
		return func(turn int) { load(b, p, requests, turn*near, near) }
	}
	took := inTurns(b, near, []kind{
		{limit, asks(limit, byKey)}, {without, asks(without, byKey)}, {with, asks(with, byKey)}, {with, asks(with, bySession)},
	})
	next := newBeats(w.devices)
	beats := 64 * crowd
	drums := func(p *process) func(int) { return func(int) { next.drum(b, p, beats, 0) } }
	limit = bare(b, fetch(b, without, string(next.request(nil))))
	beat := inTurns(b, beats, []kind{{limit, drums(limit)}, {without, drums(without)}, {with, drums(with)}})
	b.ReportMetric(0, "ns/op")
	for i, name := range []string{"-bare", "", "-with-people", "-by-session"} {
		b.ReportMetric(took[i], "µs-cpu/nearby"+name)
		b.ReportMetric(took[i]/took[0], "×bare/nearby"+name)
	}
	b.ReportMetric(took[2]/took[1], "×without-people/nearby")
	b.ReportMetric(took[3]/took[2], "×key/nearby-by-session")
	b.ReportMetric(beat[1]/beat[0], "×bare/beat")
	b.ReportMetric(beat[2]/beat[0], "×bare/beat-with-people")
	b.ReportMetric(beat[2]/beat[1], "×without-people/beat")
}

// kind is one kind of request, and the process that it is sent to.
type kind struct {
	to   *process
	send func(turn int)
}

// inTurns sends n requests of each kind in turns, and returns the median CPU time that each
// took for one, in microseconds. The first turn warms up.
func inTurns(b *testing.B, n int, kinds []kind) []float64 {
	b.Helper()
	took := make([][]float64, len(kinds))
	for turn := range 12 {
		for i, k := range kinds {
			before := k.to.cpu(b)
			k.send(turn)
			if turn > 0 {
				took[i] = append(took[i], (k.to.cpu(b)-before)/float64(n)*1e6)
			}
		}
	}
	medians := make([]float64, len(kinds))
	for i, all := range took {
		b.Logf("kind %d: %.1f µs a request", i, all)
		medians[i] = median(all)
	}
	return medians
}

// signIn lets people found accounts of their own, each of whom is signed in then, and returns
// the cookie of the first.
func signIn(b *testing.B, binary, file string, p *process, people int) (cookie string) {
	b.Helper()
	invite := exec.CommandContext(b.Context(), binary, "people", "invite", "--db", file, "--post", "admin", "--post", "verifier") // whom no daily limit holds
	link, err := invite.Output()
	if err != nil {
		b.Fatal(err)
	}
	token := func(link string) string { return link[strings.LastIndex(link, "/")+1:] }
	_, cookie = tell(b, p, "", "/console/invitations/accept", `{"token":"`+token(strings.TrimSpace(string(link)))+`","name":"Ada"}`)
	for range people - 1 {
		made, _ := tell(b, p, cookie, "/v1/invitations", `{"account":"new"}`)
		tell(b, p, "", "/console/invitations/accept", `{"token":"`+token(made)+`","name":"Ben"}`)
	}
	return cookie
}

// tell sends a request of a page, and returns the link and the cookie of the answer.
func tell(b *testing.B, p *process, cookie, path, body string) (link, set string) {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://"+p.addr+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	for name, value := range map[string]string{"Origin": "http://" + p.addr, "Content-Type": "application/json", "Beacon-Account": "", "Cookie": cookie} {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	var answer struct{ Data struct{ Link string } }
	if err != nil || response.StatusCode != http.StatusOK || json.Unmarshal(text, &answer) != nil {
		b.Fatalf("%s: %s %s, %v", path, response.Status, text, err)
	}
	if i := slices.IndexFunc(response.Cookies(), func(c *http.Cookie) bool { return c.Value != "" }); i >= 0 {
		set = response.Cookies()[i].Name + "=" + response.Cookies()[i].Value
	}
	return answer.Data.Link, set
}
