package review

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// A group of several accounts is flagged around each hotspot that has enough others, of
// other accounts, in one of three ways. What is near shares ground, which is paid once, so
// few honest operators crowd there; docs/trust.md has how close those of New York stand.
const (
	// nearM is how far apart two hotspots can share ground.
	nearM = 100
	// crowd of crowdAccounts are near, whenever they came.
	crowd, crowdAccounts = 10, 4
	// together of togetherAccounts are near, and registered within registeredTogether of
	// it or first visited within visitedTogether. Staff who walk down a street visit
	// neighbours in one day, but not so many in an hour.
	together, togetherAccounts = 5, 3
	registeredTogether         = 24 * time.Hour
	visitedTogether            = time.Hour
	// remote of togetherAccounts send from its network, though they are more than remoteM
	// away: a provider has one network for a part of a town.
	remote  = 4
	remoteM = 2000
)

// everyone is where the hotspots of all accounts stand: some hundred bytes for each.
type everyone []stand

// stand is a hotspot, and what may connect it with those of others.
type stand struct {
	beacon.Owned
	place               geo.Point
	at                  cell // its place
	registered, visited int64
	network             int64 // that its device sends from; 0: not known

	group int // 0: in none
	// Whether others of its group were registered or visited together with it, or are on its
	// network.
	alike [3]bool
}

// add adds a hotspot that is in service.
func (all *everyone) add(c *Case, day beacon.Day) {
	h := &c.Hotspot
	if h.Deleted() || h.ActiveSince().IsZero() {
		return
	}
	s := stand{
		Owned: beacon.Owned{User: h.Operator, Hotspot: h.ID}, place: h.PlaceOn(day + 1).Point,
		registered: h.CreatedAt.Unix(), visited: h.FirstVisit().Unix(), network: c.Network,
	}
	if n := len(*all); n > 0 && (*all)[n-1].User == s.User {
		s.User = (*all)[n-1].User // one text for all of an account
	}
	s.at = cellOf(s.place, nearM)
	*all = append(*all, s)
}

// flags returns one flag for each group, about its oldest hotspot.
func (all everyone) flags(day beacon.Day) (flags []beacon.Flag) {
	slices.SortFunc(all, func(a, b stand) int { return cmp.Or(a.at.compare(b.at), cmp.Compare(a.Hotspot, b.Hotspot)) })
	groups := 0
	for i := range all {
		if all[i].group > 0 || len(all.others(i)) == 0 {
			continue
		}
		groups++
		flags = append(flags, all.flag(all.gather(i, groups), day))
	}
	return append(flags, all.remote(day)...)
}

// others returns those near a hotspot that are enough to flag it, or none.
func (all everyone) others(i int) []int {
	s := &all[i]
	var near, alike []int
	var nearBy, alikeBy accounts
	all.near(i, func(j int) {
		o := &all[j]
		if o.User == s.User {
			return
		}
		near = append(near, j)
		nearBy.add(o.User)
		if is := s.likeness(o); is[0] || is[1] {
			alike = append(alike, j)
			alikeBy.add(o.User)
		}
	})
	switch {
	case len(near) >= crowd && len(nearBy) >= crowdAccounts:
		return near
	case len(alike) >= together && len(alikeBy) >= togetherAccounts:
		return alike
	}
	return nil
}

// likeness says what else than their places two hotspots have in common: when they were
// registered, when they were visited, and their network.
func (s *stand) likeness(o *stand) [3]bool {
	within := func(a, b int64, most time.Duration) bool { return max(a-b, b-a) <= int64(most/time.Second) }
	return [3]bool{
		within(s.registered, o.registered, registeredTogether),
		within(s.visited, o.visited, visitedTogether),
		s.network != 0 && s.network == o.network,
	}
}

// accounts are the first few that differ.
type accounts []beacon.UserID

func (a *accounts) add(user beacon.UserID) {
	if len(*a) < crowdAccounts && !slices.Contains(*a, user) {
		*a = append(*a, user)
	}
}

// gather puts a hotspot and those that it is flagged with into a group, and those that
// these are flagged with, and so on: a ring is one group.
func (all everyone) gather(first, group int) (members []int) {
	all[first].group = group
	members = append(members, first)
	for next := 0; next < len(members); next++ {
		s := &all[members[next]]
		for _, j := range all.others(members[next]) {
			o := &all[j]
			for n, is := range s.likeness(o) {
				s.alike[n], o.alike[n] = s.alike[n] || is, o.alike[n] || is
			}
			if o.group == 0 {
				o.group = group
				members = append(members, j)
			}
		}
	}
	return members
}

// near calls each with the others within nearM of a hotspot.
func (all everyone) near(i int, each func(j int)) {
	s := &all[i]
	for row := s.at.row - 1; row <= s.at.row+1; row++ {
		from := cell{row, s.at.column - 1}
		for j := sort.Search(len(all), func(j int) bool { return all[j].at.compare(from) >= 0 }); j < len(all); j++ {
			if o := &all[j]; o.at.row != row || o.at.column > s.at.column+1 {
				break
			} else if j != i && geo.Distance(s.place, o.place) <= nearM {
				each(j)
			}
		}
	}
}

func (c cell) compare(other cell) int {
	return cmp.Or(cmp.Compare(c.row, other.row), cmp.Compare(c.column, other.column))
}

// remote returns one flag for each network from which hotspots of several accounts send
// that are far from each other. As in sameAddress, distances are from the first or the
// second.
func (all everyone) remote(day beacon.Day) (flags []beacon.Flag) {
	var order []int
	for i := range all {
		if all[i].network != 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(all[i].network, all[j].network), cmp.Compare(all[i].Hotspot, all[j].Hotspot))
	})
	for len(order) > 0 {
		n := 1
		for n < len(order) && all[order[n]].network == all[order[0]].network {
			n++
		}
		line := order[:n]
		order = order[n:]
		if n <= remote {
			continue
		}
		far := all.far(line[0], line)
		if other := all.far(line[1], line); len(other) < len(far) {
			far = other
		}
		if far != nil {
			for _, i := range far {
				all[i].alike = [3]bool{2: true}
			}
			flags = append(flags, all.flag(far, day))
		}
	}
	return flags
}

// far returns a hotspot and the others of other accounts that are farther from it than a
// network reaches, if they are enough to flag them.
func (all everyone) far(i int, line []int) []int {
	s, members, by := &all[i], []int{i}, accounts(nil)
	for _, j := range line {
		if o := &all[j]; o.User != s.User && geo.Distance(s.place, o.place) > remoteM {
			members = append(members, j)
			by.add(o.User)
		}
	}
	if len(members) <= remote || len(by) < togetherAccounts {
		return nil
	}
	return members
}

// flag returns the flag of a group.
func (all everyone) flag(members []int, day beacon.Day) beacon.Flag {
	slices.SortFunc(members, func(i, j int) int { return cmp.Compare(all[i].Hotspot, all[j].Hotspot) })
	first, farthest, users, alike := &all[members[0]], 0.0, map[beacon.UserID]bool{}, [3]int64{}
	var group []beacon.Owned
	for _, i := range members {
		s := &all[i]
		users[s.User] = true
		farthest = max(farthest, geo.Distance(first.place, s.place))
		for n, is := range s.alike {
			if is {
				alike[n]++
			}
		}
		if len(group) < beacon.FlagGroup {
			group = append(group, s.Owned)
		}
	}
	f := flag(first.Hotspot, first.User, day, beacon.AcrossAccounts, facts{
		"accounts": int64(len(users)), "hotspots": int64(len(members)), "within_m": int64(math.Ceil(farthest)),
		"registered_together": alike[0], "visited_together": alike[1], "on_one_network": alike[2],
	})
	f.Group = group
	return f
}
