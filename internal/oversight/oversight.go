// Package oversight is what staff see and decide of a network as a whole: how it is, its settings, who
// changed what, who has hotspots, and MAC addresses that are reserved. The table of routes
// has checked that a key may.
//
// Its one invariant: whatever it changes is in the audit, with who did it.
package oversight

import (
	"context"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Store is what this package needs of a database. Package store says what each method
// promises.
type Store interface {
	Blur(ctx context.Context) (beacon.Blur, error)
	SetHomePrivacy(ctx context.Context, p beacon.HomePrivacy, by beacon.Actor, now time.Time) error
	MapSettings(ctx context.Context) (beacon.MapSettings, error)
	SetStartView(ctx context.Context, v *beacon.StartView, by beacon.Actor, now time.Time) error
	SetLanguage(ctx context.Context, code string, by beacon.Actor, now time.Time) error
	Identity(ctx context.Context) (beacon.Identity, error)
	SetIdentity(ctx context.Context, p beacon.IdentityPatch, by beacon.Actor, now time.Time) error

	Audit(ctx context.Context, before beacon.Change, limit int) ([]beacon.Change, error)
	PersonNames(ctx context.Context, ids []beacon.PersonID) (map[beacon.PersonID]string, error)
	Operators(ctx context.Context, after beacon.UserID, month beacon.Month, now time.Time, limit int) ([]beacon.Operator, error)
	ReleaseMAC(ctx context.Context, mac beacon.MAC, reason string, by beacon.Actor, now time.Time) (beacon.UserID, error)
}

// Oversight implements the verbs.
type Oversight struct {
	Store Store
	Now   func() time.Time
}

// Settings are those of the network.
type Settings struct {
	Homes    beacon.HomePrivacy
	Maps     beacon.MapSettings
	Identity beacon.Identity
}

// Settings returns the settings as they are stored. Servers follow within seconds.
func (o *Oversight) Settings(ctx context.Context, _ beacon.Principal, _ struct{}) (s Settings, err error) {
	blur, err := o.Store.Blur(ctx)
	if err != nil {
		return s, err
	}
	s.Homes = blur.Homes
	if s.Maps, err = o.Store.MapSettings(ctx); err != nil {
		return s, err
	}
	s.Identity, err = o.Store.Identity(ctx)
	return s, err
}

// SettingsPatch is a merge patch of the settings. All of it is valid.
type SettingsPatch struct {
	Homes    beacon.HomePrivacy // empty: stays
	Start    beacon.Opt[beacon.StartView]
	Language beacon.Opt[string]
	Identity beacon.IdentityPatch
}

// ChangeSettings changes one setting after the other, each with its own row in the audit.
// What concerns people comes first.
func (o *Oversight) ChangeSettings(ctx context.Context, p beacon.Principal, patch SettingsPatch) (s Settings, err error) {
	if patch.Homes != "" {
		err = o.Store.SetHomePrivacy(ctx, patch.Homes, p.Actor(), o.Now())
	}
	if err == nil && patch.Start.Set {
		var view *beacon.StartView
		if !patch.Start.Null {
			view = &patch.Start.V
		}
		err = o.Store.SetStartView(ctx, view, p.Actor(), o.Now())
	}
	if err == nil && patch.Language.Set {
		err = o.Store.SetLanguage(ctx, patch.Language.V, p.Actor(), o.Now())
	}
	if err == nil && patch.Identity != (beacon.IdentityPatch{}) {
		err = o.Store.SetIdentity(ctx, patch.Identity, p.Actor(), o.Now())
	}
	if err != nil {
		return s, err
	}
	return o.Settings(ctx, p, struct{}{})
}

const (
	// auditScans is how many changes a request with a filter looks through.
	auditScans = 5000
	// auditAtOnce is how many of them are read at a time.
	auditAtOnce = 500
)

// AuditQuery asks for changes, newest first.
type AuditQuery struct {
	Before beacon.Change // zero: the newest
	Limit  int

	Kind, Target, User string // empty: any. A kind that ends with a dot is the beginning of one
}

// Filters reports whether the query leaves changes out.
func (q AuditQuery) Filters() bool { return q.Kind != "" || q.Target != "" || q.User != "" }

func (q AuditQuery) matches(c *beacon.Change) bool {
	kind := string(c.Kind)
	return (kind == q.Kind || q.Kind == "" || strings.HasSuffix(q.Kind, ".") && strings.HasPrefix(kind, q.Kind)) &&
		(q.Target == "" || q.Target == c.Target) && (q.User == "" || q.User == string(c.Actor.User))
}

// AuditPage is a part of the audit.
type AuditPage struct {
	Changes []beacon.Change
	Names   map[beacon.PersonID]string // of who made them; the audit itself has ids, and names end when a person is erased
	Next    *beacon.Change             // before which to go on; nil if there is nothing more
}

// Audit returns who changed what. A query with a filter looks through a bounded number of
// changes, and may return fewer than there are, or none, with where to go on (decision D196).
func (o *Oversight) Audit(ctx context.Context, _ beacon.Principal, q AuditQuery) (AuditPage, error) {
	out, err := o.audit(ctx, q)
	if err == nil {
		out.Names, err = o.Store.PersonNames(ctx, beacon.PeopleOf(out.Changes))
	}
	return out, err
}

func (o *Oversight) audit(ctx context.Context, q AuditQuery) (out AuditPage, err error) {
	scans, atOnce := q.Limit, q.Limit
	if q.Filters() {
		scans, atOnce = auditScans, auditAtOnce
	}
	for scanned := 0; scanned < scans && len(out.Changes) < q.Limit; scanned += atOnce {
		page, err := o.Store.Audit(ctx, q.Before, atOnce)
		if err != nil {
			return out, err
		}
		for i := 0; i < len(page) && len(out.Changes) < q.Limit; i++ {
			q.Before = page[i]
			if q.matches(&page[i]) {
				out.Changes = append(out.Changes, page[i])
			}
		}
		if len(page) < atOnce && len(out.Changes) < q.Limit {
			return out, nil
		}
	}
	out.Next = &q.Before
	return out, nil
}

// OperatorsQuery asks for users with hotspots, by id.
type OperatorsQuery struct {
	After beacon.UserID
	Limit int
}

// Operators is a page of users with hotspots, with what they earned in a month.
type Operators struct {
	Month beacon.Month
	Page  []beacon.Operator
	More  bool
}

// Operators lists users with hotspots. There is no total: counting them would read all
// hotspots (decision D197).
func (o *Oversight) Operators(ctx context.Context, _ beacon.Principal, q OperatorsQuery) (out Operators, err error) {
	now := o.Now()
	out.Month = beacon.MonthOf(now)
	out.Page, err = o.Store.Operators(ctx, q.After, out.Month, now, q.Limit)
	out.More = len(out.Page) == q.Limit
	return out, err
}

// Release asks to end the reservation of a MAC address.
type Release struct {
	MAC    beacon.MAC
	Reason string
}

// ReleaseMAC lets anyone register a MAC address that is reserved for its last operator.
func (o *Oversight) ReleaseMAC(ctx context.Context, p beacon.Principal, in Release) (beacon.ReleasedMAC, error) {
	owner, err := o.Store.ReleaseMAC(ctx, in.MAC, in.Reason, p.Actor(), o.Now())
	return beacon.ReleasedMAC{MAC: in.MAC, User: owner}, beacon.Word(err, beacon.NotFound, "this MAC address is not reserved for anyone")
}
