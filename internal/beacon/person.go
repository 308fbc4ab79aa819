package beacon

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// PersonID identifies a person: "per_" and 26 characters.
type PersonID string

// PersonPrefix begins the id of every person.
const PersonPrefix = "per_"

// Person is someone who signs in. What they may do is in their memberships: people own
// nothing, accounts do.
type Person struct {
	ID          PersonID
	Name        string
	Mail        string    // may be empty; only its person and admins see it
	MailProven  time.Time // when they showed that the address is theirs; zero: not
	Language    string    // of mails; empty: that of the network
	CreatedAt   time.Time
	SuspendedAt time.Time // zero: active
	RecoveredAt time.Time // when they last signed in with a recovery code, or a link from someone else; zero: never
	ErasedAt    time.Time // zero: not erased
}

// Active reports whether the person may sign in.
func (p *Person) Active() bool { return p.SuspendedAt.IsZero() && p.ErasedAt.IsZero() }

// FrozenFor is how long after a recovery a person may change nothing that leads money
// elsewhere.
const FrozenFor = 72 * time.Hour

// Frozen returns until when the person is frozen after a recovery, or zero.
func (p *Person) Frozen(now time.Time) time.Time {
	if until := p.RecoveredAt.Add(FrozenFor); !p.RecoveredAt.IsZero() && now.Before(until) {
		return until
	}
	return time.Time{}
}

// Role is what a member of an account may do there.
type Role string

// The roles, from the widest to the narrowest.
const (
	Owner     Role = "owner"
	Manager   Role = "manager"
	Installer Role = "installer" // of the hotspots that are assigned to them
	Viewer    Role = "viewer"
)

// Roles returns all roles, from the widest to the narrowest.
func Roles() []Role { return []Role{Owner, Manager, Installer, Viewer} }

// MayGive reports whether a member with the role may invite people with another, change
// theirs to it or from it: up to their own. Only owners and managers may at all.
func (r Role) MayGive(other Role) bool {
	switch r {
	case Owner:
		return slices.Contains(Roles(), other)
	case Manager:
		return slices.Contains(Roles()[1:], other)
	}
	return false
}

// Post is what a person does for the network as a whole.
type Post string

// The posts. Several add up.
const (
	AdminPost Post = "admin"
	Verifier  Post = "verifier"
	Treasurer Post = "treasurer"
	Auditor   Post = "auditor"
)

// Posts returns all posts, in the order in which they are listed.
func Posts() []Post { return []Post{AdminPost, Verifier, Treasurer, Auditor} }

// ParseRole returns the role with a name.
func ParseRole(name string) (Role, error) {
	if !slices.Contains(Roles(), Role(name)) {
		return "", fmt.Errorf("must be %s", oneOf(Roles()))
	}
	return Role(name), nil
}

// ParsePosts returns the posts with some names, in their usual order, each once.
func ParsePosts(names []string) ([]Post, error) {
	for _, name := range names {
		if !slices.Contains(Posts(), Post(name)) {
			return nil, fmt.Errorf("must be posts: %s", oneOf(Posts()))
		}
	}
	return slices.DeleteFunc(Posts(), func(p Post) bool { return !slices.Contains(names, string(p)) }), nil
}

func oneOf[T ~string](all []T) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// Membership is a person's place in an account, or in the network itself.
type Membership struct {
	Person   PersonID
	Account  UserID      // empty: the network, where they have posts
	Role     Role        // in an account
	Posts    []Post      // in the network
	Hotspots []HotspotID // assigned to an installer
	Since    time.Time
}

// ManyMembers is how many members an account, and the staff of a network, may have.
const ManyMembers = 200

// Seated is a person with all their memberships.
type Seated struct {
	Person
	Memberships []Membership
}

// Posts returns what the person does for the network.
func (s *Seated) Posts() []Post {
	if m := s.In(""); m != nil {
		return m.Posts
	}
	return nil
}

// In returns the person's membership of an account, or nil.
func (s *Seated) In(account UserID) *Membership {
	for i := range s.Memberships {
		if s.Memberships[i].Account == account {
			return &s.Memberships[i]
		}
	}
	return nil
}

// Behind is who may be behind a request: the person who is signed in, or else all members of
// the account that a key acts for; and all accounts of these people. Rules that need two
// people compare it.
type Behind struct {
	User     UserID
	Person   PersonID // empty for a key
	People   []PersonID
	Accounts []UserID // with User, if it is not empty
}

// Owns reports whether an account is one of those who may be behind the request.
func (b Behind) Owns(account UserID) bool {
	return account != "" && (account == b.User || slices.Contains(b.Accounts, account))
}
