package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// lockPeopleSQL locks the row of the network, so that of two transactions that change who may
// do what, on any servers, one waits for the other. What such a transaction reads afterwards
// stays as it is until its end: rules like "an account keeps an owner" span people and
// accounts. It is the only thing that a refused edit leaves, and says nothing.
const lockPeopleSQL = `INSERT INTO account_names (user_id, name) VALUES ('', '') ON CONFLICT (user_id) DO UPDATE SET name = account_names.name`

// EditPeople calls edit with what it has to see, and writes what it wants. Edit may run more
// than once, each time with what is then current, and never after EditPeople returns. If it
// returns an error, nothing is written, and the error is returned unchanged. If it uses the
// invitation to create the first key, and there is a key or another used it at the same time,
// nothing is written either: that is a Conflict. If the actor has a Once, edit sets its result
// (see doOnce).
func (db PeopleTable) EditPeople(ctx context.Context, by beacon.Actor, sight beacon.PeopleSight, edit func(*beacon.PeopleEdit) error) error {
	op := &operation{order: "people"}
	op.run = func(tx *transaction) (changes, error) {
		if err := tx.write(lockPeopleSQL); err != nil {
			return nil, err
		}
		seen, err := seePeople(tx, sight)
		if err != nil {
			return nil, err
		}
		if err := op.asCaller(tx, func() error { return edit(seen) }); err != nil {
			return nil, err
		}
		if err := storablePeople(&seen.Write); err != nil {
			return nil, internal("edit people", err)
		}
		if seen.Write.UseFirstKey {
			if err := useInvitation(tx, seen.FirstKey); err != nil {
				return nil, err
			}
		}
		w := peopleWriter{tx: tx, seen: seen}
		w.people()
		w.doors()
		made := make(changes, len(seen.Write.Changes))
		for i := range made {
			made[i] = &seen.Write.Changes[i]
		}
		return made, tx.failed
	}
	return db.doOnce(ctx, op, by)
}

// seePeople reads what an edit has to see.
func seePeople(tx *transaction, sight beacon.PeopleSight) (e *beacon.PeopleEdit, err error) {
	e = &beacon.PeopleEdit{Rosters: map[beacon.UserID]*beacon.Roster{}}
	accounts, person := slices.Clone(sight.Accounts), sight.Person
	for _, see := range []func() error{
		func() error {
			invite, found, err := inviteIn(tx, sight)
			if found {
				e.Invite, accounts, sight.Key = &invite, append(accounts, invite.Account), cmp.Or(sight.Key, invite.Key)
			}
			return err
		},
		func() error {
			if sight.Ticket == nil {
				return nil
			}
			t, found, err := first(tx.ctx, tx, ticketRow, ticketSQL, hex.EncodeToString(sight.Ticket[:]))
			if found {
				e.Ticket, person, sight.Actor = &t, cmp.Or(person, t.Person), cmp.Or(sight.Actor, t.CreatedBy)
			}
			return err
		},
		func() error {
			if sight.Identity == nil {
				return nil
			}
			_, err := tx.row([]any{(*string)(&e.Holder)}, identitySQL, sight.Identity.Issuer, sight.Identity.Subject)
			person = cmp.Or(person, e.Holder)
			return err
		},
		func() error {
			if sight.Passkey == "" {
				return nil
			}
			k, found, err := first(tx.ctx, tx, passkeyRow, passkeySQL, sight.Passkey)
			if found {
				e.Passkey, person = &k, cmp.Or(person, k.Person)
			}
			return err
		},
		func() (err error) { e.Actor, err = seatedIn(tx.ctx, tx, sight.Actor); return err },
		func() (err error) { e.Person, err = seatedIn(tx.ctx, tx, person); return err },
		func() (err error) {
			if person != "" {
				e.Doors, err = doorsIn(tx.ctx, tx, person)
			}
			return err
		},
		func() (err error) {
			if person != "" && sight.Passkeys {
				e.Passkeys, err = list(tx.ctx, tx, passkeyRow, passkeysOfSQL, string(person))
			}
			return err
		},
		func() (err error) {
			if sight.KeysBy != "" {
				e.Keys, err = list(tx.ctx, tx, keyRow, keysBySQL, string(sight.KeysBy))
			}
			return err
		},
		func() error {
			if sight.Key == "" {
				return nil
			}
			k, found, err := first(tx.ctx, tx, keyRow, keySQL, string(sight.Key))
			if found {
				e.Key = &k
			}
			return err
		},
		func() (err error) {
			if sight.FirstKey {
				if e.FirstKey, err = invitationIn(tx.ctx, tx); err == nil {
					e.Any, err = anyPerson(tx.ctx, tx)
				}
			}
			return err
		},
	} {
		if err := see(); err != nil {
			return nil, err
		}
	}
	if sight.Seats && e.Person != nil {
		for _, m := range e.Person.Memberships {
			accounts = append(accounts, m.Account)
		}
		if e.Given, err = list(tx.ctx, tx, inviteRow, givenInvitesSQL, string(person)); err != nil {
			return nil, err
		}
	}
	for _, account := range accounts {
		if e.Rosters[account], err = rosterIn(tx.ctx, tx, account); err != nil {
			return nil, err
		}
	}
	return e, nil
}

const givenInvitesSQL = `SELECT ` + inviteColumns + ` FROM invitations WHERE created_by = $1 AND used_at = 0 AND revoked_at = 0 ORDER BY id`

const keysBySQL = `SELECT ` + keyColumns + ` FROM api_keys WHERE created_by = $1 AND revoked_at = 0 ORDER BY id`

const inviteSQL = `SELECT ` + inviteColumns + ` FROM invitations WHERE id = $1`

func inviteIn(tx *transaction, sight beacon.PeopleSight) (beacon.Invite, bool, error) {
	switch {
	case sight.Invite != "":
		return first(tx.ctx, tx, inviteRow, inviteSQL, string(sight.Invite))
	case sight.InviteToken != nil:
		return first(tx.ctx, tx, inviteRow, inviteByTokenSQL, hex.EncodeToString(sight.InviteToken[:]))
	}
	return beacon.Invite{}, false, nil
}

// peopleWriter writes what an edit wants. The first failure sticks to the transaction.
type peopleWriter struct {
	tx   *transaction
	seen *beacon.PeopleEdit
}

const (
	putPersonSQL = `INSERT INTO people (` + personColumns + `) VALUES (…) ON CONFLICT (id) DO UPDATE SET name = excluded.name, mail = excluded.mail,
		mail_folded = excluded.mail_folded, mail_proven = excluded.mail_proven, folded = excluded.folded, language = excluded.language, suspended_at = excluded.suspended_at,
		recovered_at = excluded.recovered_at, erased_at = excluded.erased_at, seal = excluded.seal`
	putMembershipSQL = `INSERT INTO memberships (` + membershipColumns + `) VALUES (…) ON CONFLICT (person_id, user_id) DO UPDATE SET
		role = excluded.role, posts = excluded.posts, hotspots = excluded.hotspots, since = excluded.since, seal = excluded.seal`
	putInviteSQL = `INSERT INTO invitations (` + inviteColumns + `) VALUES (…) ON CONFLICT (id) DO UPDATE SET
		used_at = excluded.used_at, used_by = excluded.used_by, revoked_at = excluded.revoked_at, seal = excluded.seal`
	putLeftSQL = `INSERT INTO left_accounts (person_id, user_id, left_at) VALUES ($1, $2, $3)
		ON CONFLICT (person_id, user_id) DO UPDATE SET left_at = excluded.left_at`
	putAccountNameSQL = `INSERT INTO account_names (user_id, name) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE SET name = excluded.name`
)

// people writes who there is, and who may do what.
func (w *peopleWriter) people() {
	want := &w.seen.Write
	for i := range want.People {
		w.put(putPersonSQL, personRow(&want.People[i]))
	}
	for _, m := range want.Leaving {
		w.exec(`DELETE FROM memberships WHERE person_id = $1 AND user_id = $2`, string(m.Person), string(m.Account))
		if m.Account != "" && len(want.Changes) > 0 {
			w.exec(putLeftSQL, string(m.Person), string(m.Account), micros(want.Changes[0].At))
		}
	}
	for i := range want.Memberships {
		w.put(putMembershipSQL, membershipRow(&want.Memberships[i]))
	}
	for i := range want.Invites {
		w.put(putInviteSQL, inviteRow(&want.Invites[i]))
	}
	for _, account := range slices.Sorted(maps.Keys(want.Names)) {
		w.exec(putAccountNameSQL, string(account), want.Names[account])
	}
	for _, id := range want.RevokeKeys {
		w.exec(revokeKeySQL, string(id), micros(want.RevokedAt))
	}
}

const (
	putSessionSQL  = `INSERT INTO sessions (` + sessionColumns + `) VALUES (…)`
	putTicketSQL   = `INSERT INTO tickets (` + ticketColumns + `) VALUES (…)`
	putIdentitySQL = `INSERT INTO identities (issuer, subject, person_id) VALUES ($1, $2, $3)`
	putPasskeySQL  = `INSERT INTO passkeys (` + passkeyColumns + `) VALUES (…) ON CONFLICT (id) DO UPDATE SET
		name = excluded.name, data = excluded.data, synced = excluded.synced, last_used_at = excluded.last_used_at
		WHERE passkeys.person_id = excluded.person_id`
	dropTicketsSQL = `DELETE FROM tickets WHERE person_id = $1 AND kind = $2`
)

// doors writes by what people sign in, and where they are.
func (w *peopleWriter) doors() {
	want, person := &w.seen.Write, ""
	if w.seen.Person != nil {
		person = string(w.seen.Person.ID)
	}
	if want.UseTicket {
		w.exec(`DELETE FROM tickets WHERE hash = $1`, hex.EncodeToString(w.seen.Ticket.Hash[:]))
	}
	if want.DropDoors {
		for _, text := range []string{`DELETE FROM tickets WHERE person_id = $1`, `DELETE FROM passkeys WHERE person_id = $1`, `DELETE FROM identities WHERE person_id = $1`} {
			w.exec(text, person)
		}
	}
	if want.DropOIDC {
		w.exec(`DELETE FROM identities WHERE person_id = $1`, person)
	}
	for _, kind := range want.DropTickets {
		w.exec(dropTicketsSQL, person, string(kind))
	}
	if want.DropMade != "" {
		w.exec(`DELETE FROM tickets WHERE created_by = $1 AND person_id <> $1 AND kind = $2`, string(want.DropMade), string(beacon.LinkTicket))
	}
	if want.DropMailed {
		w.exec(`DELETE FROM tickets WHERE person_id = $1 AND created_by = $1 AND kind = $2`, person, string(beacon.LinkTicket))
	}
	if want.NewInForce {
		w.exec(dropTicketsSQL, person, string(beacon.CodeTicket))
		w.exec(`UPDATE tickets SET kind = $3, expires_at = 0 WHERE person_id = $1 AND kind = $2`, person, string(beacon.NewCodeTicket), string(beacon.CodeTicket))
	}
	if want.DropPasskey != "" {
		w.exec(`DELETE FROM passkeys WHERE person_id = $1 AND id = $2`, person, want.DropPasskey)
	}
	for i := range want.Passkeys {
		w.put(putPasskeySQL, passkeyRow(&want.Passkeys[i]))
	}
	for i := range want.Tickets {
		w.put(putTicketSQL, ticketRow(&want.Tickets[i]))
	}
	for _, i := range want.Identities {
		w.exec(putIdentitySQL, i.Issuer, i.Subject, string(i.Person))
	}
	w.sessions()
}

// keepSessions is how many sessions of a person are kept: the oldest go.
const keepSessions = 50

const oldSessionsSQL = `DELETE FROM sessions WHERE person_id = $1 AND id <> $2 AND id NOT IN (SELECT id FROM sessions WHERE person_id = $1 ORDER BY id DESC LIMIT $3)`

func (w *peopleWriter) sessions() {
	want := &w.seen.Write
	if end := want.End; end != nil {
		if end.One != "" {
			w.exec(`DELETE FROM sessions WHERE person_id = $1 AND id = $2`, string(end.Person), string(end.One))
		} else {
			w.exec(`DELETE FROM sessions WHERE person_id = $1 AND id <> $2`, string(end.Person), string(end.Spare))
		}
	}
	if fresh := want.Fresh; fresh != nil {
		w.exec(`UPDATE sessions SET fresh_until = $2 WHERE id = $1`, string(fresh.ID), micros(fresh.Until))
	}
	for i := range want.Sessions {
		w.put(putSessionSQL, sessionRow(&want.Sessions[i]))
		w.exec(oldSessionsSQL, string(want.Sessions[i].Person), string(want.Sessions[i].ID), int64(keepSessions))
	}
}

func (w *peopleWriter) exec(text string, args ...any) {
	_ = w.tx.write(text, args...) // it sticks
}

func (w *peopleWriter) put(text string, fields []any) {
	values, err := appendValues(nil, fields)
	if err != nil {
		w.tx.failed = cmp.Or(w.tx.failed, err)
		return
	}
	w.exec(text, values...)
}

// storablePeople rejects texts that databases handle differently, before anything is written.
func storablePeople(w *beacon.PeopleWrites) error {
	var texts []string
	for i := range w.People {
		texts = append(texts, w.People[i].Name, w.People[i].Mail, w.People[i].Language)
	}
	for i := range w.Invites {
		texts = append(texts, w.Invites[i].Name)
	}
	for i := range w.Sessions {
		texts = append(texts, w.Sessions[i].Device)
	}
	for i := range w.Passkeys {
		texts = append(texts, w.Passkeys[i].ID, w.Passkeys[i].Name, w.Passkeys[i].Data)
	}
	for i := range w.Tickets {
		texts = append(texts, w.Tickets[i].Data)
	}
	for _, i := range w.Identities {
		texts = append(texts, i.Issuer, i.Subject)
	}
	return storableText(slices.AppendSeq(texts, maps.Values(w.Names))...)
}
