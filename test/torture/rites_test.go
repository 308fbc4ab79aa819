//go:build linux

package torture_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	shapes "github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/visitor"
)

// origin is where people reach the servers: passkeys know it, and it stays as servers come and
// go.
const origin = "https://wifi.example.org"

// browser is one in which someone may be signed in.
type browser struct {
	cookie string
	me     shapes.Person
}

// send sends a request as a page of the console does. Status is 0 if no answer came.
func (b *browser) send(t *testing.T, s *harness.Server, method, path, body string) (status int, text []byte, header http.Header) {
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, nil, nil
	}
	page, _ := url.Parse(origin)
	request.Host, request.Close = page.Host, true
	request.Header.Set("Origin", origin)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Beacon-Account", "")
	if len(b.me.Memberships) > 0 {
		request.Header.Set("Beacon-Account", b.me.Memberships[0].Account)
	}
	if b.cookie != "" {
		request.Header.Set("Cookie", b.cookie)
	}
	response, err := (&http.Client{Timeout: harness.Patience}).Do(request)
	if err != nil {
		return 0, nil, nil
	}
	defer response.Body.Close()
	if text, err = io.ReadAll(response.Body); err != nil {
		return 0, nil, nil
	}
	return response.StatusCode, text, response.Header
}

// tell sends a request that must succeed, and reads what it answers.
func tell[T any](t *testing.T, b *browser, s *harness.Server, method, path, body string) (data T, header http.Header) {
	t.Helper()
	status, text, header := b.send(t, s, method, path, body)
	answer := struct{ Data T }{}
	if err := json.Unmarshal(text, &answer); status != http.StatusOK || err != nil {
		t.Fatalf("%s %s answered %d %s: %v", method, path, status, text, err)
	}
	return answer.Data, header
}

// enter passes a door.
func (b *browser) enter(t *testing.T, s *harness.Server, path, body string) {
	t.Helper()
	in, header := tell[shapes.SignedIn](t, b, s, "POST", path, body)
	b.me = in.Person
	if set := header.Get("Set-Cookie"); set != "" {
		b.cookie, _, _ = strings.Cut(set, ";")
	}
}

// does is a rite of one request. What it answers is not read: nobody is signed in by it.
func (b *browser) does(name, method, path, body string, once bool, does map[string]int64) rite {
	return rite{name: name, once: once, does: does, send: func(t *testing.T, s *harness.Server) int {
		status, _, _ := b.send(t, s, method, path, body)
		return status
	}}
}

func secretOf(link string) string { return link[strings.LastIndex(link, "/")+1:] }

// firstAdmin is the first rite of a network.
func (r *rites) firstAdmin(t *testing.T) rite {
	t.Helper()
	token := secretOf(strings.TrimSpace(r.clock.Command(t, "keys", "invite", "--db", r.db)))
	return (&browser{}).does("the first admin", "POST", "/console/first-admin", `{"token":"`+token+`","name":"Ada"}`, true,
		map[string]int64{"people": 1, "members": 2, "sessions": 1, "first admins": 1})
}

// prepare begins two of each rite: one to be killed, and one to be acknowledged.
func (r *rites) prepare(t *testing.T, s *harness.Server) (killed, acknowledged []rite) {
	t.Helper()
	ada := &browser{} // another admin: nobody got the answer to the first
	for _, to := range [][]string{{"--account", "new"}, {"--post", "admin"}} {
		link := r.clock.Command(t, append([]string{"people", "invite", "--db", r.db}, to...)...)
		ada.enter(t, s, "/console/invitations/accept", `{"token":"`+secretOf(strings.TrimSpace(link))+`","name":"Ada"}`)
	}
	return r.each(t, s, ada), r.each(t, s, ada)
}

// each begins one of each rite.
func (r *rites) each(t *testing.T, s *harness.Server, ada *browser) (all []rite) {
	t.Helper()
	invite := func(role string) string {
		made, _ := tell[shapes.CreatedInvitation](t, ada, s, "POST", "/v1/users/me/invitations", `{"role":"`+role+`"}`)
		return secretOf(made.Link)
	}
	member := func(role string) *browser {
		b := &browser{}
		b.enter(t, s, "/console/invitations/accept", `{"token":"`+invite(role)+`","name":"Someone"}`)
		return b
	}
	nobody := &browser{}
	add := func(by *browser, name, method, path, body string, once bool, does map[string]int64) {
		all = append(all, by.does(name, method, path, body, once, does))
	}
	add(nobody, "an invitation", "POST", "/console/invitations/accept", `{"token":"`+invite("manager")+`","name":"Ben"}`, true,
		map[string]int64{"people": 1, "members": 1, "accepted": 1, "sessions": 1})

	lost := member("viewer")
	link, _ := tell[shapes.SignInLink](t, ada, s, "POST", "/v1/people/"+lost.me.ID+"/link", "")
	add(nobody, "a link", "POST", "/console/links/use", `{"token":"`+secretOf(link.Link)+`"}`, true, map[string]int64{"links": -1, "sessions": 1, "recovered": 1})

	coded, fresh := member("installer"), member("installer")
	codes := func(b *browser) string {
		made, _ := tell[shapes.RecoveryCodes](t, b, s, "POST", "/v1/people/me/codes", "")
		return `{"code":"` + made.Codes[0] + `"}`
	}
	code := codes(coded)
	if status, text, _ := coded.send(t, s, "POST", "/v1/people/me/codes/confirmation", code); status != http.StatusNoContent {
		t.Fatalf("the codes are not in force: %d %s", status, text)
	}
	add(nobody, "a code", "POST", "/console/codes/use", code, true, map[string]int64{"codes": -1, "sessions": 1, "recovered": 1})
	add(member("installer"), "making codes", "POST", "/v1/people/me/codes", "", false, map[string]int64{"new codes": 10})
	add(fresh, "confirming codes", "POST", "/v1/people/me/codes/confirmation", codes(fresh), false, map[string]int64{"new codes": -10, "codes": 10})

	page, _ := url.Parse(origin)
	adder, keeper, phone := member("installer"), member("installer"), visitor.NewPhone(page.Host, origin)
	begun, _ := tell[shapes.Ceremony](t, adder, s, "POST", "/console/passkeys/begin", "")
	add(adder, "a passkey", "POST", "/console/passkeys/finish", visitor.NewPhone(page.Host, origin).Make(t, begun.Ceremony, begun.Options), true,
		map[string]int64{"passkeys": 1, "ceremonies": -1})
	begun, _ = tell[shapes.Ceremony](t, keeper, s, "POST", "/console/passkeys/begin", "")
	_, _ = tell[shapes.Passkey](t, keeper, s, "POST", "/console/passkeys/finish", phone.Make(t, begun.Ceremony, begun.Options))
	begun, _ = tell[shapes.Ceremony](t, nobody, s, "POST", "/console/passkeys/sign-in/begin", "")
	add(nobody, "signing in with a passkey", "POST", "/console/passkeys/sign-in/finish", phone.Sign(t, begun.Ceremony, begun.Options), true,
		map[string]int64{"sessions": 1, "ceremonies": -1, "used passkeys": 1})

	manager := func() string { // who has given what is taken back with the role
		b := member("manager")
		_, _ = tell[shapes.CreatedInvitation](t, b, s, "POST", "/v1/users/me/invitations", `{"role":"manager"}`)
		_, _ = tell[shapes.CreatedKey](t, b, s, "POST", "/v1/keys", `{"scopes":["hotspots:write"]}`)
		return b.me.ID
	}
	add(ada, "another role", "PATCH", "/v1/users/me/members/"+manager(), `{"role":"viewer"}`, false, map[string]int64{"viewers": 1, "withdrawn": 1, "revoked keys": 1})
	add(ada, "a removal", "DELETE", "/v1/users/me/members/"+manager(), "", false, map[string]int64{"members": -1, "left": 1, "withdrawn": 1, "revoked keys": 1})
	add(ada, "a suspension", "PATCH", "/v1/people/"+manager(), `{"suspended":true}`, false, map[string]int64{"suspended": 1, "sessions": -1, "withdrawn": 1, "revoked keys": 1})

	arriving := &browser{}
	left, header := tell[shapes.Departure](t, arriving, s, "POST", "/console/oidc/begin", `{"invitation":"`+invite("viewer")+`"}`)
	arriving.cookie, _, _ = strings.Cut(header.Get("Set-Cookie"), ";")
	query := r.issuer.Visit(t, left.URL, map[string]any{"sub": secretOf(invite("viewer")), "name": "Cleo"})
	back, _ := json.Marshal(map[string]string{"query": query})
	add(arriving, "coming back from the provider", "POST", "/console/oidc/finish", string(back), true,
		map[string]int64{"people": 1, "members": 1, "viewers": 1, "accepted": 1, "sessions": 1, "identities": 1, "visits": -1})
	return all
}
