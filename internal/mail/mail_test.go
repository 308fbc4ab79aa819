package mail_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/mail"
)

const url = "smtp://wifi:p%40ss%3Aw%2Frd@mail.example.org:587"

var invitation = mail.Message{
	To: "ada@example.net", Subject: "Ada, join Riverside Wi-Fi – Ünïcode", Text: "Open this link:\n\nhttps://wifi.example.org/#/join/x\n.\n.hidden\n", HTML: "<p>Open <a href=\"https://wifi.example.org/#/join/x\">this link</a></p>",
}

// want checks that an error is for people, and has in its text neither addresses nor secrets.
func want(t *testing.T, err error, kind beacon.Kind, words string) {
	t.Helper()
	e, ok := errors.AsType[*beacon.Error](err)
	if !ok || e.Kind != kind || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v; want kind %d and %q", err, kind, words)
	}
	if ok {
		clean(t, err)
	}
}

func clean(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{"ada", "example.net", "wifi@", "p@ss", "p%40", "ss:w"} {
		if strings.Contains(strings.ToLower(err.Error()), secret) {
			t.Errorf("the error has %q in it: %v", secret, err)
		}
	}
}

func TestSend(t *testing.T) {
	for _, way := range []string{sasl.Plain, sasl.Login} {
		s := newServer(t, func(s *server) { s.ways = []string{"X-OTHER", way} })
		if err := s.mailer(t, url).Send(t.Context(), invitation); err != nil {
			t.Fatal(err)
		}
		got := s.received[0]
		if len(s.received) != 1 || got.from != "wifi@example.org" || got.to != "ada@example.net" || !s.secure || s.user != "wifi" {
			t.Errorf("%s: from %s, to %s, TLS %t, user %s", way, got.from, got.to, s.secure, s.user)
		}
		m, err := netmail.ReadMessage(strings.NewReader(got.data))
		if err != nil {
			t.Fatal(err)
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		if err != nil || subject != invitation.Subject || m.Header.Get("To") != "<ada@example.net>" || m.Header.Get("From") != `"Riverside Wi-Fi" <wifi@example.org>` ||
			m.Header.Get("Auto-Submitted") != "auto-generated" || !strings.HasSuffix(m.Header.Get("Message-Id"), "@example.org>") || m.Header.Get("User-Agent") != "" {
			t.Errorf("%v, subject %q, %v", m.Header, subject, err)
		}
		if date, err := m.Header.Date(); err != nil || time.Since(date) > time.Hour {
			t.Errorf("sent on %v, %v", date, err)
		}
		kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
		if err != nil || kind != "multipart/alternative" {
			t.Fatal(kind, err)
		}
		parts := multipart.NewReader(m.Body, parameters["boundary"])
		for _, want := range []struct{ kind, text string }{{"text/plain", invitation.Text}, {"text/html", invitation.HTML}} {
			part, err := parts.NextPart()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(part)
			if plain := strings.ReplaceAll(string(text), "\r\n", "\n"); err != nil || !strings.HasPrefix(part.Header.Get("Content-Type"), want.kind) || strings.TrimSpace(plain) != strings.TrimSpace(want.text) {
				t.Errorf("%v: %q, %v", part.Header, text, err)
			}
		}
	}
}

func TestSend_PlainTextAlone(t *testing.T) {
	s := newServer(t, nil)
	message := invitation
	message.HTML = ""
	if err := s.mailer(t, url).Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	if data := s.received[0].data; !strings.Contains(data, "Content-Type: text/plain") || strings.Contains(data, "html") {
		t.Error(data)
	}
}

// TLS is required, with a certificate of the server's name, but for servers on this machine.
func TestSend_TLS(t *testing.T) {
	s := newServer(t, nil)
	want(t, s.mailer(t, strings.Replace(url, "mail.", "other.", 1)).Send(t.Context(), invitation), beacon.Conflict, "no valid certificate")

	bare := newServer(t, func(s *server) { s.TLSConfig, s.AllowInsecureAuth = nil, true })
	want(t, bare.mailer(t, url).Send(t.Context(), invitation), beacon.Conflict, "no STARTTLS")
	want(t, bare.mailer(t, strings.Replace(url, "smtp:", "smtps:", 1)).Send(t.Context(), invitation), beacon.Overloaded, "TLS handshake")
	if bare.user != "" || len(bare.received) > 0 {
		t.Error("something was sent without TLS")
	}
	for _, local := range []string{"localhost", "127.0.0.1", "[::1]"} {
		if err := bare.mailer(t, strings.Replace(url, "mail.example.org", local, 1)).Send(t.Context(), invitation); err != nil || bare.user != "wifi" || bare.secure {
			t.Errorf("%s: %v", local, err)
		}
		if err := bare.mailer(t, "smtp://"+local).Send(t.Context(), invitation); err != nil {
			t.Errorf("%s: %v", local, err)
		}
	}
}

func TestSend_TLSFromTheStart(t *testing.T) {
	s := newServer(t, nil)
	front := tlsFront(t, s)
	m := s.mailer(t, "smtps://wifi:p%40ss%3Aw%2Frd@mail.example.org")
	m.Reach(front, s.roots, time.Minute)
	if err := m.Send(t.Context(), invitation); err != nil || len(s.received) != 1 || s.user != "wifi" {
		t.Errorf("%v", err)
	}
}

// tlsFront serves a server with TLS from the start, and returns where.
func tlsFront(t *testing.T, s *server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Serve(tls.NewListener(l, s.TLSConfig)) }()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

func TestSend_Refused(t *testing.T) {
	say := func(code int, text string) error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 7, 1}, Message: text + " <ada@example.net> wifi@example.org"}
	}
	for _, c := range []struct {
		step  string
		code  int
		kind  beacon.Kind
		words string
	}{
		{"auth", 535, beacon.Conflict, "sign-in: the server replied 535 5.7.1"},
		{"auth", 454, beacon.Overloaded, "replied 454 4.7.1"},
		{"mail", 550, beacon.Conflict, "refuses mails of this server"},
		{"mail", 451, beacon.Overloaded, "try again in a minute"},
		{"rcpt", 550, beacon.InvalidRequest, "check its spelling"},
		{"rcpt", 450, beacon.Overloaded, "recipient: the server replied 450 4.7.1"},
		{"data", 554, beacon.Conflict, "refuses mails"},
		{"data", 452, beacon.Overloaded, "try again"},
		{"greeting", 421, beacon.Overloaded, "try again"},
	} {
		s := newServer(t, func(s *server) { s.refuse[c.step] = say(c.code, "no:") })
		want(t, s.mailer(t, url).Send(t.Context(), invitation), c.kind, c.words)
		if len(s.received) > 0 {
			t.Errorf("%s %d: a mail was taken", c.step, c.code)
		}
		if err := s.mailer(t, url).Check(t.Context()); (err != nil) != (c.step != "rcpt" && c.step != "data") {
			t.Errorf("%s %d: %v", c.step, c.code, err)
		}
	}
	s := newServer(t, nil)
	want(t, s.mailer(t, "smtp://wifi:guess@mail.example.org").Send(t.Context(), invitation), beacon.Conflict, "does not accept the user or the password")
	s = newServer(t, func(s *server) { s.ways = []string{"X-OTHER"} })
	want(t, s.mailer(t, url).Send(t.Context(), invitation), beacon.Conflict, "no way to sign in")
}

// script is a server that says what a test wants, line by line, whatever it is sent.
func script(t *testing.T, serve func(net.Conn)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return &server{address: l.Addr().String()}
}

func TestSend_OddServers(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"closes":          func(net.Conn) {},
		"speaks HTTP":     func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 ada@example.net\r\n\r\n") },
		"drops":           func(c net.Conn) { _, _ = io.WriteString(c, "220 hello\r\n250-mail\r\n") },
		"an endless line": func(c net.Conn) { flood(t, c, io.MultiReader(strings.NewReader("220 "), endless{})) },
		"endless lines":   func(c net.Conn) { flood(t, c, lines{}) },
		"drops in a mail": func(c net.Conn) {
			_, _ = io.WriteString(c, "220 hello\r\n250 mail\r\n250 sender\r\n250 recipient\r\n354 go\r\n")
			_, _ = bufio.NewReader(c).ReadString('.')
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := script(t, serve)
			want(t, s.mailer(t, "smtp://localhost").Send(t.Context(), invitation), beacon.Overloaded, "try again in a minute")
		})
	}
}

// flood sends until nobody reads any more, which has to be soon.
func flood(t *testing.T, c net.Conn, r io.Reader) {
	if n, err := io.Copy(c, io.LimitReader(r, 256<<20)); err == nil || n > 128<<20 {
		t.Errorf("%d bytes were taken, %v", n, err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, strings.Repeat("x", len(p))), nil }

type lines struct{}

func (lines) Read(p []byte) (int, error) { return copy(p, "220-more\r\n"), nil }

// A server that says nothing is waited for up to a bound, or until its caller leaves.
func TestSend_Hangs(t *testing.T) {
	hang := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	s := script(t, hang)
	m := s.mailer(t, "smtp://localhost")
	m.Reach(s.address, nil, 50*time.Millisecond)
	want(t, m.Send(t.Context(), invitation), beacon.Overloaded, "deadline exceeded")

	reached := make(chan struct{}, 1)
	s = script(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "220 hello\r\n")
		_, _ = bufio.NewReader(c).ReadString('\n')
		reached <- struct{}{}
		hang(c)
	})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-reached
		leave()
	}()
	want(t, s.mailer(t, "smtp://localhost").Send(ctx, invitation), beacon.Overloaded, "canceled")

	// It has the mail: how it says good-bye does not matter.
	s = script(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "220 hello\r\n250 mail\r\n250 sender\r\n250 recipient\r\n354 go\r\n250 sent\r\n")
		hang(c)
	})
	message := invitation
	message.Text = "short"
	if err := s.mailer(t, "smtp://localhost").Send(t.Context(), message); err != nil {
		t.Error(err)
	}
}

func TestSend_Unreachable(t *testing.T) {
	s := script(t, func(net.Conn) {})
	m := s.mailer(t, url)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.Reach(l.Addr().String(), nil, time.Minute)
	_ = l.Close()
	want(t, m.Send(t.Context(), invitation), beacon.Overloaded, "refused")
	want(t, m.Check(t.Context()), beacon.Overloaded, "refused")
}

// Nothing in a mail makes a header, a second recipient or a command.
func TestSend_Injection(t *testing.T) {
	s := newServer(t, nil)
	m := s.mailer(t, url)
	for _, to := range []string{
		"", "ada", "ada@", "@example.net", "ada@example", "ada@example.net\r\nBcc: eve@example.net", "ada@example.net>\r\nRCPT TO:<eve@example.net", "ada@example.net,eve@example.net",
		"Ada <ada@example.net>", "<ada@example.net>", `"ada\r\n"@example.net`, `"ada lovelace"@example.net`, "ada@example.net ", " ada@example.net", "ada@[192.0.2.7]", "ada@example..net", "a@b@example.net",
		"ada@example.net\x00", "ada(eve)@example.net", "ada@exa\u2028mple.net", "ada;@example.net", "ada\u0000@example.net", "ada@example.net>", "..@example.net", "ada@.example.net",
		strings.Repeat("a", 250) + "@example.net", "ada@example.net SIZE=1", "ada\xff@example.net",
	} {
		message := invitation
		message.To = to
		err := m.Send(t.Context(), message)
		want(t, err, beacon.InvalidRequest, "email must be an address")
		if to != "" && mail.CheckAddress(to) == nil {
			t.Errorf("%q is an address", to)
		}
	}
	for _, subject := range []string{"", " ", "Hello\r\nBcc: eve@example.net", "Hello\nX: y", "Hello\u2028", "\x00", "a\x7f", strings.Repeat("s", 201), "a\xff"} {
		message := invitation
		message.Subject = subject
		if err := m.Send(t.Context(), message); err == nil {
			t.Errorf("the subject %q was sent", subject)
		}
	}
	for _, text := range []string{"", strings.Repeat("x", 256<<10+1)} {
		message := invitation
		message.Text = text
		if err := m.Send(t.Context(), message); err == nil {
			t.Errorf("a text of %d bytes was sent", len(text))
		}
	}
	if len(s.received) > 0 {
		t.Errorf("%d mails were sent", len(s.received))
	}
	message := invitation
	message.Subject = "=?utf-8?q?=0d=0aBcc:_eve@example.net?="
	message.Text = "Hello\r\n.\r\nMAIL FROM:<eve@example.net>\r\nRCPT TO:<eve@example.net>\r\nDATA\r\n"
	message.HTML = "<p>\r\n.\r\nQUIT\r\n</p>"
	if err := m.Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	parsed, err := netmail.ReadMessage(strings.NewReader(s.received[0].data))
	if err != nil || len(s.received) != 1 || parsed.Header.Get("Bcc") != "" || s.received[0].to != "ada@example.net" || !strings.Contains(s.received[0].data, "RCPT TO:<eve") {
		t.Errorf("%d mails, %v, %v", len(s.received), parsed, err)
	}
}

func TestCheckAddress(t *testing.T) {
	for _, address := range []string{"ada@example.net", "ada.lovelace+wifi@mail.example.co.uk", "o'hara@xn--bcher-kva.example", "用户@例子.广告", "josé@bücher.example", "1@2.example"} {
		if err := mail.CheckAddress(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// Only a server that says so takes addresses with letters beyond ASCII.
func TestSend_Letters(t *testing.T) {
	message := invitation
	message.To = "josé@bücher.example"
	s := newServer(t, nil)
	want(t, s.mailer(t, url).Send(t.Context(), message), beacon.InvalidRequest, "does not deliver to this address")
	s = newServer(t, func(s *server) { s.EnableSMTPUTF8 = true })
	if err := s.mailer(t, url).Send(t.Context(), message); err != nil || s.received[0].to != message.To {
		t.Error(err)
	}
}

func TestNew(t *testing.T) {
	for text, address := range map[string]string{
		url: "mail.example.org:587", "smtps://u:p@mail.example.org": "mail.example.org:465", "smtp://mail.example.org/": "mail.example.org:587", "smtp://[2001:db8::1]:25": "[2001:db8::1]:25",
	} {
		m, err := mail.New(mail.Config{URL: text, From: "wifi@example.org"})
		if err != nil || m.Address() != address {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if user, password := m.Login(); text == url && (user != "wifi" || password != "p@ss:w/rd") {
			t.Errorf("it signs in as %s, %s", user, password)
		}
	}
	for text, words := range map[string]string{
		"":                                    "must look like smtp://",
		"mail.example.org:587":                "must look like smtp://",
		"http://u:p@ss:w/rd@mail.example.org": "%2F for /",
		"https://mail.example.org":            "smtps://",
		"smtp://wifi:p@ss:w/rd@mail":          "%2F for /",
		"smtp://wifi:p%zzp@ssada@mail":        "%25 for %",
		"smtp://u:p@ss:wrd#x@mail:587":        "%23 for #",
		"smtp://u:ada?x@mail":                 "%3F for ?",
		"smtp://wifi@mail.example.org":        "both a user and a password",
		"smtp://wifi:@mail.example.org":       "both a user and a password",
		"smtp://:ada@mail.example.org":        "both a user and a password",
		"smtp://u:ada%0a@mail.example.org":    "no control characters",
		"smtp://u:ada@:587":                   "host is missing",
		"smtp://u:ada@mail:0":                 "from 1 to 65535",
		"smtp://u:ada@mail:70000":             "from 1 to 65535",
		"smtp://u:ada@mail/x":                 "nothing stands behind the port",
		"smtp://u:ada@mail?tls=no":            "nothing stands behind the port",
		"smtp://u:ada@mail?":                  "nothing stands behind the port",
	} {
		_, err := mail.New(mail.Config{URL: text, From: "wifi@example.org"})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v; want %q", text, err, words)
			continue
		}
		if strings.Contains(err.Error(), "ada") || strings.Contains(err.Error(), "p@ss") || strings.Contains(err.Error(), "zzp") {
			t.Errorf("%s: the error has the password: %v", text, err)
		}
	}
	for _, from := range []string{"", "wifi", "wifi@example", "Wi-Fi\r\nBcc: eve@example.net <wifi@example.org>", "=?utf-8?q?=0d=0aX:_y?= <wifi@example.org>", "josé@example.org", "a@example.org, b@example.org", `"a b"@example.org`} {
		if _, err := mail.New(mail.Config{URL: url, From: from}); err == nil {
			t.Errorf("the sender %q was accepted", from)
		}
	}
}

// FuzzCheckAddress looks for an address that a server would read as more than one.
func FuzzCheckAddress(f *testing.F) {
	f.Add("ada@example.net")
	f.Add("ada@example.net>\r\nRCPT TO:<eve@example.net")
	f.Fuzz(func(t *testing.T, text string) {
		if mail.CheckAddress(text) != nil {
			return
		}
		if strings.ContainsAny(text, " \t\r\n\x00<>()[]\\,;:\"") || strings.Count(text, "@") != 1 {
			t.Errorf("%q is an address", text)
		}
		if list, err := netmail.ParseAddressList("Ada <" + text + ">"); err != nil || len(list) != 1 || list[0].Address != text {
			t.Errorf("%q is read as %v, %v", text, list, err)
		}
	})
}

// FuzzNew looks for a URL whose password is in an error.
func FuzzNew(f *testing.F) {
	f.Add("smtp://wifi:", "@mail.example.org:587")
	f.Add("smtp://wifi:", "%zz@mail.example.org:587")
	f.Fuzz(func(t *testing.T, before, behind string) {
		const secret = "Xq7Zk9Wj"
		if _, err := mail.New(mail.Config{URL: before + secret + behind, From: "wifi@example.org"}); err != nil && strings.Contains(err.Error(), secret) {
			t.Error(err)
		}
	})
}
