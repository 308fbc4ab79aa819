// Package mail sends one mail at a time to an SMTP server. It keeps and queues nothing, and
// what it cannot send someone hands over otherwise. Its invariants: what a caller puts into an
// address or a subject stays there, so no text makes a header or a command; and no error has an
// address or a password in it, since errors are logged.
package mail

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	netmail "net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	lasts       = 30 * time.Second // a mail, from dialing to the server's last reply
	maxReplies  = 1 << 20          // bytes that are read of a server
	maxSubject  = 200              // characters
	maxBody     = 256 << 10        // bytes of each form
	maxAddress  = 254              // bytes, by the standard
	defaultPort = "587"
	tlsPort     = "465"
)

// Config is how mails are sent.
type Config struct {
	URL  string // smtp://user:password@mail.example.org:587, or smtps:// with TLS from the start
	From string // such as Riverside Wi-Fi <wifi@example.org>
}

// Message is a mail to one person.
type Message struct {
	To      string // an address without a name
	Subject string
	Text    string
	HTML    string // may be empty
}

// Mailer sends mails. All methods may be called at the same time.
type Mailer struct {
	host, port     string
	direct         bool // TLS from the start
	local          bool // the server is on this machine, where nobody is in between
	user, password string
	from           *netmail.Address
	domain         string // of from
	dial           func(ctx context.Context, network, address string) (net.Conn, error)
	roots          *x509.CertPool
	lasts          time.Duration
}

// New returns a mailer. It connects to nothing yet. No error has the password in it.
func New(c Config) (*Mailer, error) {
	m := &Mailer{dial: new(net.Dialer).DialContext, lasts: lasts}
	if err := m.parse(c.URL); err != nil {
		return nil, err
	}
	from, err := netmail.ParseAddress(c.From)
	if err != nil || CheckAddress(from.Address) != nil || !ascii(from.Address) {
		return nil, errors.New("the sender of mails must look like Riverside Wi-Fi <wifi@example.org>")
	}
	m.from = from
	_, m.domain, _ = strings.Cut(from.Address, "@")
	return m, nil
}

// parse reads where the server is. Errors of package url would show what they cannot read.
func (m *Mailer) parse(text string) error {
	const form = "the URL of the mail server must look like smtp://mail.example.org:587, with user:password@ before its name if it asks for them"
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" {
		return errors.New(form + "; in user and password, write %40 for @, %3A for :, %2F for /, %23 for #, %3F for ? and %25 for %")
	}
	password, given := u.User.Password()
	m.user, m.password = u.User.Username(), password
	m.host, m.port = u.Hostname(), u.Port()
	m.direct = u.Scheme == "smtps"
	m.local = m.host == "localhost" || net.ParseIP(m.host).IsLoopback()
	switch {
	case u.Scheme != "smtp" && u.Scheme != "smtps":
		return errors.New(form + "; or smtps:// where TLS starts at once (port 465)")
	case m.host == "":
		return errors.New(form + "; its host is missing")
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New(form + "; nothing stands behind the port, and in user and password, write %2F for /, %3F for ? and %23 for #")
	case u.User != nil && (m.user == "" || !given || m.password == ""):
		return errors.New(form + "; it has both a user and a password, or neither")
	case strings.ContainsFunc(m.user+m.password, unicode.IsControl):
		return errors.New(form + "; user and password have no control characters")
	}
	if m.port == "" {
		m.port = map[bool]string{false: defaultPort, true: tlsPort}[m.direct]
	}
	if n, err := strconv.ParseUint(m.port, 10, 16); err != nil || n == 0 {
		return errors.New(form + "; its port is a number from 1 to 65535")
	}
	return nil
}

// CheckAddress returns nil if mail can be sent to an address: one without a name, quotes,
// comments or anything else that programs read differently.
func CheckAddress(text string) error {
	const wrong = "must be an address such as name@example.org"
	local, domain, _ := strings.Cut(text, "@")
	if len(text) > maxAddress || local == "" || !strings.Contains(strings.Trim(domain, "."), ".") {
		return errors.New(wrong)
	}
	for _, r := range local {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~.", r) {
			return errors.New(wrong)
		}
	}
	for _, r := range domain {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.' {
			return errors.New(wrong)
		}
	}
	if _, err := netmail.ParseAddress(text); err != nil {
		return errors.New(wrong)
	}
	return nil
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// checkSubject returns nil if a text is one line that is not empty.
func checkSubject(text string) error {
	if !utf8.ValidString(text) || strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > maxSubject ||
		strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return fmt.Errorf("the subject must be one line of 1 to %d characters", maxSubject)
	}
	return nil
}

// Send sends a mail. If the error is of kind Overloaded, it may be tried again; a mail that
// the server took as its connection broke is sent twice then.
func (m *Mailer) Send(ctx context.Context, message Message) error {
	var faults beacon.Faults
	faults.Check("email", CheckAddress(message.To))
	if err := faults.Err(); err != nil {
		return err
	}
	if err := checkSubject(message.Subject); err != nil {
		return beacon.Unexpected(err)
	}
	if message.Text == "" || len(message.Text) > maxBody || len(message.HTML) > maxBody {
		return beacon.Unexpected(errors.New("a mail needs a text, of at most 256 KiB"))
	}
	return m.connected(ctx, func(c *smtp.Client) error {
		if all, _ := c.Extension("SMTPUTF8"); !all && !ascii(message.To) {
			return errRecipient(errors.New("the server has no SMTPUTF8"))
		}
		if err := c.Mail("<" + m.from.Address + ">"); err != nil {
			return worded("sender", err)
		}
		if err := c.Rcpt("<" + message.To + ">"); err != nil {
			if said, ok := errors.AsType[*reply](err); ok && said.Code >= 500 {
				return errRecipient(cause("recipient", err))
			}
			return worded("recipient", err)
		}
		w, err := c.Data()
		if err != nil {
			return worded("mail", err)
		}
		if _, err := m.compose(message).WriteTo(w); err != nil {
			return worded("mail", err)
		}
		if err := w.Close(); err != nil {
			return worded("mail", err)
		}
		return nil
	})
}

// Check connects to the server as Send does, and asks whether it takes mails of the sender.
func (m *Mailer) Check(ctx context.Context) error {
	return m.connected(ctx, func(c *smtp.Client) error {
		if err := c.Mail("<" + m.from.Address + ">"); err != nil {
			return worded("sender", err)
		}
		return nil
	})
}

// compose returns a mail in the form of the standard.
func (m *Mailer) compose(message Message) *gomail.Msg {
	of := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	of.FromMailAddress(m.from)
	of.ToMailAddress(&netmail.Address{Address: message.To})
	of.Subject(message.Subject)
	of.SetMessageIDWithValue(rand.Text() + "@" + m.domain) // not the name of this machine
	of.SetGenHeader("Auto-Submitted", "auto-generated")    // nobody's holiday replies
	of.SetBodyString(gomail.TypeTextPlain, message.Text)
	if message.HTML != "" {
		of.AddAlternativeString(gomail.TypeTextHTML, message.HTML)
	}
	return of
}

// connected calls fn with a connection on which the server knows who sends.
func (m *Mailer) connected(ctx context.Context, fn func(*smtp.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, m.lasts)
	defer cancel()
	conn, err := m.dial(ctx, "tcp", net.JoinHostPort(m.host, m.port))
	if err != nil {
		return worded("connection", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err = m.introduced(bounded{conn, io.LimitReader(conn, maxReplies)}, fn); err != nil && ctx.Err() != nil {
		return worded("connection", ctx.Err()) // and not that the connection was closed
	}
	return err
}

func (m *Mailer) introduced(conn net.Conn, fn func(*smtp.Client) error) error {
	secure := &tls.Config{ServerName: m.host, RootCAs: m.roots, MinVersion: tls.VersionTLS12}
	if m.direct {
		conn = tls.Client(conn, secure)
	}
	c, err := smtp.NewClient(conn, m.host)
	if err != nil {
		return worded("greeting", err)
	}
	if err := c.Hello(m.domain); err != nil {
		return worded("greeting", err)
	}
	if !m.direct && !m.local {
		if offered, _ := c.Extension("STARTTLS"); !offered {
			return errSetting("offers no STARTTLS, without which anyone on the way could read mails; use smtps:// if it has a port for TLS", nil)
		}
		if err := c.StartTLS(secure); err != nil {
			return worded("STARTTLS", err)
		}
	}
	if m.user != "" {
		auth := m.auth(c)
		if auth == nil {
			return errSetting("offers no way to sign in that is known here; leave out user and password if it wants none", nil)
		}
		if err := c.Auth(auth); err != nil {
			if said, ok := errors.AsType[*reply](err); ok && said.Code >= 500 {
				return errSetting("does not accept the user or the password in its URL", cause("sign-in", err))
			}
			return worded("sign-in", err)
		}
	}
	if err := fn(c); err != nil {
		return err
	}
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	_ = c.Quit() // what was to be done is done
	return nil
}
