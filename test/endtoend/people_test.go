//go:build linux

package endtoend_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
)

// TestPeople_Gone: of people whom every server knows well, one is signed out, one suspended
// and one removed, over HTTP through one server or on the command line beside them, and soon
// none lets them do any more what they did. How soon is decision N23, as for keys; this only
// logs it.
func TestPeople_Gone(t *testing.T) {
	t.Parallel() // it mostly waits
	for kind, db := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "beacon.db"), "postgres": ""} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if db == "" {
				db = storetest.Postgres(t)
			}
			testGone(t, db, []*harness.Server{harness.Start(t, db), harness.Start(t, db), harness.Start(t, db)})
		})
	}
}

func testGone(t *testing.T, db string, servers []*harness.Server) {
	at := servers[0]
	ada := browser{}.enters(t, at, harness.Command(t, "people", "invite", "--db", db, "--post", "admin"))
	founder := browser{}.enters(t, at, harness.Command(t, "people", "invite", "--db", db, "--account", "new"))
	const mine, members = "/v1/people/me", "/v1/users/me/members"
	for _, way := range []struct {
		name, path string
		status     int
		do         func(b browser)
	}{
		{"signed out", mine, http.StatusUnauthorized, func(b browser) { b.wants(t, at, http.StatusNoContent, "DELETE", "/console/session", "") }},
		{"suspended over HTTP", mine, http.StatusUnauthorized, func(b browser) {
			ada.wants(t, at, http.StatusOK, "PATCH", "/v1/people/"+b.person, `{"suspended":true}`)
		}},
		{"suspended by command", mine, http.StatusUnauthorized, func(b browser) { harness.Command(t, "people", "suspend", "--db", db, b.person) }},
		{"removed", members, http.StatusForbidden, func(b browser) {
			founder.wants(t, at, http.StatusNoContent, "DELETE", members+"/"+b.person, "")
		}},
	} {
		b := browser{}.enters(t, at, harness.Command(t, "people", "invite", "--db", db, "--account", founder.account, "--role", "viewer"))
		for _, s := range servers {
			// It must be in memory everywhere, or the test shows nothing.
			for range 3 {
				b.wants(t, s, http.StatusOK, "GET", way.path, "")
			}
		}
		way.do(b)
		done := time.Now()
		for _, s := range servers {
			harness.Eventually(t, way.name+": refused", func() bool {
				status, _ := b.send(t, s, "GET", way.path, "")
				return status == way.status
			})
		}
		t.Logf("%s: refused by all %d servers after %v", way.name, len(servers), time.Since(done))
		for _, s := range servers { // and it stays so
			b.wants(t, s, way.status, "GET", way.path, "")
		}
	}
}

// browser is one in which someone may be signed in.
type browser struct{ cookie, person, account string }

// send sends a request as a page of the console does, and returns what came back.
func (b *browser) send(t *testing.T, s *harness.Server, method, path, body string) (status int, text []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Origin": s.URL, "Beacon-Account": b.account, "Cookie": b.cookie} {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	if set := response.Cookies(); len(set) == 1 && set[0].Value != "" {
		b.cookie = set[0].Name + "=" + set[0].Value
	}
	return response.StatusCode, text
}

func (b *browser) wants(t *testing.T, s *harness.Server, want int, method, path, body string) (text []byte) {
	t.Helper()
	status, text := b.send(t, s, method, path, body)
	if status != want {
		t.Fatalf("%s %s answered %d %s; want %d", method, path, status, text, want)
	}
	return text
}

// enters accepts an invitation that a command printed.
func (b browser) enters(t *testing.T, s *harness.Server, invitation string) browser {
	t.Helper()
	_, token, _ := strings.Cut(strings.TrimSpace(invitation), "/#/join/")
	var answer struct {
		Data struct {
			Person struct {
				ID          string `json:"id"`
				Memberships []struct{ Account string }
			}
		}
	}
	text := b.wants(t, s, http.StatusOK, "POST", "/console/invitations/accept", `{"token":"`+token+`","name":"Ada"}`)
	if err := json.Unmarshal(text, &answer); err != nil || b.cookie == "" {
		t.Fatalf("%s: %v; the cookie is %q", text, err, b.cookie)
	}
	b.person = answer.Data.Person.ID
	for _, m := range answer.Data.Person.Memberships {
		b.account = m.Account
	}
	return b
}
