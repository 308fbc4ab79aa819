// Package letters writes the mails by which people sign in and join, and sends one after the
// other. What waits is lost when the server stops: who asked for a link asks again, and an
// invitation was also shown to the one who made it. Its invariant: who asks for a mail does not
// wait for it, so the time tells nothing of who is known here; and no log has an address, a
// name or a link.
package letters

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/mail"
)

// Sender sends a mail, as package mail does.
type Sender interface {
	Send(ctx context.Context, message mail.Message) error
}

// Network is the network that writes.
type Network interface {
	Identity() beacon.Identity
	MapSettings() beacon.MapSettings // with the language of those who have not chosen one
}

// Config is what New needs.
type Config struct {
	Sender  Sender
	Base    string // where the console is
	Network Network
	Log     *slog.Logger
}

// Letters are a queue of mails. All methods may be called at the same time.
type Letters struct {
	cfg     Config
	waiting chan letter
}

type letter struct {
	kind               kind
	to, language, link string
	expires            time.Time
}

// atOnce is how many mails may wait.
const atOnce = 200

// New returns a queue. It sends once it is run.
func New(cfg Config) *Letters {
	cfg.Base = strings.TrimSuffix(cfg.Base, "/")
	return &Letters{cfg, make(chan letter, atOnce)}
}

// SendInvitation sends an invitation to an address, in a language, which may be empty.
func (l *Letters) SendInvitation(to, language, token string, expires time.Time) {
	l.queue(letter{invitation, to, language, l.cfg.Base + "/#/join/" + token, expires})
}

// SendLink sends a link to sign in.
func (l *Letters) SendLink(to, language, token string, expires time.Time) {
	l.queue(letter{signIn, to, language, l.cfg.Base + "/#/enter/" + token, expires})
}

// SendProof sends a link by which someone shows that the address is theirs.
func (l *Letters) SendProof(to, language, token string, expires time.Time) {
	l.queue(letter{proof, to, language, l.cfg.Base + "/#/mail/" + token, expires})
}

func (l *Letters) queue(one letter) {
	select {
	case l.waiting <- one:
	default:
		l.cfg.Log.Warn("too many mails wait for the mail server, so one was dropped")
	}
}

// pauses are how long to wait before a mail is tried again.
var pauses = []time.Duration{2 * time.Second, 10 * time.Second, 30 * time.Second}

// Run sends mails until ctx ends.
func (l *Letters) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case one := <-l.waiting:
			l.send(ctx, one)
		}
	}
}

// send sends a mail, or tells the log why not.
func (l *Letters) send(ctx context.Context, one letter) {
	message := l.write(one)
	for try := 0; ; try++ {
		err := l.cfg.Sender.Send(ctx, message)
		if err == nil || ctx.Err() != nil {
			return
		}
		if try == len(pauses) || beacon.KindOf(err) != beacon.Overloaded {
			l.cfg.Log.Warn("a mail could not be sent", "kind", string(one.kind), "err", err)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pauses[try]): // of the machine: the network's clock may be simulated
		}
	}
}

// write returns a mail in the language of its reader.
func (l *Letters) write(one letter) mail.Message {
	network := l.cfg.Network.Identity()
	name := cmp.Or(network.Name, beacon.DefaultNetworkName)
	words := wordsIn(cmp.Or(one.language, l.cfg.Network.MapSettings().Language), one.kind)
	fill := strings.NewReplacer("{network}", name, "{until}", words.day(one.expires.In(network.Zone())))
	page := shown{
		Language: words.code, Network: name, Color: string(cmp.Or(network.Color, beacon.DefaultColor)), Link: one.link,
		Subject: fill.Replace(words.subject), Button: words.button, Copy: words.copy,
		Before: fill.Replace(words.before), Until: fill.Replace(words.until), After: fill.Replace(words.after),
	}
	return mail.Message{To: one.to, Subject: page.Subject, Text: page.plain(), HTML: page.html()}
}
