package client_test

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/client"
)

func save(t testing.TB, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// unused lists the operations of a document that none of some requests asked for.
func unused(t testing.TB, document []byte, calls []string) (operations []string) {
	t.Helper()
	var d struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	var literal, parametric []string // "/v1/keys/self" is not "/v1/keys/{id}"
	for path, methods := range d.Paths {
		for method := range methods {
			switch {
			case method == "parameters":
			case strings.Contains(path, "{"):
				parametric = append(parametric, strings.ToUpper(method)+" "+path)
			default:
				literal = append(literal, strings.ToUpper(method)+" "+path)
			}
		}
	}
	if len(literal)+len(parametric) < 20 {
		t.Fatalf("the document has %d operations", len(literal)+len(parametric))
	}
	used := map[string]bool{}
	for _, call := range calls {
		if slices.Contains(literal, call) {
			used[call] = true
			continue
		}
		for _, operation := range parametric {
			pattern := regexp.MustCompile(`\\\{[a-z_]+\\\}`).ReplaceAllString(regexp.QuoteMeta(operation), `[^/]+`)
			if regexp.MustCompile("^" + pattern + "$").MatchString(call) {
				used[operation] = true
			}
		}
	}
	for _, operation := range slices.Sorted(slices.Values(append(literal, parametric...))) {
		if !used[operation] {
			operations = append(operations, operation)
		}
	}
	return operations
}

// schemas says which type stands for which schema of the document.
var schemas = map[string]reflect.Type{
	"Person":              reflect.TypeFor[client.Person](),
	"Membership":          reflect.TypeFor[client.Membership](),
	"PersonDoors":         reflect.TypeFor[client.PersonDoors](),
	"PersonListed":        reflect.TypeFor[client.PersonListed](),
	"ListedSeat":          reflect.TypeFor[client.ListedSeat](),
	"Session":             reflect.TypeFor[client.Session](),
	"Passkey":             reflect.TypeFor[client.Passkey](),
	"RecoveryCodes":       reflect.TypeFor[client.RecoveryCodes](),
	"Members":             reflect.TypeFor[client.Members](),
	"Member":              reflect.TypeFor[client.Member](),
	"SignInLink":          reflect.TypeFor[client.SignInLink](),
	"Invitation":          reflect.TypeFor[client.Invitation](),
	"CreatedInvitation":   reflect.TypeFor[client.CreatedInvitation](),
	"PersonPatch":         reflect.TypeFor[client.PersonPatch](),
	"MemberPatch":         reflect.TypeFor[client.MemberPatch](),
	"InvitationForm":      reflect.TypeFor[client.InvitationForm](),
	"StaffInvitationForm": reflect.TypeFor[client.StaffInvitationForm](),
	"PersonDecision":      reflect.TypeFor[client.PersonDecision](),
	"AccountPatch":        reflect.TypeFor[client.AccountPatch](),
	"CodeForm":            reflect.TypeFor[client.CodeForm](),
	"Hotspot":             reflect.TypeFor[client.Hotspot](),
	"HotspotListed":       reflect.TypeFor[client.HotspotListed](),
	"HotspotSummary":      reflect.TypeFor[client.HotspotSummary](),
	"Registration":        reflect.TypeFor[client.Registration](),
	"Batch":               reflect.TypeFor[client.Batch](),
	"Outcome":             reflect.TypeFor[client.Outcome](),
	"Change":              reflect.TypeFor[client.Change](),
	"Changed":             reflect.TypeFor[client.Changed](),
	"SettingsChange":      reflect.TypeFor[client.SettingsForm](),
	"SettingsForm":        reflect.TypeFor[client.SettingsForm](),
	"Verification":        reflect.TypeFor[client.Verification](),
	"LinkCode":            reflect.TypeFor[client.LinkCode](),
	"Linked":              reflect.TypeFor[client.Linked](),
	"Enrolment":           reflect.TypeFor[client.Enrolment](),
	"EnrolmentPlace":      reflect.TypeFor[client.EnrolmentPlace](),
	"Enrolled":            reflect.TypeFor[client.Enrolled](),
	"CheckInForm":         reflect.TypeFor[client.CheckIn](),
	"CheckIn":             reflect.TypeFor[client.CheckedIn](),
	"Heartbeat":           reflect.TypeFor[client.Heartbeat](),
	"HeartbeatTaken":      reflect.TypeFor[client.HeartbeatTaken](),
	"DeletedHotspot":      reflect.TypeFor[client.DeletedHotspot](),
	"OfferForm":           reflect.TypeFor[client.OfferForm](),
	"ClaimForm":           reflect.TypeFor[client.ClaimForm](),
	"AcceptanceForm":      reflect.TypeFor[client.AcceptanceForm](),
	"Offer":               reflect.TypeFor[client.Offer](),
	"ListedOffer":         reflect.TypeFor[client.ListedOffer](),
	"Inventory":           reflect.TypeFor[client.Inventory](),
	"Overview":            reflect.TypeFor[client.Overview](),
	"Audit":               reflect.TypeFor[client.Audit](),
	"Operators":           reflect.TypeFor[client.Operators](),
	"Bookkeeping":         reflect.TypeFor[client.Bookkeeping](),
	"RewardsClock":        reflect.TypeFor[client.RewardsClock](),
	"ClockConfirmation":   reflect.TypeFor[client.ClockConfirmation](),
	"SettlementForm":      reflect.TypeFor[client.SettlementForm](),
	"Settlement":          reflect.TypeFor[client.Settlement](),
	"ReopeningForm":       reflect.TypeFor[client.ReopeningForm](),
	"Reopening":           reflect.TypeFor[client.Reopening](),
	"PolicyAdoption":      reflect.TypeFor[client.PolicyAdoption](),
	"AdoptedPolicy":       reflect.TypeFor[client.AdoptedPolicy](),
	"MacRelease":          reflect.TypeFor[client.MACRelease](),
	"ReleasedMac":         reflect.TypeFor[client.ReleasedMAC](),
	"ReplayForm":          reflect.TypeFor[client.ReplayForm](),
	"Replay":              reflect.TypeFor[client.Replay](),
	"Review":              reflect.TypeFor[client.Review](),
	"Neighbours":          reflect.TypeFor[client.Neighbours](),
	"History":             reflect.TypeFor[client.History](),
	"Coverage":            reflect.TypeFor[client.Coverage](),
	"Key":                 reflect.TypeFor[client.Key](),
	"KeyCreation":         reflect.TypeFor[client.KeyCreation](),
	"CreatedKey":          reflect.TypeFor[client.CreatedKey](),
	"QuotaForm":           reflect.TypeFor[client.QuotaForm](),
	"SettingsPatch":       reflect.TypeFor[client.NetworkSettingsPatch](),
	"Erasure":             reflect.TypeFor[client.Erasure](),
	"Pagination":          reflect.TypeFor[client.Pagination](),
	"Rewards":             reflect.TypeFor[client.Rewards](),
	"RewardsPlan":         reflect.TypeFor[client.RewardsPlan](),
	"RewardsEstimate":     reflect.TypeFor[client.RewardsEstimate](),
	"RewardsDays":         reflect.TypeFor[client.RewardsDays](),
	"RewardsDay":          reflect.TypeFor[client.RewardsDay](),
	"StartView":           reflect.TypeFor[client.StartView](),
	"RewardsMonth":        reflect.TypeFor[client.RewardsMonth](),
	"Hold":                reflect.TypeFor[client.Hold](),
	"HoldForm":            reflect.TypeFor[client.HoldForm](),
	"HoldDecision":        reflect.TypeFor[client.HoldDecision](),
	"HoldReply":           reflect.TypeFor[client.HoldReply](),
	"Explanation":         reflect.TypeFor[client.Explanation](),
	"Disc":                reflect.TypeFor[client.Disc](),
	"SimulatedCoverage":   reflect.TypeFor[client.CoverageSimulation](),
	"RewardsEstimates":    reflect.TypeFor[client.RewardsEstimates](),
	"StatementRow":        reflect.TypeFor[client.StatementRow](),
	"StatementTotals":     reflect.TypeFor[client.StatementTotals](),
	"Quota":               reflect.TypeFor[client.Quota](),
	"NetworkSettings":     reflect.TypeFor[client.NetworkSettings](),
	"ErrorBody":           reflect.TypeFor[client.ErrorBody](),
}

// apart are schemas that no type of ours has to have the shape of: envelopes,
// GeoJSON, and what is read or written by hand.
var apart = regexp.MustCompile(`Answer$|Page$|Features?$|Properties$|^(Point|Meta|Error|Problem|Link|BoundsForm|OperatingHours(Form|Change)|(WeeklyHours|HoursException)Form|CoverageHotspot|CoverageCluster|CoverageSimulation|Statement)$`)

// Every field of every schema is a field of the type that stands for it, and back.
func TestTypes_AreTheSchemas(t *testing.T) {
	t.Parallel()
	document := must(newClient(t, unlimited(t).url, "").OpenAPIJSON(t.Context()))(t)
	var d struct {
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	c := comparison{schemas: d.Components.Schemas, met: map[string]bool{}}
	for name, kind := range schemas {
		c.compare(t, name, schema{Ref: "#/components/schemas/" + name}, kind)
	}
	for name, s := range c.schemas {
		if s.Properties != nil && !c.met[name] && !apart.MatchString(name) {
			t.Errorf("no type stands for the schema %s", name)
		}
	}
	// A statement is read member by member, so its schema has one more: its rows.
	statement := c.schemas["Statement"]
	rows := statement.Properties["rows"]
	delete(statement.Properties, "rows")
	c.compare(t, "Statement", statement, reflect.TypeFor[client.Statement]())
	c.compare(t, "Statement.rows", rows, reflect.TypeFor[[]client.StatementRow]())
	// An item is a hotspot or a cluster.
	item := c.schemas["CoverageCluster"]
	maps.Copy(item.Properties, c.schemas["CoverageHotspot"].Properties)
	c.compare(t, "CoverageItem", item, reflect.TypeFor[client.CoverageItem]())
}

type schema struct {
	Ref        string `json:"$ref"`
	Properties map[string]schema
	Items      *schema
	OneOf      []schema
}

type comparison struct {
	schemas map[string]schema
	met     map[string]bool
}

// compare holds a type to a schema, and what is in it too.
func (c comparison) compare(t *testing.T, at string, s schema, kind reflect.Type) {
	t.Helper()
	if s.Ref != "" {
		name := strings.TrimPrefix(s.Ref, "#/components/schemas/")
		c.met[name] = true
		s = c.schemas[name]
	}
	for kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	if kind == reflect.TypeFor[client.SettingsForm]() {
		kind = client.SentSettings()
	}
	for _, one := range s.OneOf { // null, or all the fields of which the type has
		if resolved := c.schemas[strings.TrimPrefix(one.Ref, "#/components/schemas/")]; resolved.Properties != nil && len(s.OneOf) == 2 && s.OneOf[1].Ref == "" {
			if kind != reflect.TypeFor[json.RawMessage]() {
				c.compare(t, at, one, kind)
			}
		}
	}
	if s.Items != nil && kind.Kind() == reflect.Slice {
		c.compare(t, at+"[]", *s.Items, kind.Elem())
	}
	if s.Properties == nil {
		return
	}
	if kind.Kind() != reflect.Struct {
		t.Errorf("%s is an object in the document, and a %v here", at, kind)
		return
	}
	fields := fieldsOf(kind)
	want, got := slices.Sorted(maps.Keys(s.Properties)), slices.Sorted(maps.Keys(fields))
	if !slices.Equal(want, got) {
		t.Errorf("%s has the fields %v in the document, and %v here", at, want, got)
	}
	for name, property := range s.Properties {
		if field, ok := fields[name]; ok {
			c.compare(t, at+"."+name, property, field)
		}
	}
}

// fieldsOf gives the fields of a struct by their names on the wire.
func fieldsOf(kind reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, field := range reflect.VisibleFields(kind) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = field.Type
		}
	}
	return fields
}
