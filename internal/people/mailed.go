package people

import (
	"context"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

var (
	errNoMail = &beacon.Error{Kind: beacon.Conflict, Message: "this network sends no mail"}
	errProven = &beacon.Error{Kind: beacon.Conflict, Message: "you have no mail address, or have shown already that it is yours"}
)

// provesFor is how long someone has to show that an address is theirs.
const provesFor = day

// AskProof sends the person who is signed in a link by which they show that the mail address
// is theirs that they gave. Until then no links to sign in are sent to it.
func (pp *People) AskProof(ctx context.Context, p beacon.Principal, _ struct{}) (struct{}, error) {
	switch {
	case p.Person == "":
		return struct{}{}, errNoPerson
	case pp.mailer == nil:
		return struct{}{}, errNoMail
	}
	now := pp.now()
	token, hash := newToken()
	var to beacon.Person
	err := pp.edit(ctx, p, beacon.PeopleSight{Person: p.Person}, func(e *beacon.PeopleEdit) error {
		if e.Person == nil || e.Person.Mail == "" || !e.Person.MailProven.IsZero() {
			return errProven
		}
		to = e.Person.Person
		e.Write.DropTickets = []beacon.TicketKind{beacon.MailTicket}
		e.Write.Tickets = []beacon.Ticket{{Hash: hash, Kind: beacon.MailTicket, Person: to.ID, Data: to.Mail, CreatedBy: to.ID, CreatedAt: now, ExpiresAt: now.Add(provesFor)}}
		return nil
	})
	if err == nil {
		pp.mailer.SendProof(to.Mail, to.Language, token, now.Add(provesFor))
	}
	return struct{}{}, err
}

// ProveMail ends what AskProof began. It takes the mail and the session: someone with another
// one's address by mistake, or on purpose, gets nothing by a mail that its owner opens.
func (pp *People) ProveMail(ctx context.Context, p beacon.Principal, token string) (Me, error) {
	hash, ok := hashToken(token)
	if !ok {
		return Me{}, ErrDoor
	}
	err := pp.Change(ctx, p, Entry{Ticket: hash, Kind: beacon.MailTicket}, func(e *beacon.PeopleEdit) error {
		if e.Ticket.Data != e.Person.Mail {
			return ErrDoor
		}
		e.Person.MailProven = pp.now()
		e.Write.People = []beacon.Person{e.Person.Person}
		e.Write.Changes = []beacon.Change{pp.change(beacon.PersonChanged, string(p.Person), p.Actor(), "mail")}
		return nil
	})
	if err != nil {
		return Me{}, err
	}
	return pp.Me(ctx, p, struct{}{})
}

// MailLink sends a link to the person who has a mail address, if anyone has. It returns at once,
// and does the same whether or not anyone has: see Run.
func (pp *People) MailLink(_ context.Context, _ beacon.Principal, address string) (struct{}, error) {
	if pp.mailer == nil {
		return struct{}{}, errNoMail
	}
	clean, err := cleanMail(address)
	if err != nil || clean == "" {
		var f beacon.Faults
		f.Check("mail", errMail)
		return struct{}{}, f.Err()
	}
	select {
	case pp.asked <- clean:
	default: // too many at once: they can ask again
	}
	return struct{}{}, nil
}

// Run sends the links that people asked for by mail, until ctx ends.
func (pp *People) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case address := <-pp.asked:
			if err := mailLinks(ctx, pp, address); err != nil && ctx.Err() == nil {
				pp.log.Warn("a link to sign in could not be mailed", "err", err)
			}
		}
	}
}

// mailedLasts is how long a link signs in that a person asked for by mail.
const mailedLasts = 15 * time.Minute

// sameMail is how many people with one address are mailed at most.
const sameMail = 5

// mailLinks mails a link to those who have shown that an address is theirs. It is nobody's who
// only says so: else they could keep links from whose it is, or send them links of their own.
func mailLinks(ctx context.Context, pp *People, address string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	people, err := pp.store.PeopleByMail(ctx, address, sameMail)
	if err != nil {
		return err
	}
	for _, person := range people {
		if !person.Active() {
			continue
		}
		now := pp.now()
		token, hash := newToken()
		err := pp.store.EditPeople(ctx, beacon.Actor{Request: "mail"}, beacon.PeopleSight{Person: person.ID}, func(e *beacon.PeopleEdit) error {
			if e.Person == nil || e.Person.MailProven.IsZero() || beacon.FoldMail(e.Person.Mail) != beacon.FoldMail(address) {
				return errPerson
			}
			e.Write.DropMailed = true // and none that someone else made: anyone can ask
			e.Write.Tickets = []beacon.Ticket{{Hash: hash, Kind: beacon.LinkTicket, Person: person.ID, CreatedBy: person.ID, CreatedAt: now, ExpiresAt: now.Add(mailedLasts)}}
			return nil
		})
		if err != nil {
			return err
		}
		pp.mailer.SendLink(person.Mail, person.Language, token, now.Add(mailedLasts))
	}
	return nil
}
