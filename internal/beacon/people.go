package beacon

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"
)

// InviteID identifies an invitation to become a member: "inv_" and 26 characters.
type InviteID string

// InvitePrefix begins the id of every invitation.
const InvitePrefix = "inv_"

// Invite is an invitation to become a member of an account, or to take posts. Its token is
// shown once; the database has a hash.
type Invite struct {
	ID        InviteID
	Hash      [sha256.Size]byte
	Account   UserID // empty: the network
	Name      string // of the account, if the invitation founds it
	Role      Role
	Posts     []Post
	Hotspots  []HotspotID
	CreatedAt time.Time
	CreatedBy PersonID // empty: by a key, or on the command line
	Key       KeyID    // with which it was made; empty: by a person, or on the command line
	ExpiresAt time.Time
	UsedAt    time.Time // zero: not used
	UsedBy    PersonID
	RevokedAt time.Time // zero: not revoked
}

// Pending reports whether the invitation can be accepted.
func (i *Invite) Pending(now time.Time) bool {
	return i.UsedAt.IsZero() && i.RevokedAt.IsZero() && now.Before(i.ExpiresAt)
}

// Member is a person as the other members of an account know them.
type Member struct {
	Membership
	Name        string
	Suspended   bool
	RecoveredAt time.Time // see Person
	LinkUntil   time.Time // someone else made a link for them, which can be used so long; zero: none
}

// Frozen returns until when the member is frozen after a recovery, or zero.
func (m *Member) Frozen(now time.Time) time.Time {
	return (&Person{RecoveredAt: m.RecoveredAt}).Frozen(now)
}

// Linked returns until when they can sign in by a link that someone else made, or zero.
func (m *Member) Linked(now time.Time) time.Time {
	if !now.Before(m.LinkUntil) {
		return time.Time{}
	}
	return m.LinkUntil
}

// Roster is who the members of an account are, in the order of their ids, and who is invited.
type Roster struct {
	Account UserID // empty: the network
	Name    string
	Members []Member
	Invites []Invite // that were neither used nor revoked; some may have expired
}

// Of returns the member who is the person, or nil.
func (r *Roster) Of(person PersonID) *Member {
	for i := range r.Members {
		if r.Members[i].Person == person {
			return &r.Members[i]
		}
	}
	return nil
}

// Leads reports whether someone other than the person leads the account: an owner, or, in the
// network, an admin, who is not suspended.
func (r *Roster) Leads(besides PersonID) bool {
	return slices.ContainsFunc(r.Members, func(m Member) bool { return m.Person != besides && !m.Suspended && m.Leads() })
}

// Leads reports whether the membership is that of an owner or of an admin.
func (m *Membership) Leads() bool { return m.Role == Owner || slices.Contains(m.Posts, AdminPost) }

// SessionID identifies a session of a person: "ses_" and 26 characters.
type SessionID string

// SessionPrefix begins the id of every session.
const SessionPrefix = "ses_"

// Session is a browser in which a person is signed in.
type Session struct {
	ID         SessionID
	Person     PersonID
	SecretHash [sha256.Size]byte
	Device     string // what the browser said of itself, in a few words
	Door       Door
	CreatedAt  time.Time
	LastUsedAt time.Time // kept to the minute
	ExpiresAt  time.Time
	FreshUntil time.Time // until then the person has just shown who they are
}

// Use is how a session was used.
type Use struct{ LastUsedAt, ExpiresAt time.Time }

// Door is how a person signed in.
type Door string

// The doors.
const (
	ByInvitation Door = "invitation"
	BySignUp     Door = "sign_up"
	ByLink       Door = "link"
	ByCode       Door = "code"
	ByPasskey    Door = "passkey"
	ByOIDC       Door = "oidc"
)

// Passkey is a credential of a person.
type Passkey struct {
	ID         string // what the device calls it, as base64url
	Person     PersonID
	Name       string
	Data       string // what package passkey needs to verify it
	Synced     bool   // it is kept on several devices
	CreatedAt  time.Time
	LastUsedAt time.Time
}

// TicketKind says what a ticket is for.
type TicketKind string

// The kinds of tickets.
const (
	LinkTicket    TicketKind = "link"     // signs in once
	CodeTicket    TicketKind = "code"     // a recovery code
	NewCodeTicket TicketKind = "new_code" // a recovery code that is not in force yet
	PasskeyTicket TicketKind = "passkey"  // the challenge of a ceremony
	OIDCTicket    TicketKind = "oidc"     // the state of a visit to the provider
	MailTicket    TicketKind = "mail"     // shows that a mail address is theirs
)

// Ticket is a secret that works once. The transaction that uses it deletes it.
type Ticket struct {
	Hash      [sha256.Size]byte
	Kind      TicketKind
	Person    PersonID // may be empty
	Data      string
	CreatedBy PersonID // empty: a key, the command line, or the person before they signed in
	CreatedAt time.Time
	ExpiresAt time.Time // zero: it has no end
}

// InForce reports whether the ticket can be used.
func (t *Ticket) InForce(now time.Time) bool { return t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt) }

// Identity of a person at a provider of OpenID Connect.
type OIDCIdentity struct {
	Issuer, Subject string
	Person          PersonID
}

// PersonDoors says by which doors a person can sign in.
type PersonDoors struct {
	Passkeys, Codes, NewCodes int
	OIDC                      bool
}

// PeopleSight says what an edit of people has to see. All of it is read in its transaction.
type PeopleSight struct {
	Actor, Person PersonID
	Accounts      []UserID           // whose rosters it sees; "" is the network
	Seats         bool               // and those of all accounts of the person
	Invite        InviteID           // or
	InviteToken   *[sha256.Size]byte // of an invitation; its account is seen too, its key is the Key, and the person is left out
	Ticket        *[sha256.Size]byte // of a ticket; its person is the Person, and who made it the Actor, if those are empty
	Identity      *OIDCIdentity      // whoever has it is the Holder, and the Person, if that is empty
	Passkey       string             // the id of a passkey; its person is the Person, if that is empty
	Passkeys      bool               // of the person
	FirstKey      bool               // the invitation to create the first key, and whether there are people
	KeysBy        PersonID           // the keys in force that a person made
	Key           KeyID              // one key, be it revoked
}

// PeopleEdit is what an edit sees, and what it wants written. Nothing else is written, and
// only if the edit returns no error.
type PeopleEdit struct {
	Actor, Person *Seated // nil: there is none
	Rosters       map[UserID]*Roster
	Given         []Invite // that the person created, and that are neither used nor revoked; with Seats
	Invite        *Invite
	Ticket        *Ticket
	Holder        PersonID // of the identity; empty: nobody
	Passkey       *Passkey
	Passkeys      []Passkey
	Doors         PersonDoors // of the person
	FirstKey      Invitation
	Any           bool // there are people
	Keys          []Key
	Key           *Key // nil: there is none

	Write PeopleWrites
}

// PeopleWrites are rows to be written.
type PeopleWrites struct {
	People      []Person     // new, or in place of what there is
	Memberships []Membership // new, or in place of what there is
	Leaving     []Membership // to be deleted
	Names       map[UserID]string
	Invites     []Invite // new, or in place of what there is
	UseTicket   bool     // the one that was seen
	Tickets     []Ticket
	DropTickets []TicketKind // all of the person's of some kinds
	DropMade    PersonID     // whose links for others are deleted
	DropMailed  bool         // the person's links of their own
	NewInForce  bool         // the person's new codes become the codes
	Sessions    []Session
	End         *EndSessions
	Fresh       *FreshSession
	Passkeys    []Passkey // new, or in place of what there is
	DropPasskey string
	DropDoors   bool // all passkeys, tickets and identities of the person
	Identities  []OIDCIdentity
	DropOIDC    bool // all identities of the person
	UseFirstKey bool // the invitation to create the first key
	RevokeKeys  []KeyID
	RevokedAt   time.Time // of the keys
	Changes     []Change
}

// EndSessions ends sessions of a person: one, or all but one.
type EndSessions struct {
	Person     PersonID
	One, Spare SessionID
}

// FreshSession says until when a session is fresh.
type FreshSession struct {
	ID    SessionID
	Until time.Time
}

// FoldMail returns a mail address in the form in which addresses are compared.
func FoldMail(mail string) string { return strings.ToLower(strings.TrimSpace(mail)) }
