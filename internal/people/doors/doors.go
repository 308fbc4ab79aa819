// Package doors lets people in by passkeys and by a provider of OpenID Connect. It joins package people, which knows who they are
// and what they may do, with the packages that know the standards. Its invariant: what was
// begun lets in, or changes something, at most once, since the transaction that does so
// deletes it; and what began in one session ends in no other.
package doors

import (
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people"
	"github.com/beacon-wifi/beacon/internal/people/passkey"
)

// Store is what this package needs of a database.
type Store interface {
	Passkey(ctx context.Context, id string) (beacon.Passkey, bool, error)
	Passkeys(ctx context.Context, person beacon.PersonID) ([]beacon.Passkey, error)
}

// Config is what New needs.
type Config struct {
	People    *people.People
	Store     Store
	PublicURL string        // where browsers reach the server: see Site
	Network   func() string // its name
	Provider  *Provider     // nil: none
	Now       func() time.Time
}

// Doors are the doors of one network.
type Doors struct {
	people   *people.People
	store    Store
	network  func() string
	now      func() time.Time
	passkeys *passkey.Passkeys
	provider *Provider
	host     string // at which passkeys work, with its port
}

// New returns the doors.
func New(cfg Config) *Doors {
	site := Site(cfg.PublicURL)
	return &Doors{
		people: cfg.People, store: cfg.Store, network: cfg.Network, now: cfg.Now, host: hostOf(site), provider: cfg.Provider,
		passkeys: passkey.New(passkey.Config{PublicURL: site, Now: cfg.Now}),
	}
}

// Site returns the address at which people open the console of a server with a public URL, and
// to which passkeys belong. The addresses 127.0.0.1 and ::1 are also called localhost, which is
// a name: passkeys need one.
func Site(public string) string {
	u, err := url.Parse(public)
	if err != nil || u.Scheme != "http" {
		return public
	}
	if at, err := netip.ParseAddr(u.Hostname()); err != nil || at != netip.IPv6Loopback() && at != netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
		return public
	}
	u.Host = strings.TrimSuffix("localhost:"+u.Port(), ":")
	return u.String()
}

// hostOf returns the host of an address, with its port.
func hostOf(site string) string {
	u, err := url.Parse(site)
	if err != nil {
		return ""
	}
	return u.Host
}

// Why there are no passkeys for a page.
const (
	noName  = "address" // it has no name
	noHTTPS = "http"
)

// Passkeys reports whether passkeys work on pages of a host, and if not, why.
func (d *Doors) Passkeys(host string) (works bool, reason string) {
	if d.passkeys.Usable() == nil && strings.EqualFold(host, d.host) {
		return true, ""
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if net.ParseIP(strings.Trim(name, "[]")) != nil {
		return false, noName
	}
	return false, noHTTPS
}

// begun is what is kept of a ceremony.
type begun struct {
	Session beacon.SessionID `json:"session,omitempty"` // in which it began; empty: before anyone signed in
	State   json.RawMessage  `json:"state"`
}

// keep keeps a ceremony, and returns its token.
func (d *Doors) keep(ctx context.Context, p beacon.Principal, kind beacon.TicketKind, b begun, lasts time.Duration) (string, error) {
	if p.Signed != nil {
		b.Session = p.Signed.Session
	}
	text, err := json.Marshal(b)
	if err != nil {
		return "", beacon.Unexpected(err)
	}
	return d.people.Begin(ctx, p, kind, p.Person, string(text), lasts)
}

// kept returns a ceremony of the principal that is not used yet.
func (d *Doors) kept(ctx context.Context, p beacon.Principal, kind beacon.TicketKind, token string) (t beacon.Ticket, b begun, err error) {
	if t, err = d.people.Begun(ctx, kind, token); err != nil {
		return t, b, err
	}
	var session beacon.SessionID
	if p.Signed != nil {
		session = p.Signed.Session
	}
	if err := json.Unmarshal([]byte(t.Data), &b); err != nil || t.Person != p.Person || b.Session != session {
		return t, b, people.ErrDoor
	}
	return t, b, nil
}
