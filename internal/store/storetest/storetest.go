// Package storetest is the contract of every store, as tests: above all what databases
// silently do differently. It is not about one engine; what only one of them has is
// tested in that engine's package.
//
// Its invariant: every engine passes the same tests.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/store"
)

// Database opens a database. Each call opens one more node on the same database, a new
// one if node is empty.
type Database func(ctx context.Context, node string) (*store.DB, error)

// open opens a node that is closed at the end of the test.
func (d Database) open(t testing.TB) *store.DB {
	t.Helper()
	return d.openNode(t, "")
}

func (d Database) openNode(t testing.TB, node string) *store.DB {
	t.Helper()
	return Opened(t)(d(t.Context(), node))
}

// Opened returns a function that takes the result of opening a database, and closes it at
// the end of the test.
func Opened(t testing.TB) func(*store.DB, error) *store.DB {
	return func(db *store.DB, err error) *store.DB {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return db
	}
}

// Now is the time of the tests, with the microsecond precision of a store.
var Now = time.Date(2026, 11, 15, 12, 0, 0, 123_456_000, time.UTC)

// Run tests a store against the contract. Fresh creates an empty database.
func Run(t *testing.T, fresh func(t testing.TB) Database) {
	tests := []struct {
		name string
		run  func(*testing.T, Database)
	}{
		{"HotspotRoundTrip", hotspotRoundTrip},
		{"HotspotMinimal", hotspotMinimal},
		{"HotspotUnstorable", hotspotUnstorable},
		{"HotspotNotFound", hotspotNotFound},
		{"HotspotsOf", hotspotsOf},
		{"NamesOf", namesOf},
		{"HotspotsByID", hotspotsByID},
		{"EachHotspot", eachHotspot},
		{"Update", update},
		{"UpdateVerdicts", updateVerdicts},
		{"UpdateToTakenMAC", updateToTakenMAC},
		{"Delete", deleteFreesMAC},
		{"Restore", restore},
		{"MACTaken", macTaken},
		{"MACRace", macRace},
		{"Tallies", tallies},
		{"PruneIdempotency", pruneIdempotency},
		{"Once", once},
		{"OnceRace", onceRace},
		{"OnceTooMany", onceTooMany},
		{"HomePrivacy", homePrivacy},
		{"MapSettings", mapSettings},
		{"Identity", identity},
		{"People", people},
		{"Behind", behind},
		{"PeopleInvites", peopleInvites},
		{"PeopleSessions", peopleSessions},
		{"PeopleDoors", peopleDoors},
		{"PeopleRace", peopleRace},
		{"Erasures", erasures},
		{"EraseRows", eraseRows},
		{"Keys", keys},
		{"FirstKey", firstKey},
		{"FirstAdmin", firstAdmin},
		{"FirstKeys", firstKeys},
		{"KeyOrderAndUsers", keyOrderAndUsers},
		{"RevokeKey", revokeKey},
		{"TouchKeys", touchKeys},
		{"AppendBeats", appendBeats},
		{"BeatsAtOnce", beatsAtOnce},
		{"BeatsOvertake", beatsOvertake},
		{"TrimJournal", trimJournal},
		{"Watch", watch},
		{"JournalWhileTrimmed", journalWhileTrimmed},
		{"Records", records},
		{"EachRecord", eachRecord},
		{"ForgetRecords", forgetRecords},
		{"RecordsFenced", recordsFenced},
		{"Lease", takeLease},
		{"LeaseRace", leaseRace},
		{"Spans", spans},
		{"Clocks", clocks},
		{"AppendEvents", appendEvents},
		{"EventsOfTwoLeases", eventsOfTwoLeases},
		{"PruneEvents", pruneEvents},
		{"Announce", announce},
		{"AnnounceRace", announceRace},
		{"EachStatus", eachStatus},
		{"EnrolDevice", enrolDevice},
		{"EnrolRace", enrolRace},
		{"ForeignHotspots", foreignHotspots},
		{"LinkDevice", linkDevice},
		{"LinkRefused", linkRefused},
		{"LinkVerdicts", linkVerdicts},
		{"LinkRace", linkRace},
		{"NoteRefusal", noteRefusal},
		{"Flags", flags},
		{"FlagLines", flagLines},
		{"Overview", overview},
		{"Carried", carried},
		{"MACsAgain", macsAgain},
		{"CheckIns", checkIns},
		{"CheckInsBounded", checkInsBounded},
		{"CheckInsVouch", checkInsVouch},
		{"CheckInsRepeated", checkInsRepeated},
		{"DeviceAddresses", deviceAddresses},
		{"HashKey", hashKey},
		{"PutPages", putPages},
		{"PutPageRefused", putPageRefused},
		{"RowExtremes", rowExtremes},
		{"OwnedRecords", ownedRecords},
		{"RecordPage", recordPage},
		{"Standings", standings},
		{"StalePages", stalePages},
		{"SumRanges", sumRanges},
		{"SettleMonths", settleMonths},
		{"EditHolds", editHolds},
		{"HoldsRace", holdsRace},
		{"HeldDays", heldDays},
		{"SettleMany", settleMany},
		{"SettleRace", settleRace},
		{"AddTotals", addTotals},
		{"AddTotalsRace", addTotalsRace},
		{"FinishMonth", finishMonth},
		{"KeepPolicies", keepPolicies},
		{"BooksOfOneMoment", booksOfOneMoment},
		{"BooksEnd", booksEnd},
		{"BooksAtOnce", booksAtOnce},
		{"BooksOfHotspots", booksOfHotspots},
		{"ChangesOfEveryWrite", changesOfEveryWrite},
		{"Audit", audit},
		{"StreamsOfTwoNodes", streamsOfTwoNodes},
		{"SharedStream", sharedStream},
		{"NoLostUpdate", noLostUpdate},
		{"PoisonedOperation", poisonedOperation},
		{"PanickingEdit", panickingEdit},
		{"PanickingDone", panickingDone},
		{"CancelledContext", cancelledContext},
		{"LeavingMidway", leavingMidway},
		{"FullQueue", fullQueue},
		{"CloseDrains", closeDrains},
		{"Reopen", reopen},
		{"OpenAtOnce", openAtOnce},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, fresh(t))
		})
	}
}

// Actor performs every action in these tests.
var Actor = beacon.Actor{Key: "key_tester", User: "usr_tester", Request: "req_1"}

// Hotspot returns a hotspot with all fields set; each n has its own id and MAC.
func Hotspot(n int) beacon.Hotspot {
	at := Now.Add(time.Duration(n) * time.Millisecond)
	return beacon.Hotspot{
		ID:       beacon.HotspotID(id.Format(beacon.HotspotPrefix, at, uint64(n), uint64(n))),
		Operator: "usr_tester",
		Name:     fmt.Sprintf("Café №%d", n),
		Type:     beacon.Business,
		Location: beacon.Location{
			Point: geo.Point{Lat: 40.7128 + float64(n)*1e-7, Lng: -74.0060}, Address: "1 Main St", VerifiedAt: at.Add(time.Hour),
		},
		Device: beacon.Device{
			SSID: "Beacon", MAC: mac(n), LinkedAt: at.Add(2 * time.Hour), KeyHash: [32]byte{0, byte(n), 0xff, 31: 1},
			Agent: beacon.Agent{
				Version: "1.0.0", Model: "Café “AX” Router", Firmware: "OpenWrt 24.10.4", Kernel: "6.6.110", BSSID: "02:00:5e:00:00:01",
				Channel: 36, Radios: 2, At: at.Add(3 * time.Hour),
			},
		},
		PastHours: []beacon.PastHours{
			{Until: at.Add(time.Hour), Hours: nil},
			{Until: at.Add(2 * time.Hour), Hours: &beacon.OperatingHours{Timezone: "Etc/UTC", Weekly: []beacon.WeeklySpan{{Days: []beacon.Weekday{"sun"}, Open: 0, Close: 1440}}}},
		},
		PastService: []beacon.Period{{From: at.Add(-3 * time.Hour), Until: at.Add(-time.Hour)}, {From: at.Add(-time.Minute), Until: at}},
		Visits: []beacon.Visit{
			{At: at.Add(-time.Hour), Point: geo.Point{Lat: 40.71281, Lng: -74.00599}, AccuracyM: 4.5, Proves: true},
			{At: at, Point: geo.Point{Lat: 40.7, Lng: -74}, AccuracyM: 80},
			{At: at, Point: geo.Point{Lat: 40.7, Lng: -74}, Withdraws: true},
		},
		Vouches: []time.Time{at.Add(-2 * time.Hour), at.Add(-time.Hour)},
		Settings: everySetting(beacon.Settings{
			MaxConnections: 64, BandwidthLimitMbps: 99.5, CoverageRadiusM: 75,
			OperatingHours: &beacon.OperatingHours{
				Timezone:   "America/New_York",
				Weekly:     []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon", "tue"}, Open: 480, Close: 1320}},
				Exceptions: []beacon.HoursException{{Date: "2026-12-25", Closed: true}, {Date: "2026-12-24", Spans: []beacon.ExceptionSpan{{Open: 480, Close: 720}}}},
			},
		}),
		CreatedAt: at, UpdatedAt: at, Version: 1,
	}
}

// everySetting sets the settings that are still off.
func everySetting(s beacon.Settings) beacon.Settings {
	for _, field := range reflect.ValueOf(&s).Elem().Fields() {
		if field.Kind() == reflect.Bool {
			field.SetBool(true)
		} else if field.IsZero() {
			panic("give a hotspot a value of each setting")
		}
	}
	return s
}

func mac(n int) beacon.MAC {
	return beacon.MAC(fmt.Sprintf("02:00:5E:%02x:%02x:%02x", n>>16&0xff, n>>8&0xff, n&0xff))
}

// insert registers hotspots, which must succeed.
func insert(t testing.TB, db *store.DB, all ...beacon.Hotspot) {
	t.Helper()
	for _, h := range all {
		if err := db.Hotspots.InsertHotspot(t.Context(), h, Actor, nil); err != nil {
			t.Fatalf("InsertHotspot(%s) = %v", h.ID, err)
		}
	}
}

// equal compares whole values.
func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// wantKind checks that an error is a *beacon.Error of a kind. It must not be wrapped:
// the API checks for nothing else.
func wantKind(t testing.TB, what string, err error, kind beacon.Kind) {
	t.Helper()
	e, ok := err.(*beacon.Error) //nolint:errorlint // see above
	if !ok || e.Kind != kind {
		t.Errorf("%s: error %#v; want a *beacon.Error of kind %d", what, err, kind)
	}
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v; want %v", what, err, want)
	}
}

// wantHead checks how many changes a node has made.
func wantHead(t testing.TB, db *store.DB, n int64) {
	t.Helper()
	heads, err := db.Changes.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if heads[db.Node()] != n {
		t.Errorf("head of the node = %d; want %d", heads[db.Node()], n)
	}
}

// must returns v, and panics on an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var errVerdict = errors.New("the edit says no")
