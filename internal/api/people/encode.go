package people

import (
	"context"
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people"
)

func encodeMe(_ http.Header, m people.Me) edge.Payload { return edge.Payload{Data: ShowPerson(m)} }

// ShowPerson shows a person to themselves and to staff.
func ShowPerson(m people.Me) client.Person {
	shown := client.Person{
		ID: string(m.ID), Name: m.Name, Mail: m.Mail, MailConfirmed: !m.MailProven.IsZero(), Language: m.Language, CreatedAt: m.CreatedAt, SuspendedAt: edge.Maybe(m.SuspendedAt),
		FrozenUntil: edge.Maybe(m.Frozen), FreshUntil: edge.Maybe(m.Fresh), Posts: edge.Texts(m.Posts()), Memberships: []client.Membership{},
		Doors: client.PersonDoors{Passkeys: m.Doors.Passkeys, CodesLeft: m.Doors.Codes, OIDC: m.Doors.OIDC},
	}
	for _, held := range m.Memberships {
		if held.Account != "" {
			shown.Memberships = append(shown.Memberships, client.Membership{
				Account: string(held.Account), AccountName: m.Names[held.Account], Role: string(held.Role), Hotspots: edge.Texts(held.Hotspots), Since: held.Since,
			})
		}
	}
	return shown
}

// sessions shows where a person is signed in, and which of these places asks.
func (a *API) sessions(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	ctx, cancel := context.WithTimeout(r.Context(), a.Patience)
	defer cancel()
	all, err := a.people.MySessions(ctx, p, struct{}{})
	if err != nil {
		return err
	}
	shown := make([]client.Session, len(all))
	for i, s := range all {
		shown[i] = ShowSession(s, p.Signed.Session)
	}
	return a.Write(w, http.StatusOK, edge.Payload{Data: shown})
}

// ShowSession shows a session, and whether it is the current one.
func ShowSession(s beacon.Session, current beacon.SessionID) client.Session {
	return client.Session{ID: string(s.ID), Device: s.Device, Door: string(s.Door), CreatedAt: s.CreatedAt, LastUsedAt: s.LastUsedAt, Current: s.ID == current}
}

func encodePasskeys(_ http.Header, all []beacon.Passkey) edge.Payload {
	shown := make([]client.Passkey, len(all))
	for i, k := range all {
		shown[i] = ShowPasskey(k)
	}
	return edge.Payload{Data: shown}
}

func encodePasskey(_ http.Header, k beacon.Passkey) edge.Payload {
	return edge.Payload{Data: ShowPasskey(k)}
}

// ShowPasskey shows a passkey.
func ShowPasskey(k beacon.Passkey) client.Passkey {
	return client.Passkey{ID: k.ID, Name: k.Name, CreatedAt: k.CreatedAt, LastUsedAt: edge.Maybe(k.LastUsedAt), Synced: k.Synced}
}

func encodeCodes(_ http.Header, codes []string) edge.Payload {
	return edge.Payload{Data: client.RecoveryCodes{Codes: codes}}
}

// encodeMembers shows members to each other, and what all should know of one who lost their
// way in.
func (a *API) encodeMembers(_ http.Header, roster *beacon.Roster) edge.Payload {
	now := a.Now()
	shown := client.Members{Account: string(roster.Account), Name: roster.Name, Items: []client.Member{}}
	for _, m := range roster.Members {
		shown.Items = append(shown.Items, client.Member{
			Person: string(m.Person), Name: m.Name, Role: string(m.Role), Hotspots: edge.Texts(m.Hotspots), Since: m.Since, Suspended: m.Suspended,
			LinkUntil: edge.Maybe(m.Linked(now)), FrozenUntil: edge.Maybe(m.Frozen(now)),
		})
	}
	return edge.Payload{Data: shown}
}

func showInvitation(i people.Invited) client.Invitation {
	return client.Invitation{
		ID: string(i.ID), Role: string(i.Role), Hotspots: edge.Texts(i.Hotspots), Posts: edge.Texts(i.Posts), AccountName: i.Name,
		CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt, InvitedBy: i.By,
	}
}

func encodeInvitations(_ http.Header, all []people.Invited) edge.Payload {
	shown := make([]client.Invitation, len(all))
	for i := range all {
		shown[i] = showInvitation(all[i])
	}
	return edge.Payload{Data: shown}
}

// The pages of the console that links open.
const (
	joinPage  = "join"
	enterPage = "enter"
)

func (a *API) encodeInvited(r *http.Request) func(http.Header, people.Invited) edge.Payload {
	return func(_ http.Header, made people.Invited) edge.Payload {
		return edge.Payload{Data: client.CreatedInvitation{Invitation: showInvitation(made), Link: a.link(r, joinPage, made.Token)}}
	}
}

func (a *API) encodeLink(r *http.Request) func(http.Header, people.Link) edge.Payload {
	return func(_ http.Header, made people.Link) edge.Payload {
		return edge.Payload{Data: client.SignInLink{Link: a.link(r, enterPage, made.Token), ExpiresAt: made.ExpiresAt}}
	}
}

func encodePeople(_ http.Header, list beacon.Listed[beacon.Seated]) edge.Payload {
	return edge.ShowPage(list, edge.PeopleList, func(s beacon.Seated) string { return string(s.ID) }, ShowListed)
}

// ShowListed shows a person in the list of all.
func ShowListed(s beacon.Seated) client.PersonListed {
	shown := client.PersonListed{
		ID: string(s.ID), Name: s.Name, Mail: s.Mail, CreatedAt: s.CreatedAt, SuspendedAt: edge.Maybe(s.SuspendedAt),
		Posts: edge.Texts(s.Posts()), Memberships: []client.ListedSeat{},
	}
	for _, m := range s.Memberships {
		if m.Account != "" {
			shown.Memberships = append(shown.Memberships, client.ListedSeat{Account: string(m.Account), Role: string(m.Role)})
		}
	}
	return shown
}
