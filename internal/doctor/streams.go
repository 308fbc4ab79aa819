package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

// public are the kinds of change that become events.
var public = map[beacon.ChangeKind]bool{
	beacon.HotspotRegistered: true, beacon.HotspotUpdated: true, beacon.HotspotDeleted: true, beacon.HotspotRestored: true, beacon.HotspotHandedOver: true, beacon.HotspotVerified: true,
	beacon.HotspotLinked: true, beacon.HotspotUnlinked: true, beacon.HotspotUnverified: true, beacon.RewardsSettled: true,
}

// private are the kinds that appear only in the audit log.
var private = map[beacon.ChangeKind]bool{
	beacon.LinkCodeCreated: true, beacon.LinkRefused: true, beacon.VerificationRefused: true,
	beacon.OfferMade: true, beacon.OfferWithdrawn: true, beacon.OfferDeclined: true, beacon.OfferRefused: true,
	beacon.RewardsFinished: true, beacon.RewardsReopened: true, beacon.PolicyAdopted: true, beacon.ClockConfirmed: true, beacon.KeyCreated: true, beacon.KeyRevoked: true,
	beacon.HoldPlaced: true, beacon.HoldExtended: true, beacon.HoldVisitFailed: true, beacon.HoldAnswered: true, beacon.HoldReleased: true, beacon.HoldVoided: true,
	beacon.QuotaSet: true, beacon.SettingChanged: true, beacon.MACReleased: true, beacon.HotspotReported: true, beacon.FlagDismissed: true, beacon.HotspotVouched: true,
	beacon.HotspotErased: true, beacon.HoldErased: true, beacon.ErasureAsked: true, beacon.ErasureWithdrawn: true, beacon.UserErased: true,
}

// changesHotspot reports whether a change created a new version of a hotspot.
func changesHotspot(c *beacon.Change) bool {
	return public[c.Kind] && c.Kind != beacon.RewardsSettled || c.Kind == beacon.HotspotReported || c.Kind == beacon.HotspotVouched || c.Kind == beacon.HotspotErased
}

// changes checks that no stream has a gap, and that each version of a hotspot and each
// creation or revocation of a key is in the streams exactly once.
func changes(run *checkRun) error {
	streams := 0
	err := run.snapshot(func(s store.Snapshot) error {
		var node string
		var last int64
		err := s.EachChange(run.ctx, func(c beacon.Change, bad error) error {
			run.row()
			if c.Node != node {
				node, last = c.Node, 0
				streams++
			}
			if c.Seq != last+1 {
				run.wrong(c.Node, "change %d is followed by change %d", last, c.Seq)
			}
			last = c.Seq
			switch {
			case !public[c.Kind] && !private[c.Kind] && !ofPeople[c.Kind]:
				run.wrong(c.Node, "change %d has an unknown kind: %.40q", c.Seq, c.Kind)
			case bad != nil:
				run.wrong(c.Node, "change %d: %v", c.Seq, bad)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return run.versions(s)
	})
	run.lookedAt("%d changes in %d streams", run.rows.Load(), streams)
	return err
}

// versions compares the hotspots and keys with the streams.
func (run *checkRun) versions(s store.Snapshot) error {
	var text []byte
	differ, err := compare(func(side sides) error {
		err := s.EachHotspot(run.ctx, func(h beacon.Hotspot, _ error) error {
			for v := int64(1); v <= min(h.Version, maxVersion); v++ {
				text = fmt.Appendf(text[:0], "%s version %d", h.ID, v)
				side(text, 1)
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = s.EachKey(run.ctx, func(k beacon.Key, _ error) error {
			side(fmt.Appendf(text[:0], "%s created", k.ID), 1)
			if !k.RevokedAt.IsZero() {
				side(fmt.Appendf(text[:0], "%s revoked", k.ID), 1)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return s.EachChange(run.ctx, func(c beacon.Change, _ error) error {
			switch {
			case changesHotspot(&c):
				text = fmt.Appendf(text[:0], "%s version %d", c.Target, c.Version)
			case c.Kind == beacon.KeyCreated, c.Kind == beacon.KeyRevoked:
				text = fmt.Appendf(text[:0], "%s %s", c.Target, strings.TrimPrefix(string(c.Kind), "key."))
			default:
				return nil
			}
			side(text, -1)
			return nil
		})
	})
	run.tellDiffering(differ, "there is no change for %q", "there is a change for %q but no such row")
	return err
}

// sureAfter is how much younger than the oldest kept event a change must be for its
// event to be kept too. The changes of several servers are not ordered exactly by time.
const sureAfter = 24 * time.Hour

// eventsKept is how long an event can be read (decision X7). It is defined again here
// because this check does not rely on package events.
const eventsKept = 7 * 24 * time.Hour

// events checks that events are numbered without a gap, and match the changes that they
// were made from.
func events(run *checkRun) error {
	return run.snapshot(func(s store.Snapshot) error {
		var first, last beacon.Event
		err := s.EachEvent(run.ctx, func(e beacon.Event) error {
			run.row()
			if last.Seq != 0 && e.Seq != last.Seq+1 {
				run.wrong(fmt.Sprint("event ", e.Seq), "comes after event %d", last.Seq)
			}
			if !public[e.Kind] && e.Kind != beacon.HotspotOnline && e.Kind != beacon.HotspotOffline {
				run.wrong(fmt.Sprint("event ", e.Seq), "has an unknown kind: %.40q", e.Kind)
			}
			if first.Seq == 0 {
				first = e
			}
			last = e
			return nil
		})
		if err != nil {
			return err
		}
		run.lookedAt("%d events and their changes", run.rows.Load())
		places, err := s.Places(run.ctx)
		if err != nil {
			return err
		}
		since := first.At.Add(sureAfter)
		switch first.Seq {
		case 0: // changes that are too old become no events
			since = run.opts.Now.Add(-eventsKept)
		case 1: // none was deleted; a change older than the first may have become no event
			since = first.At.Add(-time.Nanosecond)
		}
		return run.origins(s, places, since)
	})
}

// origins compares events with changes, over the time in which both are kept.
func (run *checkRun) origins(s store.Snapshot, places map[string]int64, since time.Time) error {
	heads := map[string]int64{}
	var text []byte
	differ, err := compare(func(side sides) error {
		err := s.EachEvent(run.ctx, func(e beacon.Event) error {
			if public[e.Kind] && e.At.After(since) {
				text = fmt.Appendf(text[:0], "%s %s %s%s", e.Target, e.Kind, stamp(e.At), e.User)
				side(text, 1)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return s.EachChange(run.ctx, func(c beacon.Change, _ error) error {
			heads[c.Node] = c.Seq
			if !public[c.Kind] || c.Seq > places[c.Node] || !c.At.After(since) {
				return nil
			}
			text = fmt.Appendf(text[:0], "%s %s %s", c.Target, c.Kind, stamp(c.At))
			if c.Kind == beacon.RewardsSettled {
				text = fmt.Appendf(text[:0], "%s %s %s%s", c.Actor.Note, c.Kind, stamp(c.At), c.Target)
			}
			if from, to, ok := beacon.ParseHandOver(c.Actor.Note); ok && c.Kind == beacon.HotspotHandedOver { // each has an event
				at := len(text)
				side(append(text, from...), -1)
				text = append(text[:at], to...)
			}
			side(text, -1)
			return nil
		})
	})
	if err != nil {
		return err
	}
	run.tellDiffering(differ, "there is an event %q but no change for it", "there is a change %q but no event for it")
	for node, place := range places {
		if place > heads[node] {
			run.wrong(node, "events include its changes up to %d, but it has %d", place, heads[node])
		}
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) + " " }

// ofPeople are the kinds of changes of people, accounts and invitations.
var ofPeople = map[beacon.ChangeKind]bool{
	beacon.PersonCreated: true, beacon.PersonChanged: true, beacon.PersonSignedIn: true, beacon.PersonRecovered: true, beacon.PersonSuspended: true,
	beacon.PersonRestored: true, beacon.PersonErased: true, beacon.SessionEnded: true, beacon.MemberAdded: true, beacon.MemberChanged: true,
	beacon.MemberRemoved: true, beacon.AccountNamed: true, beacon.InvitationCreated: true, beacon.InvitationRevoked: true,
}
