package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// reply is what a server says if it does not do what it was asked.
type reply = textproto.Error

// bounded is a connection of which only so much is read: lines of a server may be endless.
type bounded struct {
	net.Conn
	r io.Reader
}

func (b bounded) Read(p []byte) (int, error) { return b.r.Read(p) }

// auth returns the best way to sign in that a server offers, or nil.
func (m *Mailer) auth(c *smtp.Client) smtp.Auth {
	_, offered := c.Extension("AUTH")
	ways := strings.Fields(strings.ToUpper(offered))
	switch {
	case slices.Contains(ways, "SCRAM-SHA-256"):
		return smtp.ScramSHA256Auth(m.user, m.password)
	case slices.Contains(ways, "PLAIN"):
		return smtp.PlainAuth("", m.user, m.password, m.host, m.local)
	case slices.Contains(ways, "LOGIN"):
		return smtp.LoginAuth(m.user, m.password, m.host, m.local)
	default:
		return nil
	}
}

// worded returns the error for a step that failed.
func worded(step string, err error) error {
	said, ok := errors.AsType[*reply](err)
	if _, wrong := errors.AsType[*tls.CertificateVerificationError](err); wrong {
		return errSetting("has no valid certificate for its name", cause(step, err))
	}
	if ok && said.Code >= 500 {
		return errSetting("refuses mails of this server", cause(step, err))
	}
	return &beacon.Error{
		Kind: beacon.Overloaded, RetryAfter: time.Minute, Err: cause(step, err),
		Message: "the mail was not sent, since the mail server cannot be reached or is busy; hand it over another way, or try again in a minute",
	}
}

func errRecipient(cause error) error {
	return &beacon.Error{Kind: beacon.InvalidRequest, Message: "the mail server does not deliver to this address; check its spelling, or hand the message over another way", Err: cause}
}

// errSetting is returned for what only those who run the network can mend.
func errSetting(what string, cause error) error {
	return &beacon.Error{Kind: beacon.Conflict, Message: "the mail was not sent: the mail server " + what + "; tell those who run this network, and hand the message over another way", Err: cause}
}

var enhanced = regexp.MustCompile(`^[245]\.\d{1,3}\.\d{1,3}\b`)

// cause returns what logs may have of an error: servers repeat addresses in their texts, so
// only their numbers are kept.
func cause(step string, err error) error {
	if said, ok := errors.AsType[*reply](err); ok {
		return fmt.Errorf("%s: the server replied %s", step, strings.TrimSpace(fmt.Sprint(said.Code, " ", enhanced.FindString(said.Msg))))
	}
	_, network := errors.AsType[net.Error](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	if network || certificate || noTLS || errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w", step, err)
	}
	return fmt.Errorf("%s: the server broke the protocol", step)
}
