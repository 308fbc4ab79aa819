package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	personSQL      = `SELECT ` + personColumns + ` FROM people WHERE id = $1`
	membershipsSQL = `SELECT ` + membershipColumns + ` FROM memberships WHERE person_id = $1 ORDER BY since, user_id`
)

// seatedIn reads a person with all memberships, the oldest first.
func seatedIn(ctx context.Context, from source, id beacon.PersonID) (*beacon.Seated, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // nobody
	}
	p, found, err := first(ctx, from, personRow, personSQL, string(id))
	if err != nil || !found {
		return nil, err
	}
	all, err := list(ctx, from, membershipRow, membershipsSQL, string(id))
	return &beacon.Seated{Person: p, Memberships: all}, err
}

// Person returns a person with all memberships, the oldest first, or nil.
func (db PeopleTable) Person(ctx context.Context, id beacon.PersonID) (*beacon.Seated, error) {
	return seatedIn(ctx, db, id)
}

const (
	rosterSQL = `SELECT person_id, user_id, role, posts, hotspots, since, memberships.seal, name, suspended_at, recovered_at,
		coalesce((SELECT max(expires_at) FROM tickets WHERE tickets.person_id = memberships.person_id AND kind = 'link' AND created_by <> tickets.person_id), 0)
		FROM memberships JOIN people ON people.id = memberships.person_id WHERE user_id = $1 ORDER BY person_id`
	openInvitesSQL = `SELECT ` + inviteColumns + ` FROM invitations WHERE user_id = $1 AND used_at = 0 AND revoked_at = 0 ORDER BY id`
	accountNameSQL = `SELECT name FROM account_names WHERE user_id = $1`
)

func rosterIn(ctx context.Context, from source, account beacon.UserID) (r *beacon.Roster, err error) {
	r = &beacon.Roster{Account: account}
	if _, err = readRow(ctx, from, []any{&r.Name}, accountNameSQL, string(account)); err != nil {
		return nil, err
	}
	if r.Members, err = list(ctx, from, rosterRow, rosterSQL, string(account)); err != nil {
		return nil, err
	}
	r.Invites, err = list(ctx, from, inviteRow, openInvitesSQL, string(account))
	return r, err
}

// Roster returns who the members of an account are, or who has posts if it is empty, and who
// is invited. That of an account that nobody knows is empty.
func (db PeopleTable) Roster(ctx context.Context, account beacon.UserID) (*beacon.Roster, error) {
	return rosterIn(ctx, db, account)
}

const accountNamesSQL = `SELECT user_id, name FROM account_names WHERE user_id IN (…)`

// AccountNames returns the names of some accounts that have one.
func (db PeopleTable) AccountNames(ctx context.Context, ids []beacon.UserID) (map[beacon.UserID]string, error) {
	type named struct {
		id   beacon.UserID
		name string
	}
	all, err := listByID(ctx, db, func(n *named) []any { return []any{(*string)(&n.id), &n.name} }, accountNamesSQL, ids)
	names := map[beacon.UserID]string{}
	for _, one := range all {
		names[one.id] = one.name
	}
	return names, err
}

const personNamesSQL = `SELECT id, name FROM people WHERE erased_at = 0 AND id IN (…)`

// PersonNames returns the names of some people, without those who are erased.
func (db PeopleTable) PersonNames(ctx context.Context, ids []beacon.PersonID) (map[beacon.PersonID]string, error) {
	type named struct {
		id   beacon.PersonID
		name string
	}
	all, err := listByID(ctx, db, func(n *named) []any { return []any{(*string)(&n.id), &n.name} }, personNamesSQL, ids)
	names := map[beacon.PersonID]string{}
	for _, one := range all {
		names[one.id] = one.name
	}
	return names, err
}

const (
	countPeopleSQL = `SELECT count(*) FROM people WHERE erased_at = 0 AND folded LIKE '%' || $1 || '%'`
	peopleSQL      = `SELECT ` + personColumns + ` FROM people
		WHERE erased_at = 0 AND folded LIKE '%' || $1 || '%' AND id > $2 ORDER BY id LIMIT $3 OFFSET $4`
	membershipsOfSQL = `SELECT ` + membershipColumns + ` FROM memberships WHERE person_id IN (…) ORDER BY since, user_id`
)

// People returns a page of the people in whose name or mail address a text is, in the order
// of their ids, and their total number. The text is as FoldName returns it.
func (db PeopleTable) People(ctx context.Context, search string, after beacon.PersonID, offset, limit int) (page []beacon.Seated, total int, err error) {
	search = plainPattern(search)
	if _, err = readRow(ctx, db, []any{&total}, countPeopleSQL, search); err != nil || total <= offset {
		return nil, total, err
	}
	people, err := list(ctx, db, personRow, peopleSQL, search, string(after), int64(max(limit, 0)), int64(max(offset, 0)))
	if err != nil {
		return nil, 0, err
	}
	page = mapped(people, func(p beacon.Person) beacon.Seated { return beacon.Seated{Person: p} })
	ids := mapped(people, func(p beacon.Person) beacon.PersonID { return p.ID })
	all, err := listByID(ctx, db, membershipRow, membershipsOfSQL, ids)
	for _, m := range all {
		i, _ := slices.BinarySearch(ids, m.Person)
		page[i].Memberships = append(page[i].Memberships, m)
	}
	return page, total, err
}

// AnyPerson reports whether there is anyone.
func (db PeopleTable) AnyPerson(ctx context.Context) (bool, error) { return anyPerson(ctx, db) }

func anyPerson(ctx context.Context, from source) (bool, error) {
	return readRow(ctx, from, []any{new(string)}, `SELECT id FROM people ORDER BY id LIMIT 1`)
}

const byMailSQL = `SELECT ` + personColumns + ` FROM people WHERE mail_folded = $1 AND mail_proven <> 0 AND suspended_at = 0 AND erased_at = 0 ORDER BY id DESC LIMIT $2`

// PeopleByMail returns up to limit active people who have shown that a mail address is theirs,
// the newest first.
func (db PeopleTable) PeopleByMail(ctx context.Context, mail string, limit int) ([]beacon.Person, error) {
	return list(ctx, db, personRow, byMailSQL, beacon.FoldMail(mail), int64(limit))
}

const inviteByTokenSQL = `SELECT ` + inviteColumns + ` FROM invitations WHERE token_hash = $1`

// InviteByToken returns the invitation with a token; false if there is none.
func (db PeopleTable) InviteByToken(ctx context.Context, token [sha256.Size]byte) (beacon.Invite, bool, error) {
	return first(ctx, db, inviteRow, inviteByTokenSQL, hex.EncodeToString(token[:]))
}

const ticketSQL = `SELECT ` + ticketColumns + ` FROM tickets WHERE hash = $1`

// Ticket returns a ticket; false if there is none.
func (db PeopleTable) Ticket(ctx context.Context, token [sha256.Size]byte) (beacon.Ticket, bool, error) {
	return first(ctx, db, ticketRow, ticketSQL, hex.EncodeToString(token[:]))
}

// InsertTicket keeps a ticket that is new. It changes nothing of anyone, so it waits for no
// edit of people.
func (db PeopleTable) InsertTicket(ctx context.Context, t beacon.Ticket) error {
	values, err := appendValues(nil, ticketRow(&t))
	if err := errors.Join(err, storableText(t.Data)); err != nil {
		return internal("insert ticket", err)
	}
	return db.exec(ctx, "ticket "+hex.EncodeToString(t.Hash[:]), nil, putTicketSQL, values...)
}

const (
	sessionSQL    = `SELECT ` + sessionColumns + ` FROM sessions WHERE id = $1`
	sessionsOfSQL = `SELECT ` + sessionColumns + ` FROM sessions WHERE person_id = $1 ORDER BY id DESC LIMIT $2`
	passkeySQL    = `SELECT ` + passkeyColumns + ` FROM passkeys WHERE id = $1`
	passkeysOfSQL = `SELECT ` + passkeyColumns + ` FROM passkeys WHERE person_id = $1 ORDER BY created_at, id`
)

// Session returns a session with its person, or nil.
func (db PeopleTable) Session(ctx context.Context, id beacon.SessionID) (*beacon.Session, *beacon.Seated, error) {
	s, found, err := first(ctx, db, sessionRow, sessionSQL, string(id))
	if err != nil || !found {
		return nil, nil, err
	}
	person, err := seatedIn(ctx, db, s.Person)
	if err != nil || person == nil {
		return nil, nil, err
	}
	return &s, person, nil
}

// Sessions returns up to limit sessions of a person, the newest first.
func (db PeopleTable) Sessions(ctx context.Context, person beacon.PersonID, limit int) ([]beacon.Session, error) {
	return list(ctx, db, sessionRow, sessionsOfSQL, string(person), int64(limit))
}

// Passkeys returns the passkeys of a person, the oldest first.
func (db PeopleTable) Passkeys(ctx context.Context, person beacon.PersonID) ([]beacon.Passkey, error) {
	return list(ctx, db, passkeyRow, passkeysOfSQL, string(person))
}

// Passkey returns a passkey; false if there is none.
func (db PeopleTable) Passkey(ctx context.Context, id string) (beacon.Passkey, bool, error) {
	return first(ctx, db, passkeyRow, passkeySQL, id)
}

const doorsSQL = `SELECT (SELECT count(*) FROM passkeys WHERE person_id = $1), (SELECT count(*) FROM tickets WHERE person_id = $1 AND kind = $2),
		(SELECT count(*) FROM tickets WHERE person_id = $1 AND kind = $3), (SELECT count(*) FROM identities WHERE person_id = $1)`

func doorsIn(ctx context.Context, from source, person beacon.PersonID) (d beacon.PersonDoors, err error) {
	_, err = readRow(ctx, from, []any{&d.Passkeys, &d.Codes, &d.NewCodes, flag(&d.OIDC)}, doorsSQL, string(person), string(beacon.CodeTicket), string(beacon.NewCodeTicket))
	return d, err
}

// PersonDoors says by which doors a person can sign in.
func (db PeopleTable) PersonDoors(ctx context.Context, person beacon.PersonID) (beacon.PersonDoors, error) {
	return doorsIn(ctx, db, person)
}

const identitySQL = `SELECT person_id FROM identities WHERE issuer = $1 AND subject = $2`

const touchSessionSQL = `UPDATE sessions SET last_used_at = $2, expires_at = $3 WHERE id = $1 AND last_used_at < $2`

// TouchSessions records when sessions were last used. It never moves a time back, and records
// no change.
func (db PeopleTable) TouchSessions(ctx context.Context, used map[beacon.SessionID]beacon.Use) error {
	times := maps.Clone(used) // the caller may modify its map before this is done
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(times)), touchSize) {
		err := db.commit(ctx, "session "+string(ids[0]), func(tx *transaction) (changes, error) {
			for _, id := range ids {
				if err := tx.write(touchSessionSQL, string(id), micros(times[id].LastUsedAt), micros(times[id].ExpiresAt)); err != nil {
					return nil, err
				}
			}
			return nil, nil //nolint:nilnil // no change
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	peopleOfSQL = `SELECT person_id FROM memberships WHERE user_id = $1
		UNION SELECT person_id FROM left_accounts WHERE user_id = $1
		UNION SELECT created_by FROM api_keys WHERE id = $2 AND created_by <> '' ORDER BY person_id`
	accountsOfSQL = `SELECT user_id FROM memberships WHERE user_id <> '' AND person_id IN (…) ORDER BY user_id`
	leftBySQL     = `SELECT user_id FROM left_accounts WHERE person_id IN (…) ORDER BY user_id`
)

// Behind returns who may be behind a request: a person, or else who made the key and all
// members of its account; and all accounts of these people. Members who left not long ago
// count as if they had not.
func (db PeopleTable) Behind(ctx context.Context, user beacon.UserID, person beacon.PersonID, key beacon.KeyID) (beacon.Behind, error) {
	return behindIn(ctx, db, user, person, key)
}

func behindIn(ctx context.Context, from source, user beacon.UserID, person beacon.PersonID, key beacon.KeyID) (b beacon.Behind, err error) {
	b = beacon.Behind{User: user, Person: person, People: []beacon.PersonID{person}}
	if person == "" {
		if b.People, err = list(ctx, from, label[beacon.PersonID], peopleOfSQL, string(user), string(key)); err != nil {
			return b, err
		}
	}
	for _, text := range []string{accountsOfSQL, leftBySQL} {
		accounts, err := listByID(ctx, from, label[beacon.UserID], text, b.People)
		if err != nil {
			return b, err
		}
		b.Accounts = append(b.Accounts, accounts...)
	}
	if user != "" {
		b.Accounts = append(b.Accounts, user)
	}
	slices.Sort(b.Accounts)
	b.Accounts = slices.Compact(b.Accounts)
	return b, nil
}

var prunePeopleSQL = []string{
	`DELETE FROM tickets WHERE hash IN (SELECT hash FROM tickets WHERE expires_at <= $1 AND expires_at > 0 ORDER BY expires_at LIMIT $2)`,
	`DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`,
}

const pruneLeftSQL = `DELETE FROM left_accounts WHERE user_id || ' ' || person_id IN (SELECT user_id || ' ' || person_id FROM left_accounts WHERE left_at <= $1 ORDER BY left_at LIMIT $2)`

const pruneInvitesSQL = `DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`

// keepInvites is how long invitations are kept after their end.
const keepInvites = 30 * 24 * time.Hour

// PrunePeople deletes tickets and sessions that have expired by now, invitations that did so
// a month ago, and which accounts people left before that.
func (db PeopleTable) PrunePeople(ctx context.Context, now time.Time) error {
	for _, text := range prunePeopleSQL {
		if _, err := db.prune(ctx, "people", text, micros(now)); err != nil {
			return err
		}
	}
	if _, err := db.prune(ctx, "people", pruneLeftSQL, micros(now.Add(-beacon.HoldAtMost))); err != nil {
		return err
	}
	_, err := db.prune(ctx, "people", pruneInvitesSQL, micros(now.Add(-keepInvites)))
	return err
}
