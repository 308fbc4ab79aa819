package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

type offer struct {
	Hotspot   string `json:"hotspot_id"`
	To        string `json:"to_user_id"`
	ByStaff   bool   `json:"by_staff"`
	OfferedAt string `json:"offered_at"`
	ExpiresAt string `json:"expires_at"`
	Code      string `json:"code"`
}

type listedOffer struct {
	Hotspot   string `json:"hotspot_id"`
	To        string `json:"to_user_id"`
	Name      string `json:"name"`
	Type      string `json:"type"`
	ByStaff   bool   `json:"by_staff"`
	OfferedAt string `json:"offered_at"`
	ExpiresAt string `json:"expires_at"`
}

const offersPath = "/v1/users/me/offers"

func toUser(c client) string { return at(`{"to_user_id":%q}`, c.user) }

// owner makes a new user who may register hotspots and offer them to others.
func (s *server) owner(t testing.TB) client {
	t.Helper()
	return s.anyone(t, "hotspots:write", "keys:manage")
}

// give hands a hotspot over to another user.
func (c client) give(t testing.TB, spot string, to client) {
	t.Helper()
	c.post(t, spot+"/offer", toUser(to)).want(t, http.StatusCreated)
	to.post(t, spot+"/offer/acceptance", `{}`).want(t, http.StatusOK)
}

// A shop is sold: its hotspot is the buyer's to manage at once, with its device, its place and
// its history; the day is still the seller's, and the next one the buyer's.
func TestHandOver(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		seller, buyer := s.anyone(t, "hotspots:write", "rewards:read", "keys:manage"), s.anyone(t, "hotspots:write", "rewards:read", "keys:manage")
		stranger, staff := s.owner(t), s.anyone(t, "hotspots:verify")
		m := seller.install(t, 1)
		spot := m.hotspot
		s.verify(t, spot)
		beats := 0
		serve := func(minutes int) {
			t.Helper()
			for range minutes {
				m.beat(t, at(`{"boot_id":"b","seq":%d,"clients":1,"rx_bytes":%d,"tx_bytes":0}`, beats, 1_000_000*beats)).want(t, http.StatusOK)
				beats++
				s.advance(time.Minute)
			}
		}
		serve(10)
		was := data[hotspot](t, seller.get(t, spot), http.StatusOK)
		oldCode := seller.newCode(t, spot)
		l, of := buyer.listen(t, ""), seller.listen(t, "")
		defer l.close()
		defer of.close()

		made := data[offer](t, seller.post(t, spot+"/offer", toUser(buyer)), http.StatusCreated)
		wantEqual(t, "the offer", made, offer{was.ID, string(buyer.user), false, "2026-11-15T12:10:00.000Z", "2026-11-22T12:10:00.000Z", ""})
		for _, c := range []client{seller, buyer, staff} {
			wantEqual(t, "the offer, read", data[offer](t, c.get(t, spot+"/offer"), http.StatusOK), made)
		}
		wantFault(t, stranger.get(t, spot+"/offer"), http.StatusNotFound, "not_found")
		for _, c := range []client{buyer, seller} {
			wantEqual(t, "what is on offer", data[[]listedOffer](t, c.get(t, offersPath), http.StatusOK),
				[]listedOffer{{was.ID, string(buyer.user), was.Name, was.Type, false, made.OfferedAt, made.ExpiresAt}})
		}
		wantEqual(t, "to others", data[[]listedOffer](t, stranger.get(t, offersPath), http.StatusOK), []listedOffer{})
		buyer.get(t, strings.Replace(offersPath, "me", string(seller.user), 1)).want(t, http.StatusForbidden)
		wantFault(t, stranger.post(t, spot+"/offer/acceptance", `{}`), http.StatusNotFound, "not_found")
		wantFault(t, stranger.delete(t, spot+"/offer"), http.StatusNotFound, "not_found")
		seller.patch(t, spot, `{"name":"Sold"}`).want(t, http.StatusOK) // nothing has changed hands

		before := seller.rewards(t, "current").Summary.Total
		first := buyer.post(t, spot+"/offer/acceptance", `{}`, "Idempotency-Key", "buy")
		got := data[changed](t, first, http.StatusOK)
		if got.ID != was.ID || got.Name != "Sold" || first.Header.Get("ETag") != buyer.get(t, spot).Header.Get("ETag") {
			t.Errorf("taken over as %s", first)
		}
		again := buyer.post(t, spot+"/offer/acceptance", `{}`, "Idempotency-Key", "buy")
		if again.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("repeated: %s", again)
		}
		wantFault(t, buyer.post(t, spot+"/offer/acceptance", `{}`), http.StatusNotFound, "not_found")
		for _, listener := range []*listener{l, of} {
			told := 0
			for e := listener.next(); ; e = listener.next() {
				if e.Type == "hotspot.handed_over" && e.Hotspot == was.ID {
					told++
					break
				}
			}
			if told != 1 {
				t.Error("nobody was told")
			}
		}

		is := data[hotspot](t, buyer.get(t, spot), http.StatusOK)
		if is.OperatorID != string(buyer.user) || is.Device != was.Device || is.Location.VerifiedAt != was.Location.VerifiedAt || is.CreatedAt != was.CreatedAt || is.Status != was.Status {
			t.Errorf("it is %+v; it was %+v", is, was)
		}
		wantFault(t, seller.patch(t, spot, `{"name":"Mine"}`), http.StatusForbidden, "forbidden")
		wantFault(t, seller.delete(t, spot), http.StatusForbidden, "forbidden")
		wantFault(t, s.tryLink(t, oldCode, was.Device.MAC), http.StatusForbidden, "forbidden")
		buyer.patch(t, spot, `{"name":"Bought"}`).want(t, http.StatusOK)

		// Today is the seller's.
		serve(10)
		if now := seller.rewards(t, "current"); now.Summary.Total <= before || len(now.Hotspots) != 1 || now.Hotspots[0].ID != was.ID {
			t.Errorf("the seller had %d, and has %+v", before, now)
		}
		if now := buyer.rewards(t, "current"); now.Summary.Total != 0 || len(now.Hotspots) != 0 {
			t.Errorf("the buyer has %+v", now)
		}
		seller.get(t, spot+"/rewards/explain?date=2026-11-15").want(t, http.StatusOK)
		wantFault(t, buyer.get(t, spot+"/rewards/explain?date=2026-11-15"), http.StatusForbidden, "forbidden")

		// Tomorrow is the buyer's, before the day before is closed and after that.
		s.time.Store(time.Date(2026, 11, 16, 0, 0, 30, 0, time.UTC).UnixMicro())
		serve(30)
		sums := func() (sold, bought micros) {
			t.Helper()
			return seller.rewards(t, "current").Summary.Total, buyer.rewards(t, "current").Summary.Total
		}
		sold, bought := sums()
		if sold == 0 || bought == 0 {
			t.Errorf("the seller has %d, and the buyer %d", sold, bought)
		}
		wantFault(t, seller.get(t, spot+"/rewards/explain?date=2026-11-16"), http.StatusForbidden, "forbidden")
		buyer.get(t, spot+"/rewards/explain?date=2026-11-16").want(t, http.StatusOK)
		s.closed(t, s.anyone(t, "admin"), "2026-11-15")
		if now, _ := sums(); now != sold {
			t.Errorf("the seller had %d, and has %d once the day is closed", sold, now)
		}
		if e := seller.get(t, spot+"/rewards/explain?date=2026-11-15"); e.StatusCode != http.StatusOK {
			t.Errorf("what the seller earned is explained by %s", e)
		}
		if n := len(s.changes(t, beacon.HotspotHandedOver)); n != 1 {
			t.Errorf("the audit has %d hand-overs", n)
		}
	})
}

// The former operator no longer sees what only the operator and staff see.
func TestHandOver_HidesFromTheFormerOwner(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		seller, buyer := s.owner(t), s.owner(t)
		m := seller.install(t, 1, "type", `"home"`)
		s.verify(t, m.hotspot)
		m.beat(t, beat(1)).want(t, http.StatusOK)
		s.blur(t, "blur")
		blurred := data[hotspot](t, s.owner(t).get(t, m.hotspot), http.StatusOK)
		seller.give(t, m.hotspot, buyer)
		old, is, other := data[hotspot](t, seller.get(t, m.hotspot), http.StatusOK), data[hotspot](t, buyer.get(t, m.hotspot), http.StatusOK), data[hotspot](t, s.owner(t).get(t, m.hotspot), http.StatusOK)
		wantEqual(t, "what the former owner sees", old, other)
		if other.OperatorID != blurred.OperatorID || other.OperatorID == string(buyer.user) || is.OperatorID != string(buyer.user) {
			t.Errorf("strangers saw %s and see %s as the operator; it is %s", blurred.OperatorID, other.OperatorID, is.OperatorID)
		}
		if old.Location == is.Location {
			t.Error("the former owner sees where the home is")
		}
	})
}

// A code is shown once, and whoever has it can take the hotspot over once, within a week.
func TestHandOver_ByCode(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		seller, buyer, stranger := s.owner(t), s.owner(t), s.owner(t)
		spot := "/v1/hotspots/" + seller.register(t, 1).ID
		first := seller.post(t, spot+"/offer", `{}`, "Idempotency-Key", "sell")
		made := data[offer](t, first, http.StatusCreated)
		if !regexp.MustCompile(`^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$`).MatchString(made.Code) || made.To != "" {
			t.Errorf("offered %+v", made)
		}
		if again := data[offer](t, seller.post(t, spot+"/offer", `{}`, "Idempotency-Key", "sell"), http.StatusCreated); again != made {
			t.Errorf("repeated: %+v", again)
		}
		if read := data[offer](t, seller.get(t, spot+"/offer"), http.StatusOK); read.Code != "" {
			t.Error("the code is shown again")
		}
		accept := func(c client, code string) answer {
			t.Helper()
			return c.post(t, spot+"/offer/acceptance", at(`{"code":%q}`, code))
		}
		for _, code := range []string{"", "0000-0000-0000-0000", made.Code[:18], "x"} {
			wantFault(t, accept(stranger, code), http.StatusNotFound, "not_found")
		}
		wantFault(t, accept(seller, made.Code), http.StatusConflict, "conflict") // it is theirs

		// A new offer replaces it.
		next := data[offer](t, seller.post(t, spot+"/offer", `{}`), http.StatusCreated)
		wantFault(t, accept(buyer, made.Code), http.StatusNotFound, "not_found")
		seller.post(t, spot+"/offer", toUser(stranger)).want(t, http.StatusCreated)
		wantFault(t, accept(buyer, next.Code), http.StatusNotFound, "not_found")
		stranger.delete(t, spot+"/offer").want(t, http.StatusNoContent)
		wantFault(t, stranger.post(t, spot+"/offer/acceptance", `{}`), http.StatusNotFound, "not_found")
		wantEqual(t, "the audit", s.notes(t, beacon.OfferMade), []string{"to whoever has its code", "to whoever has its code", "to " + string(stranger.user)})

		late := data[offer](t, seller.post(t, spot+"/offer", `{}`), http.StatusCreated)
		s.advance(beacon.OfferLasts)
		wantFault(t, accept(buyer, late.Code), http.StatusNotFound, "not_found")
		wantFault(t, seller.get(t, spot+"/offer"), http.StatusNotFound, "not_found")
		last := data[offer](t, seller.post(t, spot+"/offer", `{}`), http.StatusCreated)
		s.advance(beacon.OfferLasts - time.Millisecond)
		accept(buyer, " "+strings.ToLower(strings.ReplaceAll(last.Code, "-", ""))).want(t, http.StatusOK)
		wantFault(t, accept(stranger, last.Code), http.StatusNotFound, "not_found")
	})
}

func TestHandOver_Refused(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, other, admin, staff := s.owner(t), s.owner(t), s.anyone(t, "admin"), s.anyone(t, "hotspots:verify")
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		const nope = "/v1/hotspots/hs_01kb3gzk00e9x8q6s5t4v3w2y1"
		for _, path := range []string{nope, "/v1/hotspots/hs_nope"} {
			wantFault(t, c.post(t, path+"/offer", `{}`), http.StatusNotFound, "not_found")
			wantFault(t, c.get(t, path+"/offer"), http.StatusNotFound, "not_found")
			wantFault(t, c.delete(t, path+"/offer"), http.StatusNotFound, "not_found")
			wantFault(t, c.post(t, path+"/offer/acceptance", `{}`), http.StatusNotFound, "not_found")
			wantFault(t, staff.post(t, path+"/claim", at(`{"to_user_id":%q,"reason":"r"}`, other.user)), http.StatusNotFound, "not_found")
		}
		wantFault(t, c.post(t, spot+"/offer", `{"to_user_id":"usr_nope","to":1}`), http.StatusBadRequest, "invalid_request", "to_user_id", "to")
		wantFault(t, c.post(t, spot+"/offer", toUser(c)), http.StatusConflict, "conflict")
		wantFault(t, other.post(t, spot+"/offer", `{}`), http.StatusForbidden, "forbidden")
		wantFault(t, admin.post(t, spot+"/offer", `{}`), http.StatusForbidden, "forbidden") // see claim
		wantFault(t, staff.post(t, spot+"/offer", `{}`), http.StatusForbidden, "forbidden")
		wantFault(t, c.post(t, spot+"/offer/acceptance", `{"code":7}`), http.StatusBadRequest, "invalid_request", "code")

		// What waits counts toward the quota of who accepts.
		admin.do(t, "PUT", "/v1/users/"+string(other.user)+"/quota", `{"hotspots":1}`).want(t, http.StatusOK)
		mine := "/v1/hotspots/" + other.register(t, 2).ID
		c.post(t, spot+"/offer", toUser(other)).want(t, http.StatusCreated)
		wantFault(t, other.post(t, spot+"/offer/acceptance", `{}`), http.StatusForbidden, "forbidden")
		s.verify(t, spot)
		other.post(t, spot+"/offer/acceptance", `{}`).want(t, http.StatusOK)

		// Once a day.
		other.post(t, spot+"/offer", toUser(c)).want(t, http.StatusCreated)
		wantFault(t, c.post(t, spot+"/offer/acceptance", `{}`), http.StatusConflict, "conflict")
		s.advance(12 * time.Hour)
		c.post(t, spot+"/offer/acceptance", `{}`).want(t, http.StatusOK)

		// A deleted hotspot is not on offer, also once it is back.
		other.post(t, mine+"/offer", toUser(c)).want(t, http.StatusCreated)
		other.delete(t, mine).want(t, http.StatusNoContent)
		wantFault(t, c.post(t, mine+"/offer/acceptance", `{}`), http.StatusNotFound, "not_found")
		wantEqual(t, "what is on offer", data[[]listedOffer](t, c.get(t, offersPath), http.StatusOK), []listedOffer{})
		other.post(t, mine+restoration, "").want(t, http.StatusOK)
		wantFault(t, c.post(t, mine+"/offer/acceptance", `{}`), http.StatusNotFound, "not_found")

		// Nobody escapes a hold.
		s.advance(24 * time.Hour)
		c.post(t, spot+"/offer", toUser(other)).want(t, http.StatusCreated)
		hold := data[heldBack](t, staff.post(t, "/v1/holds", at(`{"operator_id":%q,"reason":"r","evidence":"e","until":"2026-12-10T00:00:00Z"}`, c.user)), http.StatusCreated)
		wantFault(t, other.post(t, spot+"/offer/acceptance", `{}`), http.StatusConflict, "conflict")
		wantFault(t, c.post(t, spot+"/offer", `{}`), http.StatusConflict, "conflict")
		staff.post(t, "/v1/holds/"+hold.ID+"/decisions", `{"action":"release","reason":"found"}`).want(t, http.StatusOK)
		other.post(t, spot+"/offer/acceptance", `{}`).want(t, http.StatusOK)
	})
}

// Staff give away what nobody looks after, but not to themselves, and not near their own.
func TestHandOver_Claim(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		ghost, heir, admin := s.owner(t), s.owner(t), s.anyone(t, "admin")
		staff, near, sold := s.anyone(t, "hotspots:verify"), s.anyone(t, "hotspots:verify", "hotspots:write", "keys:manage"), s.anyone(t, "hotspots:verify", "hotspots:write", "keys:manage")
		spot := "/v1/hotspots/" + ghost.register(t, 1).ID
		near.register(t, 2)
		theirs := "/v1/hotspots/" + sold.register(t, 3).ID
		sold.give(t, theirs, heir)
		claim := func(c client, to beacon.UserID) answer {
			t.Helper()
			return c.post(t, spot+"/claim", at(`{"to_user_id":%q,"reason":" they live there "}`, to))
		}
		wantFault(t, heir.post(t, spot+"/claim", `{}`), http.StatusForbidden, "forbidden")
		wantFault(t, staff.post(t, spot+"/claim", `{}`), http.StatusBadRequest, "missing_parameter", "to_user_id", "reason")
		wantFault(t, claim(staff, heir.user), http.StatusConflict, "conflict") // its operator has a key
		s.advance(beacon.GoneAfter - time.Minute)
		ghost.get(t, spot).want(t, http.StatusOK)
		if err := s.Keys.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.advance(time.Hour)
		wantFault(t, claim(staff, heir.user), http.StatusConflict, "conflict") // who has used it
		s.advance(beacon.GoneAfter)
		wantFault(t, claim(staff, staff.user), http.StatusForbidden, "forbidden")
		wantFault(t, claim(near, heir.user), http.StatusForbidden, "forbidden")
		wantFault(t, claim(admin, ghost.user), http.StatusConflict, "conflict")
		made := data[offer](t, claim(sold, heir.user), http.StatusCreated) // long ago
		if !made.ByStaff || made.To != string(heir.user) || made.Code != "" {
			t.Errorf("offered %+v", made)
		}
		data[offer](t, claim(staff, heir.user), http.StatusCreated)
		heir.post(t, spot+"/offer/acceptance", `{}`).want(t, http.StatusOK)
		notes := s.notes(t, beacon.OfferMade)
		if last := notes[len(notes)-1]; last != "to "+string(heir.user)+" by staff: they live there" {
			t.Errorf("the audit says %q", last)
		}
		if notes := s.notes(t, beacon.OfferRefused); len(notes) != 1 {
			t.Errorf("refused: %q", notes)
		}
	})
}

// Who handed a hotspot over decides nothing about it for a while: not about a hold, a flag or
// its verification.
func TestHandOver_FormerOwnersDecideNothing(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		judge, buyer, staff := s.anyone(t, "hotspots:verify", "hotspots:write", "keys:manage"), s.owner(t), s.anyone(t, "hotspots:verify")
		spot := "/v1/hotspots/" + judge.register(t, 1).ID
		s.verify(t, spot)
		id := strings.TrimPrefix(spot, "/v1/hotspots/")
		judge.give(t, spot, buyer)
		s.flag(t, beacon.Flag{Hotspot: beacon.HotspotID(id), Operator: buyer.user, Kind: beacon.TooRegular, Weight: 1})
		place := at(`{"hotspot_id":%q,"reason":"r","evidence":"e","until":"2026-11-30T00:00:00Z"}`, id)
		s.advance(24 * time.Hour)
		for name, a := range map[string]answer{
			"a hold": judge.post(t, "/v1/holds", place), "a flag": judge.delete(t, "/v1/review/"+id+"/too_regular?reason=seen"),
			"its verification": judge.delete(t, spot+"/verification"), "a flag, by the new owner": s.keyOf(t, buyer.user, accessCreation("hotspots:verify")).delete(t, "/v1/review/"+id+"/too_regular?reason=seen"),
		} {
			if a.StatusCode != http.StatusForbidden {
				t.Errorf("%s: %s", name, a)
			}
		}
		staff.delete(t, "/v1/review/"+id+"/too_regular?reason=seen").want(t, http.StatusNoContent)
		s.advance(31 * 24 * time.Hour)
		judge.delete(t, spot+"/verification").want(t, http.StatusNoContent)
	})
}

// An erasure of the seller leaves the hotspot to the buyer, whose archive does not say who had
// it, or what they did with it.
func TestHandOver_ErasureAndExport(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		seller, buyer := s.anyone(t, "hotspots:write", "keys:manage"), s.anyone(t, "hotspots:write", "keys:manage")
		spot := "/v1/hotspots/" + seller.register(t, 1).ID
		s.advance(24 * time.Hour)
		seller.give(t, spot, buyer)
		buyer.patch(t, spot, `{"name":"Bought"}`).want(t, http.StatusOK)
		if names, err := s.db.Hotspots.EverOf(t.Context(), seller.user, "", 10); len(names) != 0 || err != nil {
			t.Errorf("an erasure of the seller would delete %v, %v", names, err)
		}
		files := unpack(t, buyer.get(t, "/v1/users/me/export"))
		changes := files["changes.jsonl"]
		if strings.Contains(changes, "hotspot.registered") || !strings.Contains(changes, "hotspot.handed_over") || !strings.Contains(changes, "hotspot.updated") {
			t.Errorf("the buyer's archive has\n%s", changes)
		}
		if user := unpack(t, seller.get(t, "/v1/users/me/export"))["user.json"]; !strings.Contains(user, at(`"handed_over":{%q:["2026-11-16"]}`, strings.TrimPrefix(spot, "/v1/hotspots/"))) {
			t.Errorf("the seller is %s", user)
		}
		for name, text := range files {
			if strings.Contains(text, string(seller.user)) {
				t.Errorf("%s of the buyer's archive names the seller:\n%s", name, text)
			}
		}
	})
}
