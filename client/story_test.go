package client_test

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/client"
)

// TestEveryOperation lives through the end of a month with a hotspot, and uses all
// that the interface offers: the document says what that is.
func TestEveryOperation(t *testing.T) {
	t.Parallel()
	wire := new(recorder)
	s := start(t, "", "--rate-limit", "off", "--clock-start", "2026-10-31T23:50:00Z")
	key := s.key(t, "admin")
	operator := newClient(t, s.url, key, wire.option())
	h := registerAndRead(t, operator)
	linkAndBeat(t, operator, newClient(t, s.url, s.key(t, "hotspots:verify"), wire.option()), h)
	changeAndLook(t, operator, h)
	cover(t, operator, h)
	manageKeys(t, operator)
	s.stop(t)

	settleOctober(t, s.db)
	later := start(t, s.db, "--rate-limit", "off", "--clock-start", "2026-11-04T12:00:00Z")
	operator = newClient(t, later.url, key, wire.option())
	readRewards(t, operator, h)
	hear(t, operator, h)
	hold(t, operator, newClient(t, later.url, later.key(t, "hotspots:verify"), wire.option()), h)
	leave(t, operator, h)
	enrol(t, operator)
	meet(t, operator)
	handOver(t, operator)

	text := must(operator.OpenAPIJSON(t.Context()))(t)
	if yaml := must(operator.OpenAPIYAML(t.Context()))(t); !bytes.HasPrefix(yaml, []byte("openapi: 3.1")) {
		t.Errorf("the document begins with %.40s", yaml)
	}
	if want := []string{"POST /v1/devices/link", "GET /v1/openapi.json", "GET /v1/openapi.yaml"}; !slices.Equal(wire.bare, want) {
		t.Errorf("without a key went %v; want %v", wire.bare, want)
	}
	for _, operation := range unused(t, text, wire.made()) {
		t.Errorf("no method of the client asks for %s", operation)
	}
}

func registerAndRead(t *testing.T, c *client.Client) client.Hotspot {
	t.Helper()
	in := library(1)
	in.Settings = &client.SettingsForm{
		MaxConnections: new(80), BandwidthLimitMbps: new(250.5), CoverageRadiusM: new(120.0),
		OperatingHours: &client.OperatingHours{
			Timezone:   "America/New_York",
			Weekly:     []client.WeeklyHours{{Days: []string{"mon", "sun"}, Open: "00:00", Close: "24:00"}, {Days: []string{"sat"}, Open: "00:00", Close: "24:00"}},
			Exceptions: []client.HoursException{{Date: "2026-12-25", Closed: true}, {Date: "2026-12-31", Open: "10:00", Close: "02:00"}},
		},
	}
	made := must(c.RegisterHotspot(t.Context(), in))(t)
	of := client.Batch{Hotspots: []client.Registration{in, {Name: "No"}}}
	if got := must(c.RegisterHotspots(t.Context(), of))(t); len(got.Outcomes) != 2 || !errors.Is(got.Outcomes[0].Err(), client.ErrConflict) || got.Outcomes[1].Status != http.StatusBadRequest || got.Replayed {
		t.Errorf("the batch is answered with %+v", got)
	}
	if made.Name != in.Name || made.Location.Address == nil || *made.Location.Address != in.Location.Address || made.Status != client.Pending ||
		made.Settings.MaxConnections != 80 || *made.Settings.CoverageRadiusM != 120 || len(made.Settings.OperatingHours.Exceptions) != 2 || made.Replayed {
		t.Errorf("registered %+v", made)
	}
	read := must(c.Hotspot(t.Context(), made.ID))(t)
	if read.ID != made.ID || read.ETag != made.ETag || read.ETag == "" || !read.CreatedAt.Equal(made.CreatedAt) || read.Device != made.Device {
		t.Errorf("read %+v; registered %+v", read, made)
	}
	return made
}

func linkAndBeat(t *testing.T, c, staff *client.Client, h client.Hotspot) {
	t.Helper()
	verified := must(staff.VerifyHotspot(t.Context(), h.ID, client.Verification{Lat: h.Location.Lat, Lng: h.Location.Lng, AccuracyM: 5, Method: "gps"}))(t)
	if !verified.Location.Verified || verified.Location.VerifiedAt == nil {
		t.Errorf("verified %+v", verified.Location)
	}
	code := must(c.CreateLinkCode(t.Context(), h.ID))(t)
	linked := must(c.LinkDevice(t.Context(), code.Code, h.Device.MACAddress))(t)
	if linked.HotspotID != h.ID || linked.NextInS < 1 || !strings.HasSuffix(linked.HeartbeatPath, "/heartbeats") || !code.ExpiresAt.After(linked.LinkedAt) {
		t.Errorf("linked %+v by %+v", linked, code)
	}
	device := c.WithKey(linked.DeviceKey)
	for seq := range int64(3) {
		taken := must(device.SendHeartbeat(t.Context(), h.ID, client.Heartbeat{
			BootID: "boot", Seq: seq, Clients: 8, RxBytes: seq * 1e9, TxBytes: seq * 5e8, RSSIdBm: new(-50.0),
			Speedtest: &client.Speedtest{DownMbps: 300, UpMbps: 100, LatencyMS: 5},
		}))(t)
		if taken.Status != client.Online || taken.NextInS < 1 {
			t.Errorf("a heartbeat was taken with %+v", taken)
		}
	}
	in := client.CheckIn{Install: "0123456789abcdef", Works: true, Speed: &client.Speed{DownMbps: 90, UpMbps: 9}, RSSI: new(-60.0)}
	if done := must(c.CheckIn(t.Context(), h.ID, in))(t); done.HotspotID != h.ID || !done.Works || done.Counts || done.Reason != "own_hotspot" {
		t.Errorf("checked in with %+v", done)
	}
	if _, err := device.Hotspot(t.Context(), h.ID); !errors.Is(err, client.ErrForbidden) {
		t.Errorf("the key of a device opens a hotspot: %v", err)
	}
}

func changeAndLook(t *testing.T, c *client.Client, h client.Hotspot) {
	t.Helper()
	changed := must(c.ChangeHotspot(t.Context(), h.ID, client.Change{Name: new("Main Library"), Settings: &client.SettingsForm{AlwaysOpen: true}}))(t)
	if changed.Name != "Main Library" || changed.Settings.OperatingHours != nil || changed.ETag == h.ETag || changed.Settings.MaxConnections != 80 {
		t.Errorf("changed to %+v", changed)
	}
	found := must(c.Nearby(t.Context(), client.NearbyQuery{Lat: h.Location.Lat, Lng: h.Location.Lng, Radius: 50, Status: client.AnyStatus, Limit: 5}))(t)
	if len(found) != 1 || found[0].ID != h.ID || found[0].Status != client.Online || found[0].Location.Address != *h.Location.Address || found[0].SignalQuality != "excellent" {
		t.Errorf("nearby is %+v", found)
	}
	history := must(c.History(t.Context(), h.ID, client.HistoryQuery{
		From: time.Date(2026, 10, 31, 20, 0, 0, 0, time.FixedZone("somewhere", 3600)), To: time.Date(2026, 10, 31, 23, 59, 0, 0, time.UTC), Step: "1h",
	}))(t)
	if n := len(history.Points); n != 5 || history.Points[0].Uptime != nil || *history.Points[4].Clients != 8 || *history.Points[4].TrafficGB != 3e9 {
		t.Errorf("the history is %+v", history)
	}
	var listed []string
	for one, err := range c.Hotspots(t.Context(), "me") {
		listed = append(listed, must(one, err)(t).ID)
	}
	if !slices.Equal(listed, []string{h.ID}) {
		t.Errorf("one's own hotspots are %v", listed)
	}
	for text, want := range map[string]int{"LIBRARY": 1, "no such": 0} {
		if mine := must(c.SearchHotspots(t.Context(), "me", text, client.PageQuery{}))(t); mine.Total != want || len(mine.Items) != want {
			t.Errorf("one's own hotspots with %q are %+v; want %d", text, mine, want)
		}
	}
	if all := must(c.Inventory(t.Context()))(t); all.Linked != 1 || all.Reporting != 0 {
		t.Errorf("the inventory is %+v", all)
	}
	if log := must(c.Audit(t.Context(), client.AuditQuery{Kind: "hotspot.", Target: h.ID, Limit: 1}))(t); len(log.Changes) != 1 || log.Changes[0].Target != h.ID || log.Next == nil {
		t.Errorf("the audit is %+v", log)
	}
	if page := must(c.ListOperators(t.Context(), "", 1))(t); len(page.Operators) != 1 || page.Operators[0].Hotspots != 1 || page.Next == nil {
		t.Errorf("the operators are %+v", page)
	} else if rest := must(c.ListOperators(t.Context(), *page.Next, 0))(t); len(rest.Operators) != 0 || rest.Next != nil {
		t.Errorf("the other operators are %+v", rest)
	}
	if books := must(c.Bookkeeping(t.Context(), 2))(t); books.Months == nil || len(books.Months) > 2 {
		t.Errorf("the bookkeeping is %+v", books)
	}
	if _, err := c.ReplayRewards(t.Context(), client.ReplayForm{From: "2026-11-02", To: "2026-11-01"}); !errors.Is(err, client.ErrConflict) {
		t.Errorf("days that are not closed were replayed: %v", err)
	}
	keepBooks(t, c)
	if queue := must(c.Review(t.Context(), client.ReviewQuery{PageQuery: client.PageQuery{PerPage: 5}}))(t); queue.Total != 0 || queue.Flags == nil {
		t.Errorf("the review queue is %+v", queue)
	}
	if desk := must(c.Overview(t.Context()))(t); desk.Online != 1 || desk.Silent == nil || desk.Uptime == nil {
		t.Errorf("the overview is %+v", desk)
	}
	if around := must(c.Neighbours(t.Context(), h.ID))(t); around.Total != 0 || around.Neighbours == nil {
		t.Errorf("the neighbours are %+v", around)
	}
	if err := c.DismissFlag(t.Context(), h.ID, "too_regular", "visited"); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("dismissing what is not flagged: %v", err)
	}
	if all := must(c.ListHotspotsPage(t.Context(), client.ListQuery{Status: client.Online}, client.PageQuery{}))(t); all.Total != 1 || all.Items[0].ID != h.ID {
		t.Errorf("online are %+v", all)
	}
}

func keepBooks(t *testing.T, c *client.Client) {
	t.Helper()
	clock := must(c.RewardsClock(t.Context()))(t)
	if len(clock.Clocks) == 0 || clock.Clocks[0].Name != "server" || clock.Waiting {
		t.Errorf("the clocks are %+v", clock)
	}
	if after := must(c.ConfirmRewardsClock(t.Context(), clock.Clocks[0].Says.Format(time.DateOnly)))(t); after.Certain == nil {
		t.Errorf("after a date was confirmed, the clocks are %+v", after)
	}
	if _, err := c.SettleMonth(t.Context(), clock.Clocks[0].Says.Format("2006-01"), client.SettlementForm{Early: true}); !errors.Is(err, client.ErrConflict) {
		t.Errorf("settling a month that is not over: %v", err)
	}
	if _, err := c.ReopenDays(t.Context(), client.ReopeningForm{From: "2099-01-01"}); !errors.Is(err, client.ErrConflict) {
		t.Errorf("opening a day that is not closed: %v", err)
	}
	terms := client.PolicyForm{Availability: "2", Performance: client.TierForm{Standard: "0", Enhanced: "0.1", Premium: "0.2"}, UtilizationPerGB: "0", UtilizationCap: "0"}
	if a := must(c.AdoptPolicy(t.Context(), client.PolicyAdoption{From: "2099-01-01", Policy: &terms}))(t); a.Confirmed || a.Policy.Availability.String() != "2" {
		t.Errorf("adopting would do %+v", a)
	}
	if _, err := c.ReleaseMAC(t.Context(), client.MACRelease{MACAddress: "02:00:5e:99:99:99", Reason: "sold"}); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("releasing what is not reserved: %v", err)
	}
}

func cover(t *testing.T, c *client.Client, h client.Hotspot) {
	t.Helper()
	box := client.Bounds{North: 40.76, South: 40.75, East: -73.98, West: -73.99}
	seen := must(c.Coverage(t.Context(), client.CoverageQuery{Bounds: box, Zoom: new(15.0)}))(t)
	if seen.HotspotCount != 1 || seen.Aggregated || seen.Hotspots[0].ID != h.ID || seen.Hotspots[0].RadiusM != 120 || seen.Bounds != box || !(seen.CoverageAreaKM2 > 0.04) {
		t.Errorf("the coverage is %+v", seen)
	}
	far := must(c.Coverage(t.Context(), client.CoverageQuery{Bounds: box, Zoom: new(3.0)}))(t)
	if !far.Aggregated || far.Hotspots[0].Count != 1 || far.Hotspots[0].OnlineCount != 1 || far.CoverageAreaKM2 != seen.CoverageAreaKM2 {
		t.Errorf("from far away, the coverage is %+v", far)
	}
	more := must(c.SimulateCoverage(t.Context(), box, client.Disc{Lat: 40.757, Lng: -73.985, RadiusM: 100}))(t)
	if more.BeforeKM2 != seen.CoverageAreaKM2 || !(more.AddedKM2 > 0.02) || more.AfterKM2 <= more.BeforeKM2 {
		t.Errorf("one more hotspot adds %+v", more)
	}
	if none := must(c.SimulateCoverage(t.Context(), box))(t); none.AddedKM2 != 0 || none.AfterKM2 != seen.CoverageAreaKM2 {
		t.Errorf("nothing adds %+v", none)
	}
	plan := must(c.EstimateRewards(t.Context(), client.LatLng{Lat: 1, Lng: 2}, client.LatLng{Lat: 1, Lng: 2}))(t)
	if len(plan) != 2 || plan[0].FreeGround != 1 || plan[0].Most != 45_000_000 || plan[0].Expected != nil || plan[1].FreeGround != 0 || plan[1].Lng != 2 {
		t.Errorf("two at a place without neighbours might earn %+v", plan)
	}
	tile := must(c.CoverageTile(t.Context(), 0, 0, 0, ""))(t)
	if len(tile.Data) == 0 || tile.ETag == "" || tile.Unchanged || !bytes.Contains(tile.Data, []byte("hotspots")) {
		t.Errorf("the tile of the world is %+v", tile)
	}
	if again := must(c.CoverageTile(t.Context(), 0, 0, 0, tile.ETag))(t); !again.Unchanged || len(again.Data) != 0 || again.ETag != tile.ETag {
		t.Errorf("the same tile is %+v", again)
	}
	body := must(c.Download(t.Context(), "/v1/coverage?north=40.76&south=40.75&east=-73.98&west=-73.99", "application/geo+json"))(t)
	defer body.Close()
	if text := must(io.ReadAll(body))(t); !bytes.HasPrefix(text, []byte(`{"type":"FeatureCollection"`)) {
		t.Errorf("as GeoJSON, the coverage is %s", text)
	}
}

func manageKeys(t *testing.T, c *client.Client) {
	t.Helper()
	self := must(c.OwnKey(t.Context()))(t)
	made := must(c.CreateKey(t.Context(), client.KeyCreation{Name: "reader", ExpiresAt: new(self.CreatedAt.Add(1000 * time.Hour))}))(t)
	if made.UserID != self.UserID || made.Name != "reader" || len(made.Scopes) != 0 || made.ExpiresAt == nil {
		t.Errorf("made the key %s", made.ID)
	}
	if own := must(c.WithKey(made.Secret).OwnKey(t.Context()))(t); own.ID != made.ID {
		t.Errorf("the new key is %+v", own)
	}
	names := map[string]bool{}
	for key, err := range c.Keys(t.Context(), self.UserID) {
		names[must(key, err)(t).ID] = true
	}
	if len(names) != 2 || !names[self.ID] || !names[made.ID] {
		t.Errorf("the keys are %v", names)
	}
	if err := c.RevokeKey(t.Context(), made.ID); err != nil {
		t.Error(err)
	}
	if _, err := c.WithKey(made.Secret).OwnKey(t.Context()); !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("a revoked key is answered with %v", err)
	}
}

// enrol lets a device register a hotspot.
func enrol(t *testing.T, c *client.Client) {
	t.Helper()
	now := time.Date(2026, 11, 4, 12, 0, 0, 0, time.UTC)
	in := client.KeyCreation{Scopes: []string{client.ScopeDevicesEnrol}, MaxEnrolments: 1, MayRegister: true, ExpiresAt: new(now.Add(24 * time.Hour))}
	key := must(c.CreateKey(t.Context(), in))(t)
	if key.MaxEnrolments != 1 || !key.MayRegister || key.Enrolments != 0 || len(key.Hotspots) != 0 {
		t.Errorf("made the key %+v", key.KeyDetails)
	}
	device := client.Enrolment{MACAddress: "02:00:5e:10:00:77", Type: client.Public, Location: &client.EnrolmentPlace{Latitude: 40.7, Longitude: -74}}
	done := must(c.WithKey(key.Secret).EnrolDevice(t.Context(), device))(t)
	if !done.Registered || done.NextInS < 1 || done.DeviceKey == "" {
		t.Errorf("enrolled %+v", done)
	}
	if _, err := c.WithKey(key.Secret).EnrolDevice(t.Context(), device); !errors.Is(err, client.ErrForbidden) {
		t.Errorf("a key that is used up is answered with %v", err)
	}
	if err := c.DeleteHotspot(t.Context(), done.HotspotID, ""); err != nil {
		t.Error(err)
	}
}

// handOver gives a hotspot to another account by name, and to the next one by a code; and staff
// give one whose operator is gone.
func handOver(t *testing.T, admin *client.Client) {
	t.Helper()
	account := func(n int) (*client.Client, client.CreatedKey) {
		t.Helper()
		key := must(admin.CreateKey(t.Context(), client.KeyCreation{UserID: "new", Name: "n", Scopes: []string{client.ScopeHotspotsWrite, client.ScopeKeysManage}}))(t)
		return admin.WithKey(key.Secret), key
	}
	seller, _ := account(1)
	buyer, named := account(2)
	h := must(seller.RegisterHotspot(t.Context(), library(0x91)))(t)
	made := must(seller.OfferHotspot(t.Context(), h.ID, client.OfferForm{ToUserID: named.UserID}))(t)
	if made.Code != "" || made.ToUserID != named.UserID || made.ByStaff || made.ExpiresAt.Sub(made.OfferedAt) != 7*24*time.Hour {
		t.Errorf("offered %+v", made)
	}
	if got := must(buyer.Offer(t.Context(), h.ID))(t); got != made {
		t.Errorf("the offer is %+v, want %+v", got, made)
	}
	if got := must(buyer.Offers(t.Context(), "me"))(t); len(got) != 1 || got[0].HotspotID != h.ID || got[0].Name != h.Name || got[0].Type != client.Public {
		t.Errorf("the offers are %+v", got)
	}
	if err := buyer.EndOffer(t.Context(), h.ID); err != nil {
		t.Error(err)
	}
	code := must(seller.OfferHotspot(t.Context(), h.ID, client.OfferForm{}))(t).Code
	if _, err := buyer.AcceptOffer(t.Context(), h.ID, ""); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("without the code: %v", err)
	}
	if took := must(buyer.AcceptOffer(t.Context(), h.ID, strings.ToLower(code)))(t); took.ID != h.ID || took.ETag == h.ETag {
		t.Errorf("took over %+v", took)
	}
	if is := must(seller.Hotspot(t.Context(), h.ID))(t); is.OperatorID != named.UserID {
		t.Errorf("it is of %s", is.OperatorID)
	}

	ghost, key := account(3)
	orphan := must(ghost.RegisterHotspot(t.Context(), library(0x92)))(t)
	claim := client.ClaimForm{ToUserID: named.UserID, Reason: "they live there"}
	staff := must(admin.CreateKey(t.Context(), client.KeyCreation{UserID: "new", Name: "staff", Scopes: []string{client.ScopeHotspotsVerify}}))(t)
	if _, err := admin.WithKey(staff.Secret).ClaimHotspot(t.Context(), orphan.ID, claim); !errors.Is(err, client.ErrConflict) {
		t.Errorf("its operator is there: %v", err)
	}
	if err := admin.RevokeKey(t.Context(), key.ID); err != nil {
		t.Error(err)
	}
	if made := must(admin.WithKey(staff.Secret).ClaimHotspot(t.Context(), orphan.ID, claim))(t); !made.ByStaff {
		t.Errorf("offered %+v", made)
	}
	must(buyer.AcceptOffer(t.Context(), orphan.ID, ""))(t)
}

// settleOctober lets a server close the days, and settles the month.
func hear(t *testing.T, c *client.Client, h client.Hotspot) {
	t.Helper()
	var heard []string
	for event, err := range c.Events(t.Context(), client.FromOldest) {
		event = must(event, err)(t)
		heard = append(heard, event.Type)
		if event.Type == "rewards.settled" {
			if event.Period != "2026-10" || event.UserID == "" {
				t.Errorf("the settlement is told as %+v", event)
			}
			break
		}
		if event.HotspotID != h.ID || event.At.IsZero() {
			t.Errorf("an event is %+v", event)
		}
	}
	for _, kind := range []string{"hotspot.registered", "hotspot.verified", "hotspot.linked", "hotspot.updated", "rewards.settled"} {
		if !slices.Contains(heard, kind) {
			t.Errorf("%s is not among %v", kind, heard)
		}
	}
}

func hold(t *testing.T, operator, staff *client.Client, h client.Hotspot) {
	t.Helper()
	until := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	placed := must(staff.PlaceHold(t.Context(), client.HoldForm{HotspotID: h.ID, Reason: "no radio", Evidence: "photo 7", Until: until}))(t)
	answered := must(operator.AnswerHold(t.Context(), placed.ID, "it is on the roof"))(t)
	if placed.Status != "active" || *placed.HotspotID != h.ID || !placed.Until.Equal(until) || answered.Answer == nil || answered.Answer.Text != "it is on the roof" {
		t.Errorf("placed %+v, answered %+v", placed, answered)
	}
	if e := must(operator.ExplainRewards(t.Context(), h.ID, ""))(t); e.Hold == nil || e.Hold.ID != placed.ID {
		t.Errorf("today is explained by %+v", e)
	}
	if over := must(staff.DecideHold(t.Context(), placed.ID, client.HoldDecision{Action: "release", Reason: "found"}))(t); over.Status != "released" || over.Ended == nil {
		t.Errorf("after the release: %+v", over)
	}
	for _, all := range []iter.Seq2[client.Hold, error]{operator.Holds(t.Context(), "me"), staff.Holds(t.Context(), "")} {
		n := 0
		for one, err := range all {
			if n++; err != nil || one.ID != placed.ID || one.Status != "released" {
				t.Errorf("a hold is %+v, %v", one, err)
			}
		}
		if n != 1 {
			t.Errorf("there are %d holds", n)
		}
	}
}

func leave(t *testing.T, c *client.Client, h client.Hotspot) {
	t.Helper()
	if err := c.UnlinkDevice(t.Context(), h.ID); err != nil {
		t.Error(err)
	}
	if err := c.WithdrawVerification(t.Context(), h.ID, "the library has moved"); err != nil {
		t.Error(err)
	}
	archive := must(c.Export(t.Context(), "me"))(t)
	if text := must(io.ReadAll(archive))(t); !bytes.HasPrefix(text, []byte("PK")) {
		t.Errorf("the archive begins with %.40q", text)
	}
	archive.Close()
	if set := must(c.SetQuota(t.Context(), "me", client.QuotaForm{Keys: new(7)}))(t); set.Keys != 7 || must(c.Quota(t.Context(), "me"))(t) != set {
		t.Errorf("the quota is %+v", set)
	}
	if asked := must(c.AskErasure(t.Context(), "me"))(t); asked.Status != client.ErasureWaits || must(c.Erasure(t.Context(), "me"))(t).DueAt == nil {
		t.Errorf("the erasure is %+v", asked)
	}
	if err := c.WithdrawErasure(t.Context(), "me"); err != nil || must(c.Erasure(t.Context(), "me"))(t).Status != client.NoErasure {
		t.Error(err)
	}
	blur := must(c.ChangeNetworkSettings(t.Context(), client.NetworkSettingsPatch{HomePrivacy: client.HomesBlurred}))(t)
	if blur.HomePrivacy != client.HomesBlurred || must(c.NetworkSettings(t.Context()))(t) != blur {
		t.Errorf("the settings are %+v", blur)
	}
	must(c.ChangeHotspot(t.Context(), h.ID, client.Change{
		Location: &client.PlaceChange{Lat: new(41.0), Address: new("The new library")}, Device: &client.AccessPointChange{SSID: new("moved")},
	}))(t)
	if there := must(c.Hotspot(t.Context(), h.ID))(t); there.Location.Lat != 41 || there.Location.UnverifiedReason == "" || there.Device.SSID != "moved" || there.Status != client.Pending {
		t.Errorf("after its move it is %+v", there)
	}
	if err := c.DeleteHotspot(t.Context(), h.ID, `"v1"`); !errors.Is(err, client.ErrConflict) {
		t.Errorf("a hotspot of another version was deleted: %v", err)
	}
	if err := c.DeleteHotspot(t.Context(), h.ID, ""); err != nil {
		t.Error(err)
	}
	if _, err := c.Hotspot(t.Context(), h.ID); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("a deleted hotspot is answered with %v", err)
	}
	gone := must(c.DeletedHotspots(t.Context(), "me"))(t)
	if len(gone) != 1 || gone[0].ID != h.ID || gone[0].RestorableUntil.Sub(gone[0].DeletedAt) != 24*time.Hour {
		t.Errorf("what can be brought back is %+v", gone)
	}
	back := must(c.RestoreHotspot(t.Context(), h.ID))(t)
	if there := must(c.Hotspot(t.Context(), h.ID))(t); back.ID != h.ID || back.ETag == "" || there.ETag != back.ETag || there.Location.Lat != 41 {
		t.Errorf("it is back as %+v, then %+v", back, there)
	}
}

// meet has a key invite people; what is about a person who is signed in, it cannot have.
func meet(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	const nobody = "per_01kb3gzk00e9x8q6s5t4v3w2y1"
	user := must(c.OwnKey(ctx))(t).UserID
	if named := must(c.NameAccount(ctx, user, "Ada's place"))(t); named.Name != "Ada's place" || named.Account != user {
		t.Errorf("after it was named: %+v", named)
	}
	if members := must(c.Members(ctx, user))(t); len(members.Items) > 0 {
		t.Errorf("the members are %+v", members)
	}
	made := must(c.Invite(ctx, user, client.InvitationForm{Role: client.RoleViewer}))(t)
	if all := must(c.Invitations(ctx, user))(t); len(all) != 1 || all[0].ID != made.ID || made.Link == "" {
		t.Errorf("the invitations are %+v, and the new one is %+v", all, made)
	}
	staff := must(c.InviteStaff(ctx, client.StaffInvitationForm{Posts: []string{client.PostAuditor}}))(t)
	if all := must(c.StaffInvitations(ctx))(t); len(all) != 1 || all[0].ID != staff.ID {
		t.Errorf("the invitations of the network are %+v", all)
	}
	for _, err := range []error{c.RevokeInvitation(ctx, user, made.ID), c.RevokeStaffInvitation(ctx, staff.ID)} {
		if err != nil {
			t.Error(err)
		}
	}
	for person, err := range c.People(ctx, "") {
		t.Errorf("there is %v, %v", person, err)
	}
	refused := func(code string, errs ...error) {
		t.Helper()
		for i, err := range errs {
			if fault, ok := errors.AsType[*client.Error](err); !ok || fault.Code != code {
				t.Errorf("%d: %v; want %s", i, err, code)
			}
		}
	}
	_, me := c.Me(ctx)
	_, changed := c.ChangeMe(ctx, client.PersonPatch{})
	_, sessions := c.MySessions(ctx)
	_, passkeys := c.MyPasskeys(ctx)
	_, codes := c.CreateMyCodes(ctx)
	refused("forbidden", me, changed, sessions, passkeys, codes, c.ConfirmMyCodes(ctx, "x"), c.DeleteMyPasskey(ctx, "x"), c.EndMySession(ctx, "x"), c.EndMyOtherSessions(ctx))
	_, person := c.Person(ctx, nobody)
	_, decided := c.DecidePerson(ctx, nobody, client.PersonDecision{})
	_, linked := c.LinkPerson(ctx, nobody)
	_, member := c.ChangeMember(ctx, user, nobody, client.MemberPatch{})
	_, memberLink := c.LinkMember(ctx, user, nobody)
	refused("not_found", person, decided, linked, member, memberLink, c.ErasePerson(ctx, nobody), c.RemoveMember(ctx, user, nobody))
}
