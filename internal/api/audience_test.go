package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
)

// A new field or event needs a decision about who sees it: the document has none that the
// table does not have.
func TestAudience_EveryDetail(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, name := range []string{"Hotspot", "History"} {
		leaves(documented, name, doc.Components.Schemas[name].Value)
	}
	for _, kind := range regexp.MustCompile("`((?:hotspot|rewards)\\.[a-z_]+)`").FindAllStringSubmatch(doc.Paths.Find("/v1/events").Get.Description, -1) {
		documented[kind[1]] = true
	}
	feeds, err := openapi3.NewLoader().LoadFromData(openfeeds.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range feeds.Components.Schemas { // of what the interface does not have
		if schema.Value.Properties["clients"] != nil {
			documented["Feed.clients"] = true
		}
	}
	decided := map[string]bool{}
	for _, d := range beacon.Details() {
		decided[string(d)] = true
	}
	if diff := cmp.Diff(decided, documented); diff != "" {
		t.Errorf("the table of audiences (-) and the document (+) differ:\n%s", diff)
	}
}

// wholes are objects that are seen as a whole, or not at all.
var wholes = []beacon.Detail{"Hotspot.quality", beacon.LastUncounted, beacon.DeviceAgent}

// leaves collects the names of the fields that hold values.
func leaves(all map[string]bool, name string, s *openapi3.Schema) {
	if s.Items != nil {
		s = s.Items.Value
	}
	if len(s.Properties) == 0 || slices.Contains(wholes, beacon.Detail(name)) {
		all[name] = true
		return
	}
	for field, of := range s.Properties {
		leaves(all, name+"."+field, of.Value)
	}
}

// Each answer has what its reader may see, and null or nothing for the rest.
func TestAudience_Answers(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		operator, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		m := operator.install(t, 1, "settings", allSettings(t))
		s.verify(t, m.hotspot)
		m.beat(t, `{"boot_id":"b","seq":4,"clients":3,"rx_bytes":5000000000,"tx_bytes":0,"agent":{"version":"1.0.0"}}`).want(t, http.StatusOK)
		s.advance(time.Minute)
		m.beat(t, `{"boot_id":"b","seq":5,"clients":3,"rx_bytes":1000000,"tx_bytes":0}`).want(t, http.StatusOK) // its counters fell
		s.advance(time.Minute)
		m.beat(t, `{"boot_id":"b","seq":5,"clients":3,"rx_bytes":1000000,"tx_bytes":0}`).want(t, http.StatusOK) // repeated: does not count
		staff.post(t, m.hotspot+"/verification", `{"lat":0,"lng":0,"accuracy_m":5,"method":"gps"}`).want(t, http.StatusConflict)
		readers := map[string]struct {
			client
			beacon.Principal
		}{
			"operator":         {operator, beacon.Principal{User: operator.user}},
			"staff":            {staff, beacon.Principal{User: staff.user, Scopes: []beacon.Scope{beacon.HotspotsVerify}}},
			"admin":            {s.anyone(t, "admin"), beacon.Principal{Scopes: []beacon.Scope{beacon.Admin}}},
			"stranger":         {s.anyone(t), beacon.Principal{}},
			"another operator": {s.operator(t), beacon.Principal{}},
		}
		for who, reader := range readers {
			shown := map[string]bool{}
			for schema, path := range map[string]string{"Hotspot": m.hotspot, "History": m.hotspot + "/history?from=2026-11-15T12:00:00Z"} {
				values(shown, schema, data[any](t, reader.get(t, path), http.StatusOK))
			}
			for _, d := range beacon.Details() {
				if strings.HasPrefix(string(d), "H") && shown[string(d)] != reader.Sees(d, operator.user) && !optional[d] {
					t.Errorf("%s: is %s shown? %v", who, d, shown[string(d)])
				}
			}
		}
	})
}

// optional details are absent here: the hotspot has no address, is not verified, is not hidden
// (see TestHomePrivacy_Audience), and nobody has checked in.
var optional = map[beacon.Detail]bool{
	"Hotspot.location.approximate": true,
	"Hotspot.location.address":     true, "Hotspot.location.verified_at": true, beacon.ProvenUntil: true, "Hotspot.open_until": true, "Hotspot.opens_at": true,
	"Hotspot.quality": true,
}

// allSettings returns the settings of the document's example of a registration, which has
// all of them, with hours by which the hotspot is open in the middle of the day.
func allSettings(t *testing.T) string {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	example := doc.Paths.Find("/v1/hotspots").Post.RequestBody.Value.Content["application/json"].Examples["full"].Value.Value
	settings := example.(map[string]any)["settings"].(map[string]any)
	for name := range doc.Components.Schemas["SettingsForm"].Value.Properties {
		if settings[name] == nil {
			t.Errorf("the example of a registration has no setting %s", name)
		}
	}
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "America/New_York", "Etc/UTC")
}

// values collects the names of the fields that have values.
func values(all map[string]bool, name string, v any) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		all[name] = true
		for field, of := range v {
			values(all, name+"."+field, of)
		}
	case []any:
		for _, of := range v {
			values(all, name, of)
		}
	default:
		all[name] = true
	}
}

// The page shows the table as it is.
func TestAudience_Page(t *testing.T) {
	const path = "../../docs/privacy.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var fields, events strings.Builder
	for _, d := range slices.Sorted(slices.Values(beacon.Details())) {
		table := &events
		if d[0] < 'a' {
			table = &fields
		}
		fmt.Fprintf(table, "| `%s` | %s |\n", d, d.Audience())
	}
	rows := regexp.MustCompile("(\\| (Field|Event) \\| Who \\|\n\\|---\\|---\\|\n)(?:\\|.*\n)*")
	want := rows.ReplaceAllFunc(page, func(table []byte) []byte {
		head := rows.FindSubmatch(table)
		if string(head[2]) == "Field" {
			return append(head[1], fields.String()...)
		}
		return append(head[1], events.String()...)
	})
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(want), string(page)); diff != "" || len(rows.FindAll(page, -1)) != 2 {
		t.Errorf("docs/privacy.md differs from the table of audiences (-): run make generate\n%s", diff)
	}
}
