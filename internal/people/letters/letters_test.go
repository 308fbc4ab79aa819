package letters_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/mail"
	"github.com/beacon-wifi/beacon/internal/people/letters"
)

// post is a mail server.
type post struct {
	fails []error // at the next tries
	sent  []mail.Message
	tries int
}

func (p *post) Send(_ context.Context, m mail.Message) (err error) {
	if p.tries++; len(p.fails) > 0 {
		err, p.fails = p.fails[0], p.fails[1:]
		return err
	}
	p.sent = append(p.sent, m)
	return nil
}

// network is one whose language is Spanish, in Madrid.
type network string

func (n network) Identity() beacon.Identity {
	return beacon.Identity{Name: string(n), Color: "#dc0067", TimeZone: "Europe/Madrid"}
}
func (n network) MapSettings() beacon.MapSettings { return beacon.MapSettings{Language: "es"} }

// sends runs a queue until everything is sent.
func sends(t *testing.T, p *post, name string, write func(*letters.Letters)) (log string) {
	t.Helper()
	var text strings.Builder
	synctest.Test(t, func(t *testing.T) {
		l := letters.New(letters.Config{
			Sender: p, Base: "https://wifi.example.org/", Network: network(name),
			Log: slog.New(slog.NewTextHandler(&text, nil)),
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { l.Run(ctx); close(done) }()
		write(l)
		time.Sleep(time.Hour) // in the bubble: until all wait
		cancel()
		<-done
	})
	return text.String()
}

var until = time.Date(2026, 11, 5, 12, 30, 0, 0, time.UTC)

func TestLetters(t *testing.T) {
	p := new(post)
	sends(t, p, `Wi-Fi & "Friends" <x>`, func(l *letters.Letters) {
		l.SendLink("ada@example.org", "en", "T0ken", until)
		l.SendInvitation("eva@example.org", "", "T1ken", until)
		l.SendInvitation("kim@example.org", "de", "T2ken", until)
	})
	if len(p.sent) != 3 {
		t.Fatalf("sent: %+v", p.sent)
	}
	for i, want := range []struct{ to, subject, text, html string }{
		{"ada@example.org", `Sign in to Wi-Fi & "Friends" <x>`, "https://wifi.example.org/#/enter/T0ken\n\nThe link works once, until 5 November 2026, 13:30 CET.", `href="https://wifi.example.org/#/enter/T0ken"`},
		{"eva@example.org", `Invitación a Wi-Fi & "Friends" <x>`, "hasta el 5 de noviembre de 2026, 13:30 CET.", `lang="es"`},
		{"kim@example.org", `Invitation to Wi-Fi & "Friends" <x>`, "https://wifi.example.org/#/join/T2ken\n", "background:#dc0067;"},
	} {
		m := p.sent[i]
		if m.To != want.to || m.Subject != want.subject || !strings.Contains(m.Text, want.text) || !strings.Contains(m.HTML, want.html) {
			t.Errorf("%+v", m)
		}
		if strings.Contains(m.HTML, "<x>") || strings.Contains(m.HTML, "ZgotmplZ") || strings.ContainsAny(m.Text+m.HTML, "{}") {
			t.Errorf("%+v", m)
		}
	}
}

// A server that is away is asked again, one that refuses is not, and the log has no address.
func TestLetters_Away(t *testing.T) {
	away, refused := &beacon.Error{Kind: beacon.Overloaded, Message: "away"}, errors.New("refused")
	p := &post{fails: []error{away, away, refused, away, away, away, away}}
	log := sends(t, p, "", func(l *letters.Letters) {
		for range 3 {
			l.SendLink("ada@example.org", "en", "T0ken", until)
		}
	})
	if p.tries != 8 || len(p.sent) != 1 || strings.Count(log, "could not be sent") != 2 {
		t.Errorf("%d tries, %d sent: %s", p.tries, len(p.sent), log)
	}
	if strings.Contains(log, "example.org") || strings.Contains(log, "T0ken") {
		t.Errorf("the log: %s", log)
	}
}

func TestLetters_Full(t *testing.T) {
	p := new(post)
	log := sends(t, p, "", func(l *letters.Letters) {
		for range 1000 {
			l.SendLink("ada@example.org", "en", "T0ken", until)
		}
	})
	if len(p.sent) < 200 || len(p.sent) == 1000 || !strings.Contains(log, "dropped") {
		t.Errorf("%d sent: %.300s", len(p.sent), log)
	}
}
