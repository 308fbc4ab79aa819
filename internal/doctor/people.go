package doctor

import (
	"errors"
	"fmt"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/store"
)

// people checks who there is and what they may do: no membership is of nobody or in nothing, no
// invitation is to nothing, and an account with members has an owner, who may be suspended.
func people(run *checkRun) error {
	known, members, owned := map[beacon.PersonID]bool{}, map[beacon.UserID]bool{}, map[beacon.UserID]bool{}
	err := run.snapshot(func(s store.Snapshot) error {
		err := s.EachPerson(run.ctx, func(p beacon.Person, bad error) error {
			run.row()
			known[p.ID] = p.ErasedAt.IsZero()
			switch {
			case bad != nil:
				run.wrong(string(p.ID), "%v", bad)
			case !id.Valid(beacon.PersonPrefix, string(p.ID)):
				run.wrong(fmt.Sprintf("%.60q", p.ID), "is not a person id")
			}
			return nil
		})
		if err != nil {
			return err
		}
		memberships := s.EachMembership(run.ctx, func(m beacon.Membership, bad error) error {
			run.row()
			members[m.Account] = true
			owned[m.Account] = owned[m.Account] || m.Role == beacon.Owner
			run.membership(m, known[m.Person], bad)
			return nil
		})
		invites := s.EachInvite(run.ctx, func(i beacon.Invite, bad error) error {
			run.row()
			run.invite(i, bad)
			return nil
		})
		return errors.Join(memberships, invites)
	})
	for account := range members {
		if account != "" && !owned[account] {
			run.wrong(string(account), "has members, and none of them is an owner")
		}
	}
	delete(members, "")
	run.lookedAt("%d people, members of %d accounts", len(known), len(members))
	return err
}

// membership checks one row, whose person there is or not.
func (run *checkRun) membership(m beacon.Membership, known bool, bad error) {
	switch damaged := errors.Is(bad, store.ErrSeal); {
	case bad != nil && !damaged:
		run.wrong(string(m.Person), "has a membership that cannot be read: %v", bad)
	case !known:
		run.wrong(string(m.Person), "is a member of %.60q, and there is no such person", m.Account)
	case m.Account == "" && (len(m.Posts) == 0 || m.Role != "") || m.Account != "" && !seat(m.Account, m.Role, m.Posts):
		run.wrong(string(m.Person), "is a member of %.60q as %.60q %q, which is no account or no role", m.Account, m.Role, m.Posts)
	case damaged:
		run.wrong(string(m.Person), "has a membership of %.60q: %v", m.Account, bad)
	}
}

// seat reports whether there can be a role, without posts, in such an account.
func seat(account beacon.UserID, role beacon.Role, posts []beacon.Post) bool {
	return id.Valid(beacon.UserPrefix, string(account)) && slices.Contains(beacon.Roles(), role) && len(posts) == 0
}

// invite checks one row. An invitation of the network is to posts, or to own a new account.
func (run *checkRun) invite(i beacon.Invite, bad error) {
	switch damaged := errors.Is(bad, store.ErrSeal); {
	case bad != nil && !damaged:
		run.wrong(string(i.ID), "cannot be read: %v", bad)
	case !id.Valid(beacon.InvitePrefix, string(i.ID)):
		run.wrong(fmt.Sprintf("%.60q", i.ID), "is not the id of an invitation")
	case i.Account == "" && (len(i.Posts) == 0) != (i.Role == beacon.Owner) || i.Account != "" && !seat(i.Account, i.Role, i.Posts):
		run.wrong(string(i.ID), "invites to %.60q as %.60q %q, which is no account or no role", i.Account, i.Role, i.Posts)
	case damaged:
		run.wrong(string(i.ID), "is an invitation of %.60q: %v", i.Account, bad)
	}
}

// admins checks that someone can see to the network: an admin who is signed in or can sign in,
// or who has a key that may do everything. Where nobody is anyone yet, nobody need be.
func admins(run *checkRun) error {
	active := map[beacon.PersonID]bool{}
	able := 0
	err := run.snapshot(func(s store.Snapshot) error {
		keys := s.EachKey(run.ctx, func(k beacon.Key, _ error) error {
			if k.InForce(run.opts.Now) && slices.Contains(k.Scopes, beacon.Admin) {
				able++
			}
			return nil
		})
		people := s.EachPerson(run.ctx, func(p beacon.Person, _ error) error {
			if p.Active() {
				active[p.ID] = true
			}
			return nil
		})
		in, ways := s.WaysIn(run.ctx, run.opts.Now)
		memberships := s.EachMembership(run.ctx, func(m beacon.Membership, _ error) error {
			if m.Account == "" && slices.Contains(m.Posts, beacon.AdminPost) && active[m.Person] && slices.Contains(in, m.Person) {
				able++
			}
			return nil
		})
		return errors.Join(keys, people, ways, memberships)
	})
	if err == nil && len(active) > 0 && able == 0 {
		run.wrong("", "there are people, and no admin among them who can sign in, nor a key that may do everything")
	}
	run.lookedAt("%d who can see to the network", able)
	return err
}
