package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

func person(n int) beacon.Person {
	return beacon.Person{
		ID: beacon.PersonID(fmt.Sprintf("per_%02d", n)), Name: fmt.Sprintf("Zoë №%d 100%%", n), Mail: fmt.Sprintf("Zoe%d@Example.org", n), Language: "es",
		CreatedAt: Now, RecoveredAt: Now.Add(time.Minute), MailProven: Now.Add(time.Second),
	}
}

func member(n int, account beacon.UserID, role beacon.Role) beacon.Membership {
	return beacon.Membership{Person: person(n).ID, Account: account, Role: role, Since: Now}
}

// editPeople edits what it has to see, and must succeed.
func editPeople(t testing.TB, db *store.DB, sight beacon.PeopleSight, edit func(e *beacon.PeopleEdit)) {
	t.Helper()
	err := insist(func() error {
		return db.People.EditPeople(t.Context(), Actor, sight, func(e *beacon.PeopleEdit) error { edit(e); return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
}

// people checks that what an edit writes is read, by another node too, and that what edit
// refuses leaves nothing.
func people(t *testing.T, database Database) {
	db, other := database.open(t), database.open(t)
	if must(db.People.AnyPerson(t.Context())) {
		t.Error("there is someone in an empty database")
	}
	one, two := person(1), person(2)
	two.Name, two.Mail = "Ünal", ""
	posts := beacon.Membership{Person: one.ID, Posts: []beacon.Post{beacon.AdminPost, beacon.Auditor}, Since: Now.Add(time.Second)}
	installer := member(2, "usr_a", beacon.Installer)
	installer.Hotspots = []beacon.HotspotID{"hs_1", "hs_2"}
	by := Actor
	by.Key, by.Person, by.Note = "", one.ID, "usr_a owner"
	change := beacon.Change{Kind: beacon.MemberAdded, Target: string(one.ID), Actor: by, At: Now}
	editPeople(t, db, beacon.PeopleSight{Accounts: []beacon.UserID{"usr_a"}}, func(e *beacon.PeopleEdit) {
		equal(t, "the roster of nobody", e.Rosters["usr_a"], &beacon.Roster{Account: "usr_a"})
		e.Write = beacon.PeopleWrites{
			People: []beacon.Person{one, two}, Memberships: []beacon.Membership{posts, member(1, "usr_a", beacon.Owner), installer},
			Names: map[beacon.UserID]string{"usr_a": "Café «A»"}, Changes: []beacon.Change{change},
		}
	})
	change.Node, change.Seq = db.Node(), 1
	equal(t, "the change", must(other.Changes.Changes(t.Context(), db.Node(), 0, 9)), []beacon.Change{change})
	seated := &beacon.Seated{Person: one, Memberships: []beacon.Membership{member(1, "usr_a", beacon.Owner), posts}}
	equal(t, "the person", must(other.People.Person(t.Context(), one.ID)), seated)
	if p := must(other.People.Person(t.Context(), "per_none")); p != nil {
		t.Errorf("Person of none = %v", p)
	}
	roster := &beacon.Roster{Account: "usr_a", Name: "Café «A»", Members: []beacon.Member{{Membership: member(1, "usr_a", beacon.Owner), Name: one.Name, RecoveredAt: one.RecoveredAt}, {Membership: installer, Name: "Ünal", RecoveredAt: two.RecoveredAt}}}
	equal(t, "the roster", must(other.People.Roster(t.Context(), "usr_a")), roster)
	equal(t, "the names", must(db.People.AccountNames(t.Context(), []beacon.UserID{"usr_a", "usr_b"})), map[beacon.UserID]string{"usr_a": "Café «A»"})

	refused := db.People.EditPeople(t.Context(), Actor, beacon.PeopleSight{Actor: one.ID, Person: two.ID, Seats: true}, func(e *beacon.PeopleEdit) error {
		equal(t, "the actor", e.Actor, seated)
		equal(t, "the rosters of the person", e.Rosters, map[beacon.UserID]*beacon.Roster{"usr_a": roster})
		e.Write = beacon.PeopleWrites{Leaving: []beacon.Membership{installer}, Changes: []beacon.Change{{Kind: beacon.MemberRemoved, Actor: Actor, At: Now}}}
		return errVerdict
	})
	if refused != errVerdict { //nolint:errorlint // unchanged
		t.Errorf("EditPeople = %v; want the verdict as it is", refused)
	}
	equal(t, "the roster after an edit that was refused", must(db.People.Roster(t.Context(), "usr_a")), roster)
	spoilt := two
	spoilt.Name = "\x00"
	wantKind(t, "NUL", db.People.EditPeople(t.Context(), Actor, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) error {
		e.Write.People = []beacon.Person{one, spoilt}
		return nil
	}), beacon.Internal)

	three := person(3)
	three.Mail, three.MailProven = "zoe1@example.org", time.Time{}
	editPeople(t, other, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) { e.Write.People = []beacon.Person{three} })
	equal(t, "those who have shown that an address is theirs", must(db.People.PeopleByMail(t.Context(), " ZOE1@example.org", 9)), []beacon.Person{one})
	editPeople(t, other, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) {
		three.Name, three.Mail, three.MailProven, three.ErasedAt = "", "", time.Time{}, Now
		e.Write.People = []beacon.Person{three}
	})
	two.Mail = "zoe1@example.ORG"
	editPeople(t, other, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) { e.Write.People = []beacon.Person{two} })
	equal(t, "those with a mail address", must(db.People.PeopleByMail(t.Context(), " ZOE1@example.org", 9)), []beacon.Person{two, one})
	equal(t, "the newest with it", must(db.People.PeopleByMail(t.Context(), "zoe1@example.org", 1)), []beacon.Person{two})
	two.SuspendedAt = Now.Add(time.Hour)
	editPeople(t, other, beacon.PeopleSight{Person: two.ID}, func(e *beacon.PeopleEdit) {
		e.Write = beacon.PeopleWrites{People: []beacon.Person{two}, Leaving: []beacon.Membership{member(1, "usr_a", "")}}
	})
	equal(t, "those with it who are active", must(db.People.PeopleByMail(t.Context(), " ZOE1@example.org", 9)), []beacon.Person{one})
	equal(t, "the roster after a member left", must(db.People.Roster(t.Context(), "usr_a")).Members, []beacon.Member{{Membership: installer, Name: "Ünal", Suspended: true, RecoveredAt: two.RecoveredAt}})
	for search, want := range map[string]int{"": 2, "zoë №1 100%": 1, "%": 2, "ünal": 1, "zoe1@": 2, "nobody": 0} {
		if _, total, err := db.People.People(t.Context(), search, "", 0, 9); total != want || err != nil {
			t.Errorf("People(%q) = %d, %v; want %d", search, total, err, want)
		}
	}
	page, total, err := db.People.People(t.Context(), "", one.ID, 0, 9)
	equal(t, "people after one", page, []beacon.Seated{{Person: two, Memberships: []beacon.Membership{installer}}})
	if total != 2 || err != nil {
		t.Errorf("People = %d, %v", total, err)
	}
	wantHead(t, db, 1)
}

// behind checks who may be behind a key or a person.
func behind(t *testing.T, database Database) {
	db := database.open(t)
	editPeople(t, db, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) {
		e.Write.People = []beacon.Person{person(1), person(2), person(3)}
		e.Write.Memberships = []beacon.Membership{
			member(1, "usr_a", beacon.Owner), member(2, "usr_a", beacon.Viewer), member(2, "usr_b", beacon.Owner), member(3, "usr_c", beacon.Owner),
			{Person: person(2).ID, Posts: []beacon.Post{beacon.Verifier}, Since: Now},
		}
	})
	for _, tc := range []struct {
		user   beacon.UserID
		person beacon.PersonID
		want   beacon.Behind
	}{
		{"usr_a", "", beacon.Behind{User: "usr_a", People: []beacon.PersonID{"per_01", "per_02"}, Accounts: []beacon.UserID{"usr_a", "usr_b"}}},
		{"usr_z", "", beacon.Behind{User: "usr_z", Accounts: []beacon.UserID{"usr_z"}}},
		{"", "per_03", beacon.Behind{Person: "per_03", People: []beacon.PersonID{"per_03"}, Accounts: []beacon.UserID{"usr_c"}}},
		{"usr_c", "per_02", beacon.Behind{User: "usr_c", Person: "per_02", People: []beacon.PersonID{"per_02"}, Accounts: []beacon.UserID{"usr_a", "usr_b", "usr_c"}}},
	} {
		got := must(db.People.Behind(t.Context(), tc.user, tc.person, ""))
		if len(got.People) == 0 {
			got.People = nil
		}
		equal(t, "who is behind "+string(tc.user)+" "+string(tc.person), got, tc.want)
	}

	// Who made a key is behind it, whatever account it is of, and loses it with their rights.
	made := key("key_made")
	made.User, made.CreatedBy = "usr_new", person(3).ID
	if err := db.Keys.InsertKey(t.Context(), made, Actor, nil); err != nil {
		t.Fatal(err)
	}
	if got := must(db.People.Behind(t.Context(), "usr_new", "", made.ID)); len(got.People) != 1 || got.People[0] != person(3).ID || len(got.Accounts) != 2 {
		t.Errorf("behind a key that a person made: %+v", got)
	}
	editPeople(t, db, beacon.PeopleSight{KeysBy: person(3).ID}, func(e *beacon.PeopleEdit) {
		if len(e.Keys) != 1 || e.Keys[0].ID != made.ID {
			t.Errorf("keys of who made one: %+v", e.Keys)
		}
		e.Write.RevokeKeys, e.Write.RevokedAt = []beacon.KeyID{made.ID}, Now
		e.Write.Changes = []beacon.Change{{Kind: beacon.KeyRevoked, Target: string(made.ID), Actor: Actor, At: Now}}
	})
	if k := must(db.Keys.Key(t.Context(), made.ID)); !k.RevokedAt.Equal(Now) || k.CreatedBy != person(3).ID {
		t.Errorf("the key is %+v", k)
	}

	// Who has left an account is behind its keys for a while, and it is one of theirs.
	editPeople(t, db, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) {
		e.Write.Leaving = []beacon.Membership{member(2, "usr_a", beacon.Viewer)}
		e.Write.Changes = []beacon.Change{{Kind: beacon.MemberRemoved, Target: string(person(2).ID), Actor: Actor, At: Now}}
	})
	for _, tc := range []struct {
		now                time.Time
		ofAccount, ofOther int
	}{{Now.Add(beacon.HoldAtMost - time.Second), 2, 2}, {Now.Add(beacon.HoldAtMost), 1, 1}} {
		if err := db.People.PrunePeople(t.Context(), tc.now); err != nil {
			t.Fatal(err)
		}
		key := must(db.People.Behind(t.Context(), "usr_a", "", ""))
		left := must(db.People.Behind(t.Context(), "", person(2).ID, ""))
		if len(key.People) != tc.ofAccount || len(left.Accounts) != tc.ofOther {
			t.Errorf("at %v: behind the key %v, accounts of who left %v; want %d and %d", tc.now, key.People, left.Accounts, tc.ofAccount, tc.ofOther)
		}
	}
}

// peopleInvites checks that an invitation is listed while it is open, and found by its token.
func peopleInvites(t *testing.T, database Database) {
	db := database.open(t)
	invite := beacon.Invite{
		ID: "inv_1", Hash: [32]byte{1, 31: 2}, Account: "usr_a", Name: "new", Role: beacon.Installer, Posts: []beacon.Post{beacon.Auditor}, Hotspots: []beacon.HotspotID{"hs_1"},
		CreatedAt: Now, CreatedBy: "per_01", ExpiresAt: Now.Add(time.Hour),
	}
	second := beacon.Invite{ID: "inv_2", Hash: [32]byte{2}, Account: "usr_a", Role: beacon.Viewer, CreatedAt: Now, Key: "key_1", ExpiresAt: Now.Add(2 * time.Hour)}
	editPeople(t, db, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) { e.Write.Invites = []beacon.Invite{invite, second} })
	equal(t, "by its token", must2(db.People.InviteByToken(t.Context(), invite.Hash)), invite)
	if _, found, err := db.People.InviteByToken(t.Context(), [32]byte{9}); found || err != nil {
		t.Errorf("InviteByToken of none = %v, %v", found, err)
	}
	equal(t, "open ones", must(db.People.Roster(t.Context(), "usr_a")).Invites, []beacon.Invite{invite, second})
	editPeople(t, db, beacon.PeopleSight{Invite: invite.ID}, func(e *beacon.PeopleEdit) {
		equal(t, "the one that is seen", *e.Invite, invite)
		equal(t, "beside the roster", len(e.Rosters["usr_a"].Invites), 2)
		e.Invite.UsedAt, e.Invite.UsedBy = Now.Add(time.Minute), "per_02"
		invite = *e.Invite
		e.Write.Invites = []beacon.Invite{invite}
	})
	equal(t, "one that was used", must2(db.People.InviteByToken(t.Context(), invite.Hash)), invite)
	equal(t, "open ones without it", must(db.People.Roster(t.Context(), "usr_a")).Invites, []beacon.Invite{second})
	prune(t, db, Now.Add(time.Hour+30*24*time.Hour))
	if _, found, _ := db.People.InviteByToken(t.Context(), invite.Hash); found {
		t.Error("an invitation outlived a month after its end")
	}
	equal(t, "the other", must2(db.People.InviteByToken(t.Context(), second.Hash)), second)
}

func prune(t testing.TB, db *store.DB, now time.Time) {
	t.Helper()
	if err := insist(func() error { return db.People.PrunePeople(t.Context(), now) }); err != nil {
		t.Fatal(err)
	}
}

func session(id beacon.SessionID) beacon.Session {
	return beacon.Session{
		ID: id, Person: person(1).ID, SecretHash: [32]byte{7, 0, 31: 255}, Device: "Firefox, Linux", Door: beacon.ByLink,
		CreatedAt: Now, LastUsedAt: Now, ExpiresAt: Now.Add(time.Hour), FreshUntil: Now.Add(time.Minute),
	}
}

// peopleSessions checks that sessions are read with their person, touched, and ended.
func peopleSessions(t *testing.T, database Database) {
	db := database.open(t)
	all := []beacon.Session{session("ses_1"), session("ses_2"), session("ses_3")}
	editPeople(t, db, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) {
		e.Write.People, e.Write.Memberships, e.Write.Sessions = []beacon.Person{person(1)}, []beacon.Membership{member(1, "usr_a", beacon.Owner)}, all
	})
	wantSession := func(want beacon.Session) {
		t.Helper()
		got, who, err := db.People.Session(t.Context(), want.ID)
		if err != nil || got == nil {
			t.Fatalf("Session = %v, %v", got, err)
		}
		equal(t, "the session", *got, want)
		equal(t, "its person", who, &beacon.Seated{Person: person(1), Memberships: []beacon.Membership{member(1, "usr_a", beacon.Owner)}})
	}
	wantSession(all[0])
	if s, p, err := db.People.Session(t.Context(), "ses_none"); s != nil || p != nil || err != nil {
		t.Errorf("Session of none = %v, %v, %v", s, p, err)
	}
	touch := func(at time.Time) {
		t.Helper()
		if err := db.People.TouchSessions(t.Context(), map[beacon.SessionID]beacon.Use{"ses_1": {LastUsedAt: at, ExpiresAt: at.Add(time.Hour)}, "ses_none": {}}); err != nil {
			t.Fatal(err)
		}
	}
	touch(Now.Add(time.Minute))
	touch(Now) // times never move back
	all[0].LastUsedAt, all[0].ExpiresAt = Now.Add(time.Minute), Now.Add(time.Minute+time.Hour)
	editPeople(t, db, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) {
		e.Write.Fresh = &beacon.FreshSession{ID: "ses_1", Until: Now.Add(5 * time.Minute)}
	})
	all[0].FreshUntil = Now.Add(5 * time.Minute)
	wantSession(all[0])
	ids := func() (ids []beacon.SessionID) {
		for _, s := range must(db.People.Sessions(t.Context(), person(1).ID, 9)) {
			ids = append(ids, s.ID)
		}
		return ids
	}
	end := func(end beacon.EndSessions) {
		t.Helper()
		editPeople(t, db, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) { e.Write.End = &end })
	}
	end(beacon.EndSessions{Person: "per_other", One: "ses_2"})
	end(beacon.EndSessions{Person: "per_other"})
	equal(t, "sessions, after those of another were ended", ids(), []beacon.SessionID{"ses_3", "ses_2", "ses_1"})
	end(beacon.EndSessions{Person: person(1).ID, One: "ses_2"})
	equal(t, "sessions without one", ids(), []beacon.SessionID{"ses_3", "ses_1"})
	prune(t, db, Now.Add(time.Hour))
	equal(t, "sessions that have not expired", ids(), []beacon.SessionID{"ses_1"})
	editPeople(t, db, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) { e.Write.Sessions = []beacon.Session{session("ses_4")} })
	end(beacon.EndSessions{Person: person(1).ID, Spare: "ses_4"})
	equal(t, "sessions but for one", ids(), []beacon.SessionID{"ses_4"})
	end(beacon.EndSessions{Person: person(1).ID})
	equal(t, "no sessions", len(ids()), 0)
}

// peopleDoors checks tickets, passkeys and identities.
func peopleDoors(t *testing.T, database Database) {
	db := database.open(t)
	ticket := func(n byte, kind beacon.TicketKind, of int, until time.Time) beacon.Ticket {
		return beacon.Ticket{Hash: [32]byte{n}, Kind: kind, Person: person(of).ID, Data: fmt.Sprint("data ", n), CreatedBy: "per_02", CreatedAt: Now, ExpiresAt: until}
	}
	link, code, old := ticket(1, beacon.LinkTicket, 1, Now.Add(time.Hour)), ticket(2, beacon.NewCodeTicket, 1, Now.Add(time.Hour)), ticket(3, beacon.CodeTicket, 1, time.Time{})
	foreign := ticket(4, beacon.NewCodeTicket, 2, time.Time{})
	key := beacon.Passkey{ID: "cred", Person: person(1).ID, Name: "phone", Data: "{}", Synced: true, CreatedAt: Now, LastUsedAt: Now.Add(time.Second)}
	id := beacon.OIDCIdentity{Issuer: "https://id.example", Subject: "x", Person: person(1).ID}
	editPeople(t, db, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) {
		e.Write.People, e.Write.Tickets = []beacon.Person{person(1), person(2)}, []beacon.Ticket{link, code, old, foreign}
		e.Write.Passkeys, e.Write.Identities = []beacon.Passkey{key}, []beacon.OIDCIdentity{id}
	})
	equal(t, "a ticket", must2(db.People.Ticket(t.Context(), link.Hash)), link)
	equal(t, "the doors", must(db.People.PersonDoors(t.Context(), person(1).ID)), beacon.PersonDoors{Passkeys: 1, Codes: 1, NewCodes: 1, OIDC: true})
	editPeople(t, db, beacon.PeopleSight{Identity: &beacon.OIDCIdentity{Issuer: id.Issuer, Subject: "x"}, Passkeys: true}, func(e *beacon.PeopleEdit) {
		equal(t, "the person of an identity", e.Person.Person, person(1))
		equal(t, "with passkeys", e.Passkeys, []beacon.Passkey{key})
		equal(t, "who has it", e.Holder, person(1).ID)
		key.Name, key.Synced, key.Data = "old phone", false, "[]"
		stolen := key
		stolen.Person, stolen.Name = person(2).ID, "stolen"
		e.Write.Passkeys, e.Write.NewInForce = []beacon.Passkey{key, stolen}, true
	})
	equal(t, "the passkeys", must(db.People.Passkeys(t.Context(), person(1).ID)), []beacon.Passkey{key})
	if _, found, _ := db.People.Ticket(t.Context(), old.Hash); found {
		t.Error("an earlier code is still in force")
	}
	code.Kind, code.ExpiresAt = beacon.CodeTicket, time.Time{}
	equal(t, "the code that is in force now", must2(db.People.Ticket(t.Context(), code.Hash)), code)
	equal(t, "the code of another", must2(db.People.Ticket(t.Context(), foreign.Hash)), foreign)
	equal(t, "a passkey", must2(db.People.Passkey(t.Context(), "cred")), key)
	editPeople(t, db, beacon.PeopleSight{Passkey: "cred"}, func(e *beacon.PeopleEdit) {
		equal(t, "a passkey seen", *e.Passkey, key)
		equal(t, "the person of a passkey", e.Person.Person, person(1))
	})
	editPeople(t, db, beacon.PeopleSight{Person: person(2).ID, Passkey: "cred", Identity: &id}, func(e *beacon.PeopleEdit) {
		equal(t, "the passkey of another", e.Passkey.Person, person(1).ID)
		equal(t, "who has the identity", e.Holder, person(1).ID)
		equal(t, "who was asked for", e.Person.ID, person(2).ID)
	})
	use := func() (seen bool) {
		t.Helper()
		editPeople(t, db, beacon.PeopleSight{Ticket: &link.Hash}, func(e *beacon.PeopleEdit) {
			if seen = e.Ticket != nil; seen {
				equal(t, "the ticket", *e.Ticket, link)
				equal(t, "its person", e.Person.ID, person(1).ID)
			}
			e.Write.UseTicket = seen
		})
		return seen
	}
	if first, second := use(), use(); !first || second {
		t.Errorf("a ticket was seen %t, and %t after its use", first, second)
	}
	prune(t, db, Now.AddDate(9, 0, 0))
	equal(t, "a code, which has no end", must2(db.People.Ticket(t.Context(), code.Hash)), code)
	editPeople(t, db, beacon.PeopleSight{Person: person(1).ID}, func(e *beacon.PeopleEdit) {
		equal(t, "the doors seen", e.Doors, beacon.PersonDoors{Passkeys: 1, Codes: 1, OIDC: true})
		e.Write.DropPasskey, e.Write.DropTickets = "cred", []beacon.TicketKind{beacon.CodeTicket}
	})
	equal(t, "the doors left", must(db.People.PersonDoors(t.Context(), person(1).ID)), beacon.PersonDoors{OIDC: true})
	editPeople(t, db, beacon.PeopleSight{Person: person(1).ID}, func(e *beacon.PeopleEdit) {
		e.Write.DropDoors = true
	})
	equal(t, "no doors", must(db.People.PersonDoors(t.Context(), person(1).ID)), beacon.PersonDoors{})
	equal(t, "the doors of another", must(db.People.PersonDoors(t.Context(), person(2).ID)), beacon.PersonDoors{NewCodes: 1})
}

// peopleRace: of many who leave an account at once, on two nodes, one owner stays, and of many
// admins one; of two who leave at once, one; and of many who use one invitation or one ticket,
// one is let in.
func peopleRace(t *testing.T, database Database) {
	nodes := []*store.DB{database.open(t), database.open(t)}
	const racers = 8
	invite := beacon.Invite{ID: "inv_1", Hash: [32]byte{1}, Account: "usr_b", Role: beacon.Owner, CreatedAt: Now, ExpiresAt: Now.Add(time.Hour)}
	editPeople(t, nodes[0], beacon.PeopleSight{}, func(e *beacon.PeopleEdit) {
		e.Write.Invites = []beacon.Invite{invite}
		e.Write.Tickets = []beacon.Ticket{{Hash: [32]byte{2}, Kind: beacon.LinkTicket, Person: person(0).ID, CreatedAt: Now}}
		for n := range racers {
			e.Write.People = append(e.Write.People, person(n))
			e.Write.Memberships = append(e.Write.Memberships, member(n, "usr_a", beacon.Owner), admin(n))
		}
		e.Write.Memberships = append(e.Write.Memberships, member(0, "usr_two", beacon.Owner), member(1, "usr_two", beacon.Owner), member(2, "usr_two", beacon.Viewer))
	})
	race := func(sight beacon.PeopleSight, edit func(n int, e *beacon.PeopleEdit) error) (done int64) {
		t.Helper()
		var all sync.WaitGroup
		var count atomic.Int64
		for n := range racers {
			all.Go(func() {
				err := insist(func() error {
					return nodes[n%2].People.EditPeople(context.WithoutCancel(t.Context()), Actor, sight, func(e *beacon.PeopleEdit) error { return edit(n, e) })
				})
				if err == nil {
					count.Add(1)
				} else if err != errVerdict { //nolint:errorlint // unchanged
					t.Error(err)
				}
			})
		}
		all.Wait()
		return count.Load()
	}
	leave := func(account beacon.UserID, who ...int) (left int64) {
		t.Helper()
		return race(beacon.PeopleSight{Accounts: []beacon.UserID{account}}, func(n int, e *beacon.PeopleEdit) error {
			leaver := person(who[n%len(who)]).ID
			seat := e.Rosters[account].Of(leaver)
			if seat == nil || !e.Rosters[account].Leads(leaver) {
				return errVerdict
			}
			e.Write.Leaving = []beacon.Membership{seat.Membership}
			return nil
		})
	}
	for account, who := range map[beacon.UserID][]int{"usr_a": {0, 1, 2, 3, 4, 5, 6, 7}, "": {0, 1, 2, 3, 4, 5, 6, 7}, "usr_two": {0, 1}} {
		left, roster := leave(account, who...), must(nodes[0].People.Roster(t.Context(), account))
		if left != int64(len(who)-1) || !roster.Leads("") || roster.Leads(leaderOf(roster)) {
			t.Errorf("%d of %d who lead %q left; there are %v", left, len(who), account, roster.Members)
		}
	}
	used := race(beacon.PeopleSight{Ticket: &[32]byte{2}}, func(_ int, e *beacon.PeopleEdit) error {
		if e.Ticket == nil {
			return errVerdict
		}
		e.Write.UseTicket = true
		return nil
	})
	if used != 1 {
		t.Errorf("%d used one ticket", used)
	}
	joined := race(beacon.PeopleSight{InviteToken: &invite.Hash}, func(n int, e *beacon.PeopleEdit) error {
		if !e.Invite.Pending(Now) {
			return errVerdict
		}
		e.Invite.UsedAt, e.Invite.UsedBy = Now, person(n).ID
		e.Write.Invites, e.Write.Memberships = []beacon.Invite{*e.Invite}, []beacon.Membership{member(n, "usr_b", beacon.Owner)}
		return nil
	})
	if members := must(nodes[1].People.Roster(t.Context(), "usr_b")).Members; joined != 1 || len(members) != 1 {
		t.Errorf("%d joined with one invitation: %v", joined, members)
	}
}

func admin(n int) beacon.Membership {
	return beacon.Membership{Person: person(n).ID, Posts: []beacon.Post{beacon.AdminPost}, Since: Now}
}

// leaderOf returns the first who leads.
func leaderOf(r *beacon.Roster) beacon.PersonID {
	for i := range r.Members {
		if r.Members[i].Leads() {
			return r.Members[i].Person
		}
	}
	return ""
}
