package mail_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/beacon-wifi/beacon/internal/mail"
)

// server is an SMTP server that others wrote, with what it was sent.
type server struct {
	*smtp.Server
	address string
	roots   *x509.CertPool
	ways    []string // to sign in

	mu       sync.Mutex
	refuse   map[string]error // what it says at a step
	received []received
	secure   bool // the last session had TLS
	user     string
}

type received struct{ from, to, data string }

// newServer starts a server whose certificate is of mail.example.org.
func newServer(t *testing.T, change func(*server)) *server {
	t.Helper()
	certificate, roots := certify(t, "mail.example.org")
	s := &server{roots: roots, ways: []string{sasl.Plain}, refuse: map[string]error{}}
	s.Server = smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{server: s, conn: c}, s.says("greeting")
	}))
	s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.Domain = "mail.example.org"
	s.ErrorLog = log.New(io.Discard, "", 0)
	if change != nil {
		change(s)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	done := make(chan error)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		_ = l.Close() // which the server may not know yet
		<-done
	})
	return s
}

// certify returns a certificate that nobody but the pool believes.
func certify(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// mailer returns a mailer of the server.
func (s *server) mailer(t *testing.T, url string) *mail.Mailer {
	t.Helper()
	m, err := mail.New(mail.Config{URL: url, From: "Riverside Wi-Fi <wifi@example.org>"})
	if err != nil {
		t.Fatal(err)
	}
	m.Reach(s.address, s.roots, time.Minute)
	return m
}

func (s *server) says(step string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refuse[step]
}

// session is one connection.
type session struct {
	*server
	conn  *smtp.Conn
	mail  received
	known bool
}

func (s *session) AuthMechanisms() []string { return s.ways }

func (s *session) Auth(way string) (sasl.Server, error) {
	if err := s.says("auth"); err != nil {
		return nil, err
	}
	check := func(user, password string) error {
		if password != "p@ss:w/rd" {
			return smtp.ErrAuthFailed
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.user, s.known = user, true
		return nil
	}
	switch way {
	case sasl.Plain:
		return sasl.NewPlainServer(func(_, user, password string) error { return check(user, password) }), nil
	case sasl.Login:
		return &login{check: check}, nil
	}
	return nil, errors.New("unknown")
}

// login is the server of an old way to sign in, which some still have alone.
type login struct {
	check func(user, password string) error
	user  *string
}

func (l *login) Next(response []byte) (challenge []byte, done bool, err error) {
	switch {
	case response == nil:
		return []byte("Username:"), false, nil
	case l.user == nil:
		l.user = new(string(response))
		return []byte("Password:"), false, nil
	default:
		return nil, true, l.check(*l.user, string(response))
	}
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.mu.Lock()
	_, s.secure = s.conn.TLSConnectionState()
	s.mu.Unlock()
	s.mail.from = from
	return s.says("mail")
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.to = to
	return s.says("rcpt")
}

func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mail.data = string(data)
	if err := s.says("data"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, s.mail)
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }
