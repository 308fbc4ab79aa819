// Package people says who people are, and who may do what: members of accounts, posts in the
// network, invitations, sessions, and the doors by which people sign in. It does not know
// HTTP, and not what a passkey is: other packages verify those.
//
// Its one invariant: nobody gets a right that nobody who had it gave; and an account that has
// an owner never loses the last one, nor the network its last admin.
package people

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/mail"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// Store is what this package needs of a database. Package store says what each method
// promises.
type Store interface {
	// EditPeople calls edit with what it has to see, and writes what it wants, in one
	// transaction beside which no other of its kind runs.
	EditPeople(ctx context.Context, by beacon.Actor, sight beacon.PeopleSight, edit func(*beacon.PeopleEdit) error) error
	Person(ctx context.Context, id beacon.PersonID) (*beacon.Seated, error)
	PersonDoors(ctx context.Context, person beacon.PersonID) (beacon.PersonDoors, error)
	People(ctx context.Context, search string, after beacon.PersonID, offset, limit int) (page []beacon.Seated, total int, err error)
	PeopleByMail(ctx context.Context, mail string, limit int) ([]beacon.Person, error)
	AnyPerson(ctx context.Context) (bool, error)
	Roster(ctx context.Context, account beacon.UserID) (*beacon.Roster, error)
	AccountNames(ctx context.Context, ids []beacon.UserID) (map[beacon.UserID]string, error)
	InviteByToken(ctx context.Context, token [sha256.Size]byte) (beacon.Invite, bool, error)
	Ticket(ctx context.Context, token [sha256.Size]byte) (beacon.Ticket, bool, error)
	Sessions(ctx context.Context, person beacon.PersonID, limit int) ([]beacon.Session, error)
	InsertTicket(ctx context.Context, t beacon.Ticket) error
}

// Mailer sends mail. It queues: who asks learns nothing from how long it takes.
type Mailer interface {
	// SendInvitation sends an invitation to an address, in a language, which may be empty.
	SendInvitation(to, language, token string, expires time.Time)
	// SendProof sends a link by which someone shows that the address is theirs.
	SendProof(to, language, token string, expires time.Time)
	// SendLink sends a link to sign in.
	SendLink(to, language, token string, expires time.Time)
}

// SignUp says who may become an operator.
type SignUp string

// Who may: anyone, those whom staff invite to found an account, or only those whom the command
// line invites to.
const (
	SignUpOpen   SignUp = "open"
	SignUpInvite SignUp = "invite"
	SignUpOff    SignUp = "off"
)

// Keys are the API keys that this process knows.
type Keys interface {
	// Forget forgets a key that was revoked.
	Forget(id beacon.KeyID)
}

// Config is what New needs.
type Config struct {
	Store    Store
	Sessions *Sessions
	Keys     Keys   // nil: this process serves no keys
	Mailer   Mailer // nil: no mail is sent
	SignUp   SignUp // empty: invite
	Now      func() time.Time
	Log      *slog.Logger
}

// People implements the verbs.
type People struct {
	store    Store
	sessions *Sessions
	keys     Keys
	mailer   Mailer
	signUp   SignUp
	now      func() time.Time
	log      *slog.Logger

	asked chan string // mail addresses that links are wanted for; see MailLink
}

// New returns the use cases.
func New(cfg Config) *People {
	if cfg.SignUp == "" {
		cfg.SignUp = SignUpInvite
	}
	return &People{
		store: cfg.Store, sessions: cfg.Sessions, keys: cfg.Keys, mailer: cfg.Mailer, signUp: cfg.SignUp, now: cfg.Now, log: cfg.Log,
		asked: make(chan string, 100),
	}
}

// Open says what the sign-in page has to know.
type Open struct {
	Mail   bool
	SignUp SignUp
	Any    bool // there are people
}

// Open says what the sign-in page has to know.
func (pp *People) Open(ctx context.Context) (Open, error) {
	some, err := pp.store.AnyPerson(ctx)
	return Open{pp.mailer != nil, pp.signUp, some}, err
}

// Me is a person as they see themselves.
type Me struct {
	beacon.Seated
	Names  map[beacon.UserID]string // of their accounts
	Doors  beacon.PersonDoors
	Fresh  time.Time // until when; zero: not
	Frozen time.Time // until when; zero: not
}

var (
	errNoPerson = &beacon.Error{Kind: beacon.Forbidden, Message: "this needs a person who is signed in"}
	errPerson   = beacon.NoSuch("person")
)

// Me returns the person who is signed in.
func (pp *People) Me(ctx context.Context, p beacon.Principal, _ struct{}) (Me, error) {
	if p.Person == "" {
		return Me{}, errNoPerson
	}
	m, err := pp.show(ctx, p.Person)
	if err == nil && p.Signed != nil && pp.now().Before(p.Signed.FreshUntil) {
		m.Fresh = p.Signed.FreshUntil
	}
	return m, err
}

func (pp *People) show(ctx context.Context, person beacon.PersonID) (m Me, err error) {
	seated, err := pp.store.Person(ctx, person)
	switch {
	case err != nil:
		return m, err
	case seated == nil || !seated.ErasedAt.IsZero():
		return m, errPerson
	}
	m.Seated, m.Frozen = *seated, seated.Person.Frozen(pp.now())
	var accounts []beacon.UserID
	for _, held := range m.Memberships {
		if held.Account != "" {
			accounts = append(accounts, held.Account)
		}
	}
	if m.Names, err = pp.store.AccountNames(ctx, accounts); err != nil {
		return m, err
	}
	m.Doors, err = pp.store.PersonDoors(ctx, person)
	return m, err
}

// Patch is a merge patch of a person's own details.
type Patch struct {
	Name, Mail, Language beacon.Opt[string]
}

// Validate returns all the faults of the form.
func (in Patch) Validate() error {
	_, err := in.apply(beacon.Person{})
	return err
}

func (in Patch) apply(to beacon.Person) (_ beacon.Person, err error) {
	var f beacon.Faults
	if name, ok := beacon.Optional(in.Name, "name", &f); ok {
		to.Name, err = cleanName(name)
		f.Check("name", err)
	}
	if in.Mail.Set { // null removes it
		to.Mail, err = cleanMail(in.Mail.V)
		f.Check("mail", err)
	}
	if in.Language.Set {
		to.Language = in.Language.V
		f.Check("language", checkLanguage(in.Language.V))
	}
	return to, f.Err()
}

// ChangeMe changes the details of the person who is signed in.
func (pp *People) ChangeMe(ctx context.Context, p beacon.Principal, in Patch) (Me, error) {
	if p.Person == "" {
		return Me{}, errNoPerson
	}
	err := pp.store.EditPeople(ctx, p.CountedActor(pp.now()), beacon.PeopleSight{Person: p.Person}, func(e *beacon.PeopleEdit) error {
		if e.Person == nil {
			return errPerson
		}
		changed, err := in.apply(e.Person.Person)
		if err != nil || changed == e.Person.Person {
			return err
		}
		if changed.Mail != e.Person.Mail { // who has the mailbox can sign in
			if err := p.CheckFresh(pp.now()); err != nil {
				return err
			}
			changed.MailProven = time.Time{}
			e.Write.DropMailed, e.Write.DropTickets = true, []beacon.TicketKind{beacon.MailTicket} // what went to another address
		}
		e.Write.People = []beacon.Person{changed}
		e.Write.Changes = []beacon.Change{pp.change(beacon.PersonChanged, string(p.Person), p.Actor(), "details")}
		return nil
	})
	if err != nil {
		return Me{}, err
	}
	pp.sessions.Forget(p.Person)
	return pp.Me(ctx, p, struct{}{})
}

// change returns a row of the audit. Notes have ids, roles and posts, and no names.
func (pp *People) change(kind beacon.ChangeKind, target string, by beacon.Actor, note ...string) beacon.Change {
	by.Note, by.Once = strings.TrimSpace(strings.Join(note, " ")), nil
	return beacon.Change{Kind: kind, Target: target, Actor: by, At: pp.now()}
}

func cleanName(raw string) (string, error) {
	name, err := beacon.CleanKeyName(raw)
	if err == nil && name == "" {
		err = errEmpty
	}
	return name, err
}

// maxMail is the longest address that can be sent to.
const maxMail = 254

// cleanMail returns a mail address as it is stored; empty is none.
func cleanMail(raw string) (string, error) {
	text := strings.TrimSpace(raw)
	if text == "" {
		return "", nil
	}
	if len(text) > maxMail || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return "", errMail
	}
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Name != "" || parsed.Address != text {
		return "", errMail
	}
	return text, nil
}

func checkLanguage(code string) error {
	if code == "" {
		return nil
	}
	return beacon.CheckLanguage(code)
}

// newPerson makes a person.
func newPerson(now time.Time, name, language string) beacon.Person {
	return beacon.Person{ID: beacon.PersonID(id.New(beacon.PersonPrefix, now)), Name: name, Language: language, CreatedAt: now}
}

func newAccount(now time.Time) beacon.UserID { return beacon.UserID(id.New(beacon.UserPrefix, now)) }
