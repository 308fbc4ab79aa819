package api_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	netmail "net/mail"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	shapes "github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/mail"
	"github.com/beacon-wifi/beacon/internal/node"
	"github.com/beacon-wifi/beacon/test/harness"
)

// mailbox is a mail server that others wrote, with what it was sent.
type mailbox struct {
	mu    sync.Mutex
	mails []mailed
}

type mailed struct{ to, subject, text, html string }

// newMailbox starts a mail server, and returns what lets a node use it.
func newMailbox(t *testing.T) (*mailbox, options) {
	t.Helper()
	box := new(mailbox)
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &delivery{box: box}, nil }))
	server.Domain = "mail.example.org"
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- server.Serve(ln) }()
	t.Cleanup(func() {
		_, _ = server.Close(), ln.Close()
		<-done
	})
	sender, err := mail.New(mail.Config{URL: "smtp://" + ln.Addr().String(), From: "Riverside <wifi@example.org>"})
	if err != nil {
		t.Fatal(err)
	}
	return box, options{limits: ample, live: true, node: func(c *node.Config) { c.Mail, c.LinkBase = sender, "https://wifi.example.org" }}
}

// wait returns the mails once there are some.
func (b *mailbox) wait(t *testing.T, count int) []mailed {
	t.Helper()
	harness.Eventually(t, "mails arrive", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.mails) >= count
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.mails) > count {
		t.Errorf("%d mails; want %d: %+v", len(b.mails), count, b.mails)
	}
	return b.mails
}

type delivery struct {
	box *mailbox
	to  string
}

func (d *delivery) Mail(string, *smtp.MailOptions) error      { return nil }
func (d *delivery) Rcpt(to string, _ *smtp.RcptOptions) error { d.to = to; return nil }
func (d *delivery) Reset()                                    {}
func (d *delivery) Logout() error                             { return nil }
func (d *delivery) Data(r io.Reader) error {
	message, err := netmail.ReadMessage(r)
	if err != nil {
		return err
	}
	got := mailed{to: d.to}
	if got.subject, err = new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject")); err != nil {
		return err
	}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	for parts := multipart.NewReader(message.Body, parameters["boundary"]); ; {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		var body io.Reader = part
		switch part.Header.Get("Content-Transfer-Encoding") {
		case "quoted-printable":
			body = quotedprintable.NewReader(part)
		case "base64":
			body = base64.NewDecoder(base64.StdEncoding, part)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			got.html = string(text)
		} else {
			got.text = string(text)
		}
	}
	d.box.mu.Lock()
	defer d.box.mu.Unlock()
	d.box.mails = append(d.box.mails, got)
	return nil
}

var mailedLink = regexp.MustCompile(`https://wifi\.example\.org/#/(enter|join|mail)/(\S+)`)

// token returns that of the link in a mail, which both of its forms have.
func (m mailed) token(t *testing.T, page string) string {
	t.Helper()
	found := mailedLink.FindStringSubmatch(m.text)
	if found == nil || found[1] != page || !strings.Contains(m.html, `href="`+found[0]+`"`) {
		t.Fatalf("the mail is %+v", m)
	}
	return found[2]
}

// A link comes by mail, in the language of its reader, and signs in once, and only where it is
// used by hand. Whoever asks learns nothing of who is known.
func TestMail_Links(t *testing.T) {
	t.Parallel()
	box, opts := newMailbox(t)
	s := onSQLite(t, opts)
	ada := s.firstAdmin(t)
	if doors := data[shapes.OpenDoors](t, s.call(t, "GET", "/console/doors", ""), http.StatusOK); !doors.Mail {
		t.Errorf("the doors are %+v", doors)
	}
	ada.send(t, "PATCH", "/v1/settings", `{"name":"Riverside"}`).want(t, http.StatusOK)
	harness.Eventually(t, "the name is known", func() bool { return s.Follower.Identity().Name == "Riverside" })
	ada.send(t, "PATCH", "/v1/people/me", `{"mail":"ada@example.org","language":"es"}`).want(t, http.StatusOK)
	ada.proves(t, box, 1)
	stranger := guest{server: s}
	var bodies []string
	for _, address := range []string{"nobody@example.org", "ADA@example.org"} {
		a := stranger.send(t, "POST", "/console/links/mail", `{"mail":"`+address+`"}`).want(t, http.StatusAccepted)
		bodies = append(bodies, string(a.body))
	}
	if bodies[0] != bodies[1] || bodies[0] != "" {
		t.Errorf("the answers are %q", bodies)
	}
	wantFault(t, stranger.send(t, "POST", "/console/links/mail", `{"mail":"x"}`), http.StatusBadRequest, "invalid_request", "mail")
	wantFault(t, s.call(t, "POST", "/console/links/mail", `{"mail":"ada@example.org"}`, "Origin", "https://evil.example"), http.StatusForbidden, "forbidden")
	got := box.wait(t, 2)[1]
	if got.to != "ada@example.org" || got.subject != "Entrar en Riverside" || !strings.Contains(got.text, "15 de noviembre de 2026, 12:15 UTC") {
		t.Errorf("the mail is %+v", got)
	}
	token := got.token(t, "enter")
	for _, path := range []string{"/console/links/use?token=" + token, "/console/links/use"} {
		s.call(t, "GET", path, "").want(t, http.StatusMethodNotAllowed)
		s.call(t, "HEAD", path, "").want(t, http.StatusMethodNotAllowed)
	}
	entered := stranger.enters(t, "/console/links/use", `{"token":"`+token+`"}`)
	if entered.me.ID != ada.me.ID || entered.me.FrozenUntil != nil {
		t.Errorf("who signed in is %+v", entered.me) // no recovery: they asked themselves
	}
	wantFault(t, stranger.send(t, "POST", "/console/links/use", `{"token":"`+token+`"}`), http.StatusUnauthorized, "unauthorized")
	stranger.send(t, "POST", "/console/links/mail", `{"mail":"ada@example.org"}`).want(t, http.StatusAccepted)
	late := box.wait(t, 3)[2].token(t, "enter")
	s.advance(15 * time.Minute)
	wantFault(t, stranger.send(t, "POST", "/console/links/use", `{"token":"`+late+`"}`), http.StatusUnauthorized, "unauthorized")

	made := data[shapes.CreatedInvitation](t, entered.send(t, "POST", "/v1/users/me/invitations", `{"role":"viewer","mail":"eva@example.org"}`), http.StatusOK)
	invited := box.wait(t, 4)[3]
	if invited.to != "eva@example.org" || invited.subject != "Invitación a Riverside" || invited.token(t, "join") != tokenOf(made.Link) {
		t.Errorf("the invitation is %+v", invited)
	}
	for _, word := range []string{"example.org", token, late, tokenOf(made.Link)} {
		if strings.Contains(s.log.String(), word) {
			t.Errorf("a log has %.6s…", word)
		}
	}
}

// proves shows that the address is theirs, with the mail that is the last of some.
func (g guest) proves(t *testing.T, box *mailbox, count int) {
	t.Helper()
	g.send(t, "POST", "/console/mail/begin", "").want(t, http.StatusNoContent)
	token := box.wait(t, count)[count-1].token(t, "mail")
	if me := data[shapes.Person](t, g.send(t, "POST", "/console/mail/finish", `{"token":"`+token+`"}`), http.StatusOK); !me.MailConfirmed {
		t.Errorf("after the proof: %+v", me)
	}
}

// An address that someone only says is theirs gets no links, and keeps none from whose it is.
func TestMail_Squatting(t *testing.T) {
	t.Parallel()
	box, opts := newMailbox(t)
	s := onSQLite(t, opts)
	ada := s.firstAdmin(t)
	ada.send(t, "PATCH", "/v1/people/me", `{"mail":"ada@example.org"}`).want(t, http.StatusOK)
	stranger := guest{server: s}
	ask := func(address string) {
		t.Helper()
		stranger.send(t, "POST", "/console/links/mail", `{"mail":"`+address+`"}`).want(t, http.StatusAccepted)
	}
	ask("ada@example.org") // not proven yet
	ada.proves(t, box, 1)
	var eve guest
	for range 7 { // more than are mailed at once
		eve = ada.invited(t, "/v1/users/me/invitations", `{"role":"viewer"}`, "Eve")
		eve.send(t, "PATCH", "/v1/people/me", `{"mail":"ADA@example.org"}`).want(t, http.StatusOK)
	}
	ask("ada@example.org")
	link := box.wait(t, 2)[1].token(t, "enter")
	// The owner of the address opens a mail that someone else asked for: it is of no use.
	eve.send(t, "POST", "/console/mail/begin", "").want(t, http.StatusNoContent)
	proof := `{"token":"` + box.wait(t, 3)[2].token(t, "mail") + `"}`
	wantFault(t, ada.send(t, "POST", "/console/mail/finish", proof), http.StatusUnauthorized, "unauthorized")
	wantFault(t, stranger.send(t, "POST", "/console/mail/finish", proof), http.StatusForbidden, "forbidden")
	wantFault(t, stranger.send(t, "POST", "/console/links/use", proof), http.StatusUnauthorized, "unauthorized")
	wantFault(t, stranger.send(t, "POST", "/console/mail/begin", ""), http.StatusForbidden, "forbidden")
	wantFault(t, ada.send(t, "POST", "/console/mail/begin", ""), http.StatusConflict, "conflict")
	// A proof of one address is none of another, nor do links that went to the first still work.
	eve.send(t, "PATCH", "/v1/people/me", `{"mail":"eve@example.org"}`).want(t, http.StatusOK)
	wantFault(t, eve.send(t, "POST", "/console/mail/finish", proof), http.StatusUnauthorized, "unauthorized")
	me := data[shapes.Person](t, ada.send(t, "PATCH", "/v1/people/me", `{"mail":"new@example.org"}`), http.StatusOK)
	if me.MailConfirmed {
		t.Errorf("after a change: %+v", me)
	}
	wantFault(t, stranger.send(t, "POST", "/console/links/use", `{"token":"`+link+`"}`), http.StatusUnauthorized, "unauthorized")
	ask("new@example.org")
	ada.proves(t, box, 4)
	ask("new@example.org")
	back := stranger.enters(t, "/console/links/use", `{"token":"`+box.wait(t, 5)[4].token(t, "enter")+`"}`)
	if back.me.ID != ada.me.ID {
		t.Errorf("who signed in is %+v", back.me)
	}
	if strings.Contains(s.log.String(), "example.org") {
		t.Error("a log has a mail address")
	}
}
