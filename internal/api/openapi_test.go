package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	shapes "github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
	"github.com/beacon-wifi/beacon/test/openapi"
)

var update = flag.Bool("update", false, "rewrite openapi.json from openapi.yaml")

func TestOpenAPI_JSONIsTheYAML(t *testing.T) {
	openapi.CheckJSON(t, api.OpenAPI(), "openapi.json", *update)
}

func TestOpenAPI_Schemas(t *testing.T) { openapi.CheckSchemas(t, api.OpenAPI()) }

func TestOpenAPI_IsServed(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	a := s.call(t, "GET", "/v1/openapi.yaml", "") // without a key
	if string(a.body) != string(api.OpenAPI()) || a.Header.Get("Content-Type") != "application/yaml; charset=utf-8" {
		t.Errorf("openapi.yaml answered %d, %s", a.StatusCode, a.Header.Get("Content-Type"))
	}
	document := decode[struct {
		OpenAPI string
		Info    struct{ Version string }
	}](t, s.call(t, "GET", "/v1/openapi.json", ""))
	if document.OpenAPI != "3.1.0" || document.Info.Version != "1.0.0" {
		t.Errorf("openapi.json is OpenAPI %s of the interface's version %s", document.OpenAPI, document.Info.Version)
	}
}

// Each route is in the document, and back.
func TestOpenAPI_NamesEveryRoute(t *testing.T) {
	api := api.New(api.Config{})
	if diff := cmp.Diff(api.Routes(), document(t).Operations()); diff != "" {
		t.Errorf("served (-) and documented (+) routes differ:\n%s", diff)
	}
}

// Every example is what the server sends, but for ids and keys, which are
// others every time.
func TestOpenAPI_Examples(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		cast := newCast(t, s)
		examples := s.document.Examples(t)
		if len(examples) < 25 {
			t.Fatalf("found %d examples; the document has at least 25", len(examples))
		}
		for _, example := range examples {
			a := cast.play(t, example.Request)
			var got any = string(a.body)
			if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/csv") {
				if err := json.Unmarshal(a.body, &got); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(masked(t, example.Value), masked(t, got), nearlyEqual); diff != "" {
				t.Errorf("%s: document (-) and server (+) differ:\n%s", example.Name, diff)
			}
		}
	})
}

// nearlyEqual lets another machine round the last digit of an area in another way.
var nearlyEqual = cmpopts.EquateApprox(1e-9, 0)

// Every body that the document shows is accepted.
func TestOpenAPI_RequestExamples(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.anyone(t, "admin")
		hotspot := data[hotspot](t, c.post(t, "/v1/hotspots", readingRoom), http.StatusCreated).ID
		m := machine{hotspot: "/v1/hotspots/" + hotspot}
		m.client = client{server: s, plain: data[linked](t, s.tryLink(t, c.newCode(t, m.hotspot), "02005e100001"), http.StatusOK).DeviceKey}
		examples := s.document.RequestExamples()
		if len(examples) < 6 {
			t.Fatalf("found %d examples; the document has at least 6", len(examples))
		}
		ada := c.invites(t, `{"account":"new"}`, "Ada")
		for _, example := range examples {
			body, err := json.Marshal(example.Value)
			if err != nil {
				t.Fatal(err)
			}
			sender, subject := c, hotspot
			switch example.Path {
			case "/v1/people/me", "/v1/people/me/codes/confirmation", "/v1/users/{id}/members/{person}": // for people
				ada.sends(t, example, body)
				continue
			case "/v1/people/{id}":
				subject = ada.me.ID
			case "/v1/users/{id}/quota", "/v1/users/{id}", "/v1/users/{id}/invitations":
				subject = "me"
			case "/v1/holds":
				sender, body = s.anyone(t, "hotspots:verify"), bytes.Replace(body, []byte("hs_01kb3gzk00e9x8q6s5t4v3w2y1"), []byte(hotspot), 1)
			case "/v1/holds/{id}/answer", "/v1/holds/{id}/decisions":
				staff, operator := s.anyone(t, "hotspots:verify"), s.operator(t)
				operator.post(t, "/v1/hotspots", registration(len(example.Path))).want(t, http.StatusCreated)
				placed := staff.post(t, "/v1/holds", `{"operator_id":"`+string(operator.user)+`","reason":"r","evidence":"e","until":"2026-12-10T00:00:00Z"}`)
				subject = data[struct{ ID string }](t, placed, http.StatusCreated).ID
				if sender = staff; example.Path == "/v1/holds/{id}/answer" {
					sender = operator
				}
			case "/v1/hotspots/{id}/offer":
				sender = s.anyone(t, "hotspots:write", "keys:manage")
				subject = data[struct{ ID string }](t, sender.post(t, "/v1/hotspots", registration(len(example.Path))), http.StatusCreated).ID
			case "/v1/devices/link": // with a code that exists
				body = bytes.Replace(body, []byte("k7qx 29md"), []byte(c.newCode(t, m.hotspot)), 1)
			case "/v1/devices/enrol":
				sender = c.enroller(t, 9, `"may_register":true`)
				c.delete(t, m.hotspot+"/device").want(t, http.StatusNoContent)
			case "/v1/hotspots/{id}/heartbeats":
				sender = m.client
			}
			a := sender.do(t, example.Method, strings.NewReplacer("{id}", subject, "{month}", "2026-10").Replace(example.Path), string(body))
			if strings.HasPrefix(example.Path, "/v1/devices/") {
				if done := data[linked](t, a, http.StatusOK); done.HotspotID == hotspot {
					m.plain = done.DeviceKey
				}
			}
			switch example.Path {
			case "/v1/rewards/replays", "/v1/rewards/reopenings", "/v1/rewards/months/{month}/settlement": // no day is closed
				wantFault(t, a, http.StatusConflict, "conflict")
			case "/v1/hotspots/{id}/claim": // nobody gives away their own as staff
				wantFault(t, a, http.StatusForbidden, "forbidden")
			case "/v1/macs/releases", "/v1/hotspots/{id}/offer/acceptance": // none is reserved, none is on offer
				wantFault(t, a, http.StatusNotFound, "not_found")
			default:
				if a.StatusCode >= http.StatusMultipleChoices {
					t.Errorf("%s: %s", example.Name, a)
				}
			}
			if location := a.Header.Get("Location"); location != "" {
				c.delete(t, location).want(t, http.StatusNoContent) // the next may name the same device
			}
		}
	})
}

// sends sends the body of an example that only a person may send.
func (g guest) sends(t *testing.T, example openapi.RequestExample, body []byte) {
	t.Helper()
	person := ""
	switch {
	case strings.HasSuffix(example.Path, "{person}"):
		person = g.invited(t, "/v1/users/me/invitations", `{"role":"manager"}`, "Ben").me.ID
	case strings.HasSuffix(example.Path, "/confirmation"): // with a code that was made
		codes := data[shapes.RecoveryCodes](t, g.send(t, "POST", "/v1/people/me/codes", ""), http.StatusOK)
		body = bytes.Replace(body, []byte("7KQ2-M4XD-9ZRT-0BHW"), []byte(codes.Codes[0]), 1)
	}
	if a := g.send(t, example.Method, strings.NewReplacer("{id}", "me", "{person}", person).Replace(example.Path), string(body)); a.StatusCode >= http.StatusMultipleChoices {
		t.Errorf("%s: %s", example.Name, a)
	}
}

// cast is who and what the examples speak of, by their names in x-request, and
// the servers that answer them.
type cast struct {
	names   *strings.Replacer
	people  map[string]guest
	servers map[string]*server
}

func newCast(t *testing.T, s *server) *cast {
	t.Helper()
	named := func(name string, scopes ...string) client {
		return s.keyOf(t, access.NewUser, access.Creation{Scopes: beacon.Some(scopes), Name: beacon.Some(name)})
	}
	owner, operator := named("owner", "hotspots:write"), named("operator", "hotspots:write", "keys:manage")
	reader, manager, admin := named("reader"), named("manager", "keys:manage"), named("admin", "admin")
	verifier := named("verifier", "hotspots:verify", "hotspots:write")
	earner, newcomer := named("earner", "rewards:read"), named("newcomer", "rewards:read")
	app, revoked := named("app", "checkins:write"), named("revoked")
	admin.delete(t, "/v1/keys/"+string(revoked.key)).want(t, http.StatusNoContent)
	hotspot := data[hotspot](t, owner.post(t, "/v1/hotspots", readingRoom), http.StatusCreated)
	changing := operator.register(t, 0xffff00)
	verifying, own := operator.register(t, 0xffff01), verifier.register(t, 0xffff04)
	enroller := operator.enroller(t, 9)
	operator.register(t, 0xffff07)
	code := operator.newCode(t, "/v1/hotspots/"+operator.register(t, 0xffff02).ID)
	beating := operator.install(t, 0xffff03)
	s.verify(t, beating.hotspot)
	plaza := operator.install(t, 0xffff05, "location.lat", "40.6743", "location.lng", "-73.9706", "type", `"public"`)
	s.verify(t, plaza.hotspot)
	plaza.beat(t, `{"boot_id":"a","seq":0,"clients":1,"rx_bytes":1,"tx_bytes":1}`).want(t, http.StatusOK)
	operator.register(t, 0xffff06, "location.lat", "40.6751", "location.lng", "-73.969", "type", `"business"`)

	ada := admin.invites(t, `{"account":"new","account_name":"Ada's café"}`, "Ada")
	ben := admin.invites(t, `{"posts":["verifier"]}`, "Ben")

	// Servers in trouble, on the same database.
	limited := start(t, s.db, options{limits: edge.Limits{PerKey: ratelimit.Limit{Every: time.Hour, Burst: 1}}})
	client{server: limited, plain: reader.plain}.get(t, "/v1/keys/self")
	failing := func(err error) *server {
		return start(t, s.db, options{limits: ample, store: faulty{err: err}})
	}
	return &cast{
		names: strings.NewReplacer(
			"{hotspot}", hotspot.ID, "{changing}", changing.ID, "{verifying}", verifying.ID, "{own}", own.ID,
			"{beating}", strings.TrimPrefix(beating.hotspot, "/v1/hotspots/"), "{device}", beating.plain, "{code}", code, "{verifier}", verifier.plain,
			"{plaza}", strings.TrimPrefix(plaza.hotspot, "/v1/hotspots/"), "{app}", app.plain,
			"{owner_id}", string(owner.user),
			"{owner}", owner.plain, "{operator}", operator.plain, "{reader}", reader.plain, "{manager}", manager.plain,
			"{admin}", admin.plain, "{enroller}", enroller.plain, "{revoked}", revoked.plain, "{earner}", earner.plain, "{newcomer}", newcomer.plain,
			"{long}", strings.Repeat(" ", 65537), "{ben_id}", ben.me.ID,
		),
		people: map[string]guest{"{ada}": ada, "{ben}": ben},
		servers: map[string]*server{
			"": s, "limited": limited, "paid": start(t, s.db, options{limits: ample, rewards: books{}}),
			"broken": failing(errors.New("the disk is on fire")),
			"slow":   failing(errors.Join(errors.New("waiting for a lock"), os.ErrDeadlineExceeded, contextDeadline)),
		},
	}
}

// invites is someone new who accepts an invitation of the network.
func (c client) invites(t testing.TB, body, name string) guest {
	t.Helper()
	made := data[shapes.CreatedInvitation](t, c.post(t, "/v1/invitations", body), http.StatusOK)
	return guest{server: c.server}.enters(t, "/console/invitations/accept", `{"token":"`+tokenOf(made.Link)+`","name":"`+name+`"}`)
}

const readingRoom = `{"name":"Bryant Park Reading Room","type":"public",
	"location":{"lat":40.7542,"lng":-73.9841,"address":"42nd Street and 6th Avenue, New York"},
	"device":{"ssid":"Reading Room","mac_address":"02-00-5E-10-00-01"},
	"settings":{"max_connections":96,"operating_hours":{"timezone":"America/New_York",
		"weekly":[{"days":["mon","tue","wed","thu","fri"],"open":"08:00","close":"22:00"}],
		"exceptions":[{"date":"2026-12-25","closed":true},{"date":"2026-12-31","open":"10:00","close":"02:00"}]}}}`

// play sends the request of an example.
func (c *cast) play(t testing.TB, r openapi.ExampleRequest) answer {
	t.Helper()
	s, ok := c.servers[r.Server]
	if !ok {
		t.Fatalf("%s %s: there is no server %q", r.Method, r.Path, r.Server)
	}
	var header []string
	if r.Key != "" {
		header = append(header, "Authorization", "Bearer "+c.names.Replace(r.Key))
	}
	for name, value := range r.Header {
		header = append(header, name, value)
	}
	if r.Person != "" {
		who, known := c.people[r.Person]
		if !known {
			t.Fatalf("%s %s: there is no person %q", r.Method, r.Path, r.Person)
		}
		header = append(header, ownPage(s, "Beacon-Account", who.account, "Cookie", who.cookie)...)
	}
	body, isText := r.Body.(string)
	if !isText && r.Body != nil {
		encoded, err := json.Marshal(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		body = string(encoded)
	}
	return s.call(t, r.Method, c.names.Replace(r.Path), c.names.Replace(body), header...)
}

var (
	anyID  = regexp.MustCompile(`\b(hs|usr|req|key|per|inv|ses)_[0-7][0-9a-hjkmnp-tv-z]{25}\b`)
	anyKey = regexp.MustCompile(`\bbcn_[0-7][0-9a-hjkmnp-tv-z]{25}_[0-9A-Za-z]{36}\b`)

	anyHash = regexp.MustCompile(`"[0-9a-f]{64}"`)
	anyLink = regexp.MustCompile(`"https?://[^"]*/#/(join|enter)/[0-9A-Za-z_-]{43}"`)
	anyCode = regexp.MustCompile(`"code":"[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4})+"`)
)

// masked is a value of JSON without what is different every time.
func masked(t testing.TB, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	text = anyHash.ReplaceAll(text, []byte(`"…"`))
	text = anyLink.ReplaceAll(text, []byte(`"…/${1}/…"`))
	text = anyCode.ReplaceAll(text, []byte(`"code":"…"`))
	text = anyID.ReplaceAll(anyKey.ReplaceAll(text, []byte("bcn_…")), []byte("${1}_…"))
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
