package mail

import (
	"context"
	"crypto/x509"
	"net"
	"time"
)

// Reach makes a mailer find its server at an address, believe its certificate, and wait for
// it so long.
func (m *Mailer) Reach(address string, roots *x509.CertPool, lasts time.Duration) {
	m.dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	m.roots, m.lasts = roots, lasts
}

// Address returns where the server is.
func (m *Mailer) Address() string { return net.JoinHostPort(m.host, m.port) }

// Login returns with what a mailer signs in.
func (m *Mailer) Login() (user, password string) { return m.user, m.password }
