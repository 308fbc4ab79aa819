package storetest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/store"
)

// never is a hotspot that was never handed over.
func never(n int) beacon.Hotspot {
	h := Hotspot(n)
	h.Former = nil
	return h
}

func offerOf(h beacon.Hotspot, to beacon.UserID) beacon.Offer {
	o := beacon.Offer{Hotspot: h.ID, By: h.Operator, To: to, OfferedAt: Now, ExpiresAt: Now.Add(beacon.OfferLasts)}
	if to == "" {
		o.CodeHash = [32]byte{1, 2, 31: 3}
	}
	return o
}

// putOffer offers a hotspot, which must succeed, and returns what was known.
func putOffer(t testing.TB, db *store.DB, o beacon.Offer) (known beacon.Giving) {
	t.Helper()
	err := db.Hotspots.PutOffer(t.Context(), o, Actor, func(h *beacon.Hotspot, g beacon.Giving) (beacon.UserID, error) {
		known = g
		return h.Operator, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// offers: they are read as they were written, and a new one replaces an older one.
func offers(t *testing.T, database Database) {
	db := database.open(t)
	mine, other := never(1), never(2)
	insert(t, db, mine, other)
	byCode := offerOf(mine, "")
	equal(t, "known of an operator without keys", putOffer(t, db, byCode), beacon.Giving{Gone: true})
	led := func(role beacon.Role, suspended time.Time) {
		t.Helper()
		p, m := person(1), member(1, mine.Operator, role)
		p.SuspendedAt = suspended
		editPeople(t, db, beacon.PeopleSight{Person: p.ID}, func(e *beacon.PeopleEdit) {
			e.Write = beacon.PeopleWrites{People: []beacon.Person{p}, Memberships: []beacon.Membership{m}}
		})
	}
	for role, gone := range map[beacon.Role]bool{beacon.Owner: false, beacon.Manager: false, beacon.Installer: true, beacon.Viewer: true} {
		led(role, time.Time{})
		equal(t, "known of an operator with an "+string(role), putOffer(t, db, byCode), beacon.Giving{Gone: gone})
	}
	led(beacon.Owner, Now)
	equal(t, "known of an operator whose owner is suspended", putOffer(t, db, byCode), beacon.Giving{Gone: true})
	byCode.Owner = mine.Operator
	equal(t, "an offer", must2(db.Hotspots.Offer(t.Context(), mine.ID)), byCode)

	named := offerOf(mine, "usr_buyer")
	named.By, named.OfferedAt, named.ExpiresAt = "usr_staff", Now.Add(time.Hour), Now.Add(2*time.Hour)
	putOffer(t, db, named)
	putOffer(t, db, offerOf(other, "usr_else"))
	named.Owner = mine.Operator
	equal(t, "the offer that replaces it", must2(db.Hotspots.Offer(t.Context(), mine.ID)), named)
	to := func(user beacon.UserID, now time.Time) []beacon.ListedOffer {
		t.Helper()
		return must(db.Hotspots.OffersOf(t.Context(), user, now, 10))
	}
	equal(t, "offers to the buyer", to("usr_buyer", Now), []beacon.ListedOffer{{Offer: named, Name: mine.Name, Type: mine.Type}})
	equal(t, "offers by the seller", len(to(mine.Operator, Now)), 2)
	equal(t, "offers to the buyer, later", to("usr_buyer", named.ExpiresAt), []beacon.ListedOffer(nil))
	equal(t, "offers to nobody", to("", Now), []beacon.ListedOffer(nil))

	// What is refused leaves the offer as it was.
	err := db.Hotspots.PutOffer(t.Context(), byCode, Actor, func(*beacon.Hotspot, beacon.Giving) (beacon.UserID, error) { return "", errVerdict })
	wantErr(t, "an offer that may not be", err, errVerdict)
	equal(t, "the offer", must2(db.Hotspots.Offer(t.Context(), mine.ID)), named)
	err = db.Hotspots.PutOffer(t.Context(), offerOf(never(3), ""), Actor, func(*beacon.Hotspot, beacon.Giving) (beacon.UserID, error) { return "", nil })
	wantKind(t, "an offer of no hotspot", err, beacon.NotFound)

	// An operator with a key that was used is not gone, and a hold is seen.
	key := beacon.Key{ID: "key_1", User: mine.Operator, Name: "k", SecretHash: [32]byte{9}, CreatedAt: Now.Add(-beacon.GoneAfter)}
	insertKeys(t, db, key)
	hold := beacon.Hold{ID: "hld_1", User: mine.Operator, Hotspot: mine.ID, Until: Now.Add(time.Hour), Placed: beacon.HoldAct{By: "usr_staff", At: Now}}
	if _, err := db.Holds.EditHolds(t.Context(), mine.Operator, Actor, Now, func(all []beacon.Hold) (beacon.Hold, beacon.ChangeKind, error) {
		placed, err := hold.Place(all)
		return placed, beacon.HoldPlaced, err
	}); err != nil {
		t.Fatal(err)
	}
	equal(t, "known of a hold", putOffer(t, db, offerOf(mine, "")), beacon.Giving{Held: true})
	later := offerOf(other, "")
	later.OfferedAt = Now.Add(time.Minute)
	equal(t, "known of another hotspot, later", putOffer(t, db, later), beacon.Giving{Gone: true})
}

// offersEnd: an offer is withdrawn once, and ends with its hotspot.
func offersEnd(t *testing.T, database Database) {
	db := database.open(t)
	all := []beacon.Hotspot{never(1), never(2), never(3)}
	insert(t, db, all...)
	for _, h := range all {
		putOffer(t, db, offerOf(h, "usr_buyer"))
	}
	drop := func(h beacon.Hotspot, err error) error {
		return db.Hotspots.DropOffer(t.Context(), h.ID, Actor, Now, func(o beacon.Offer) (beacon.ChangeKind, error) {
			if o.To != "usr_buyer" || o.Owner != h.Operator {
				t.Errorf("dropped %+v", o)
			}
			return beacon.OfferWithdrawn, err
		})
	}
	wantErr(t, "a refusal", drop(all[0], errVerdict), errVerdict)
	if err := drop(all[0], nil); err != nil {
		t.Error(err)
	}
	wantKind(t, "an offer that was withdrawn", drop(all[0], nil), beacon.NotFound)
	remove(t, db, all[1].ID)
	wantKind(t, "an offer of a deleted hotspot", drop(all[1], nil), beacon.NotFound)
	if err := db.Hotspots.PruneOffers(t.Context(), Now.Add(beacon.OfferLasts)); err != nil {
		t.Error(err)
	}
	must2(db.Hotspots.Offer(t.Context(), all[2].ID))
	if err := db.Hotspots.PruneOffers(t.Context(), Now.Add(beacon.OfferLasts+time.Second)); err != nil {
		t.Error(err)
	}
	for _, h := range all {
		if _, found, err := db.Hotspots.Offer(t.Context(), h.ID); found || err != nil {
			t.Errorf("the offer of %s is there, or %v", h.ID, err)
		}
	}
}

// handOver hands a hotspot over at a moment, as if it was on offer.
func handOver(db *store.DB, t testing.TB, id beacon.HotspotID, to beacon.UserID, at time.Time) (h beacon.Hotspot, known beacon.Taking, err error) {
	h, err = db.Hotspots.TakeOver(t.Context(), id, to, Actor, at, func(h *beacon.Hotspot, is beacon.Taking) error {
		known = is
		if !is.Found {
			return errVerdict
		}
		if err := h.HandOver(beacon.Behind{User: to}, is.Closing, at); err != nil {
			return err
		}
		h.Touch(at)
		return nil
	})
	return h, known, err
}

// takeOver: the hotspot is the other user's, with all that it has, and found by both.
func takeOver(t *testing.T, database Database) {
	db := database.open(t)
	mine := never(1)
	insert(t, db, mine)
	_, _, err := handOver(db, t, mine.ID, "usr_buyer", Now)
	wantErr(t, "without an offer", err, errVerdict)
	offer := offerOf(mine, "usr_buyer")
	putOffer(t, db, offer)
	offer.Owner = mine.Operator
	code := beacon.LinkCode{Hotspot: mine.ID, Operator: mine.Operator, Hash: [32]byte{7}, ExpiresAt: Now.Add(time.Hour)}
	if err := db.Hotspots.PutLinkCode(t.Context(), code, Actor, Now); err != nil {
		t.Fatal(err)
	}
	unverified := never(2)
	unverified.Operator, unverified.Location.VerifiedAt = "usr_buyer", time.Time{}
	insert(t, db, unverified)

	day := beacon.DayOf(Now)
	held := lead(t, db, "keeper")
	putPage(t, db, held, page(day-1, beacon.Owned{}))
	h, known, err := handOver(db, t, mine.ID, "usr_buyer", Now)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "known", known, beacon.Taking{Offer: offer, Found: true, Waiting: 1, Quota: beacon.DefaultQuota().Hotspots, Closing: day - 1})
	want := mine
	want.Operator, want.Former, want.Version = "usr_buyer", []beacon.Tenure{{User: mine.Operator, Through: day}}, mine.Version+1
	want.UpdatedAt = h.UpdatedAt
	equal(t, "handed over", h, want)
	equal(t, "read back", must(db.Hotspots.Hotspot(t.Context(), mine.ID)), want)
	if _, found, err := db.Hotspots.Offer(t.Context(), mine.ID); found || err != nil {
		t.Errorf("it is still on offer, or %v", err)
	}
	_, err = db.Hotspots.LinkDevice(t.Context(), code.Hash, Actor, Now, func(*beacon.LinkCode, *beacon.Hotspot) error { return nil })
	wantKind(t, "the link code of the former owner", err, beacon.NotFound)
	changes := must(db.Changes.Changes(t.Context(), db.Node(), 0, 100))
	last := changes[len(changes)-1]
	if from, to, ok := beacon.ParseHandOver(last.Actor.Note); last.Kind != beacon.HotspotHandedOver || last.Version != want.Version || from != mine.Operator || to != "usr_buyer" || !ok {
		t.Errorf("the change is %+v", last)
	}

	// An update does not change whose it is, and does not lose whose it was.
	want = must(db.Hotspots.UpdateHotspot(t.Context(), mine.ID, Actor, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
		h.Operator, h.Name = "usr_thief", "Another name"
		return true, nil
	}))
	if want.Operator != "usr_buyer" || len(want.Former) != 1 {
		t.Errorf("after an update: %+v", want)
	}

	// Both find it, as long as they had it on the day that is asked for.
	whose := beacon.OwnedName{HotspotName: beacon.HotspotName{ID: mine.ID, Name: want.Name}, Owners: want.Owners()}
	err = db.Ledger.Books(t.Context(), func(b ledger.Books) error {
		equal(t, "the seller's", must(b.Names(t.Context(), mine.Operator, day.Time())), []beacon.OwnedName{whose})
		equal(t, "the seller's from the next day on", must(b.Names(t.Context(), mine.Operator, (day+1).Time())), []beacon.OwnedName(nil))
		equal(t, "the buyer's", must(b.Names(t.Context(), "usr_buyer", (day + 1).Time()))[0], whose)
		equal(t, "whose it is", must2(b.Whose(t.Context(), mine.ID)), want.Owners())
		return nil
	})
	if err != nil {
		t.Error(err)
	}

	// It comes back, and is found once by who has it and had it.
	back := offerOf(want, mine.Operator)
	putOffer(t, db, back)
	if _, _, err := handOver(db, t, mine.ID, mine.Operator, Now); beacon.KindOf(err) != beacon.Conflict {
		t.Errorf("again on the same day: %v", err)
	}
	if _, _, err = handOver(db, t, mine.ID, mine.Operator, Now.AddDate(0, 0, 2)); err != nil {
		t.Fatal(err)
	}
	equal(t, "the seller's, when it is back", len(inBooksNames(t, db, mine.Operator, day.Time())), 1)
	equal(t, "the buyer's, when it is gone", len(inBooksNames(t, db, "usr_buyer", (day+2).Time())), 2)

	// Nothing of it is forgotten with an erasure; the offer to who is erased is.
	putOffer(t, db, offerOf(unverified, "usr_erased"))
	if err := db.Users.EraseUser(t.Context(), "usr_erased", Actor, Now); err != nil {
		t.Fatal(err)
	}
	if _, found, _ := db.Hotspots.Offer(t.Context(), unverified.ID); found {
		t.Error("the offer to an erased user is there")
	}
}

func inBooksNames(t testing.TB, db *store.DB, user beacon.UserID, since time.Time) (names []beacon.OwnedName) {
	t.Helper()
	if err := db.Ledger.Books(t.Context(), func(b ledger.Books) (err error) {
		names, err = b.Names(t.Context(), user, since)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

// takeOverRace: of those who accept, withdraw and delete at the same time on two servers, one
// is first, and the others see it.
func takeOverRace(t *testing.T, database Database) {
	nodes := []*store.DB{database.openNode(t, "one"), database.openNode(t, "two")}
	for round := range 12 {
		h := never(1 + round)
		insert(t, nodes[0], h)
		putOffer(t, nodes[0], offerOf(h, ""))
		code := beacon.LinkCode{Hotspot: h.ID, Operator: h.Operator, Hash: [32]byte{byte(round), 5}, ExpiresAt: Now.Add(time.Hour)}
		var accepted [2]error
		var withdrawn, deleted error
		var all sync.WaitGroup
		for i := range accepted {
			all.Go(func() {
				_, _, accepted[i] = handOver(nodes[i], t, h.ID, beacon.UserID("usr_buyer"+string(rune('a'+i))), Now)
			})
		}
		all.Go(func() {
			withdrawn = nodes[round%2].Hotspots.DropOffer(t.Context(), h.ID, Actor, Now, func(beacon.Offer) (beacon.ChangeKind, error) { return beacon.OfferWithdrawn, nil })
		})
		all.Go(func() { _ = nodes[1].Hotspots.PutLinkCode(t.Context(), code, Actor, Now) })
		if round%3 == 0 {
			all.Go(func() {
				_, deleted = nodes[1].Hotspots.UpdateHotspot(t.Context(), h.ID, Actor, beacon.HotspotDeleted, func(h *beacon.Hotspot) (bool, error) {
					h.DeletedAt = Now
					return true, nil
				})
			})
		}
		all.Wait()
		if deleted != nil {
			t.Errorf("round %d: delete: %v", round, deleted)
		}
		took := 0
		for _, err := range accepted {
			switch {
			case err == nil:
				took++
			case !errors.Is(err, errVerdict) && beacon.KindOf(err) != beacon.NotFound:
				t.Errorf("round %d: accept: %v", round, err)
			}
		}
		if withdrawn != nil && beacon.KindOf(withdrawn) != beacon.NotFound {
			t.Errorf("round %d: withdraw: %v", round, withdrawn)
		}
		if ends := took + map[bool]int{true: 1}[withdrawn == nil]; ends > 1 || ends == 0 && round%3 != 0 {
			t.Errorf("round %d: %d accepted, and it was withdrawn: %v", round, took, withdrawn)
		}
		is := must(nodes[0].Hotspots.HotspotsByID(t.Context(), []beacon.HotspotID{h.ID}))[0]
		if (is.Operator != h.Operator) != (took == 1) || len(is.Former) != took {
			t.Errorf("round %d: %d accepted, and it is %+v", round, took, is.Owners())
		}
		if _, found, _ := nodes[1].Hotspots.Offer(t.Context(), h.ID); found {
			t.Errorf("round %d: it is still on offer", round)
		}
	}
}

// ownedOn: each hotspot is listed on each day once, with who earns on it, in order, however
// few are read at a time.
func ownedOn(t *testing.T, database Database) {
	db := database.open(t)
	random := rand.New(rand.NewPCG(1, 61))
	users := []beacon.UserID{"usr_a", "usr_b", "usr_c", "usr_d"}
	day := beacon.DayOf(Now)
	all := make([]beacon.Hotspot, 30)
	for n := range all {
		h := never(n)
		h.Operator = users[random.IntN(len(users))]
		insert(t, db, h)
		for at := day + beacon.Day(random.IntN(3)); at < day+8 && random.IntN(4) > 0; at += 1 + beacon.Day(random.IntN(3)) {
			to := users[random.IntN(len(users))]
			if to == h.Operator {
				continue
			}
			putOffer(t, db, offerOf(h, to))
			var err error
			if h, _, err = handOver(db, t, h.ID, to, at.Time()); err != nil {
				t.Fatal(err)
			}
		}
		all[n] = h
	}
	remove(t, db, all[4].ID)
	for on := day - 1; on < day+10; on++ {
		var want []beacon.Owned
		for i := range all {
			want = append(want, beacon.Owned{User: all[i].Owners().On(on), Hotspot: all[i].ID})
		}
		slices.SortFunc(want, beacon.Owned.Compare)
		for _, limit := range []int{1, 7, 29, 30, 31} {
			var got []beacon.Owned
			for after := (beacon.Owned{}); ; {
				page := must(db.Hotspots.OwnedOn(t.Context(), on, after, limit))
				if len(page) == 0 {
					break
				}
				got, after = append(got, page...), page[len(page)-1]
			}
			equal(t, "owned on "+on.String(), got, want)
		}
	}
}
