package architecture_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/beacon-wifi/beacon/"

// allowed is the architecture: which packages of ours a package may import, named
// from internal. Arrows point down. A package that is not listed does not belong in
// the tree, and neither does a permission that nobody uses. Do not add an arrow to
// make a build pass: ask first where the code belongs.
var allowed = map[string][]string{
	// Leaves.
	"geo":   {},
	"id":    {},
	"lease": {},
	"qrsvg": {},

	"netrange": {},

	// The words of the network.
	"beacon":    {"geo", "id", "netrange"},
	"clock":     {"beacon", "lease"},
	"heartbeat": {"beacon", "id"},
	"ledger":    {"beacon"},

	// The live network in memory.
	"fleet":           {"beacon", "fleet/coverage", "fleet/directory", "fleet/spatial", "geo", "heartbeat"},
	"fleet/coverage":  {"geo"},
	"fleet/directory": {},
	"fleet/spatial":   {"geo"},

	// What people and devices do.
	"access":    {"beacon", "clock", "id"},
	"checkins":  {"beacon", "clock", "fleet", "id"},
	"devices":   {"beacon", "fleet", "registry"},
	"erasure":   {"beacon", "clock", "id", "lease", "ledger"},
	"events":    {"beacon", "clock", "lease"},
	"people":    {"access", "beacon", "clock", "id"},
	"oversight": {"beacon", "fleet", "id", "ledger", "rewards"},
	"registry":  {"access", "beacon", "fleet", "id"},
	"replica":   {"beacon", "clock", "fleet", "telemetry"},
	"review":    {"beacon", "clock", "geo", "heartbeat", "lease"},
	"telemetry": {"beacon", "clock", "fleet", "heartbeat", "id", "lease"},

	// The doors of people, and mail, each a standard with its library; what a door opens is
	// not theirs.
	"mail":           {"beacon"},
	"people/doors":   {"beacon", "people", "people/oidc", "people/passkey"},
	"people/letters": {"beacon", "mail"},
	"people/oidc":    {"beacon"},
	"people/passkey": {"beacon"},

	// What they are paid.
	"rewards":           {"beacon", "clock", "id", "ledger", "rewards/policy"},
	"rewards/closing":   {"beacon", "clock", "geo", "lease", "ledger", "rewards", "rewards/ground", "rewards/holds", "rewards/places", "rewards/policy"},
	"rewards/earnings":  {"beacon", "geo", "id", "ledger", "rewards", "rewards/ground", "rewards/places", "rewards/policy"},
	"rewards/holds":     {"beacon", "geo", "id", "ledger", "rewards"},
	"rewards/places":    {"beacon", "geo", "lease", "ledger", "rewards", "rewards/ground", "rewards/policy"},
	"rewards/ground":    {"beacon", "geo"},
	"rewards/policy":    {"beacon", "ledger", "rewards/ground"},
	"rewards/statement": {"beacon", "ledger", "rewards/policy"},

	// The truth on disk, and whether it is sound. The doctor asks the store itself:
	// an interface in between would be the store's own, word for word.
	"store":          {"beacon", "clock", "geo", "id", "lease", "ledger"},
	"store/sqlite":   {"store"},
	"store/postgres": {"store"},
	"doctor":         {"beacon", "heartbeat", "id", "ledger", "rewards/policy", "rewards/statement", "store"},

	// Edges.
	"api":                  {"access", "api/accounts", "api/edge", "api/hotspots", "api/maps", "api/network", "api/payments", "api/people", "beacon", "checkins", "erasure", "events", "fleet", "httpserver", "httpserver/static", "oversight", "people", "people/doors", "registry", "review", "rewards/holds"},
	"api/accounts":         {"access", "api/edge", "api/hotspots", "api/payments", "beacon", "client", "erasure", "httpserver", "id", "ledger", "registry", "rewards/holds", "telemetry"},
	"api/edge":             {"access", "beacon", "client", "fleet", "geo", "httpserver", "httpserver/coding", "httpserver/ratelimit", "id", "people", "telemetry"},
	"api/fragments":        {"api/edge", "beacon", "fleet"},
	"api/hotspots":         {"access", "api/edge", "api/fragments", "beacon", "checkins", "client", "devices", "fleet", "geo", "httpserver", "httpserver/coding", "id", "registry", "telemetry"},
	"api/maps":             {"api/edge", "api/fragments", "api/mvt", "beacon", "client", "fleet", "geo", "httpserver", "httpserver/coding", "httpserver/static"},
	"api/network":          {"api/edge", "api/fragments", "beacon", "client", "events", "httpserver", "id", "oversight", "registry", "review", "rewards", "rewards/earnings"},
	"api/payments":         {"api/edge", "beacon", "client", "geo", "httpserver/coding", "id", "ledger", "rewards", "rewards/closing", "rewards/earnings", "rewards/holds", "rewards/policy", "rewards/statement"},
	"api/people":           {"api/edge", "beacon", "client", "httpserver", "people", "people/doors", "people/oidc", "qrsvg"},
	"openfeeds":            {"api", "api/edge", "api/fragments", "api/maps", "basemap", "beacon", "fleet", "geo", "httpserver", "httpserver/coding", "httpserver/static", "id", "identity", "qrsvg", "rewards/earnings"}, // the network as the api shows it, without a key; its names are searched as those of streets
	"api/mvt":              {},
	"preview":              {"httpserver", "httpserver/coding", "httpserver/static"}, // not even the domain: it could be lifted out whole
	"docsite":              {"httpserver/static"},                                    // not what it documents
	"agentsite":            {"agent", "beacon", "httpserver/static", "qrsvg"},
	"agentsite/feed":       {"agentsite"},
	"httpserver":           {"httpserver/fastpath", "httpserver/ratelimit", "id", "netrange"},
	"httpserver/coding":    {},
	"httpserver/fastpath":  {},
	"httpserver/metrics":   {"httpserver"},
	"httpserver/ratelimit": {},
	"httpserver/static":    {"httpserver/coding"},

	// Devices that do not exist, and a network to look at, with a past.
	"simulate": {"client", "clock"},
	"demo": {
		"access", "agent", "beacon", "clock", "geo", "heartbeat", "id", "lease", "ledger", "review", "rewards", "rewards/closing", "rewards/ground", "rewards/policy", "simulate", "store", "store/sqlite",
	},

	// What registers the hotspots of a file, over HTTP like any program.
	"importer": {"beacon", "client"},

	// For devices: a shell program, and its tests.
	"agent": {},

	// For people: pages, guides, files to install and watch it with.
	"console":         {"httpserver/static"},
	"basemap":         {"basemap/pmtiles", "httpserver/static"}, // a file of streets; not what is drawn over it
	"basemap/extract": {"basemap", "basemap/pmtiles", "clock"},
	"basemap/pmtiles": {},
	"identity":        {"beacon", "httpserver/static"},
	"deploy":          {},
	"docs":            {},

	// For programs that talk to a server, here and elsewhere.
	"client": {},

	// What wires everything.
	"node":       {"access", "agentsite", "api", "api/edge", "api/fragments", "basemap", "beacon", "checkins", "clock", "console", "deploy", "docs", "docsite", "erasure", "events", "fleet", "geo", "httpserver", "httpserver/metrics", "identity", "lease", "openfeeds", "oversight", "people", "people/doors", "people/letters", "preview", "registry", "replica", "review", "rewards", "rewards/closing", "rewards/earnings", "rewards/holds", "rewards/policy", "store", "telemetry"},
	"cmd/beacon": {"access", "api", "api/accounts", "api/edge", "api/network", "api/people", "basemap", "basemap/extract", "beacon", "client", "clock", "demo", "doctor", "httpserver", "httpserver/ratelimit", "id", "importer", "ledger", "mail", "node", "oversight", "people", "people/doors", "people/oidc", "preview", "rewards", "rewards/closing", "rewards/earnings", "rewards/policy", "rewards/statement", "simulate", "store", "store/postgres", "store/sqlite"},

	// For tests and benchmarks only.
	"api/mvt/mvttest":      {},
	"basemap/basemaptest":  {},
	"beacon/beacontest":    {"beacon"},
	"store/storetest":      {"beacon", "clock", "geo", "id", "lease", "ledger", "store"},
	"test/bench":           {},
	"test/browser":         {},
	"test/clients":         {},
	"test/endtoend":        {},
	"test/harness":         {"beacon", "store", "store/postgres", "store/sqlite", "store/storetest", "test/harness/level"},
	"test/harness/audit":   {"test/harness", "test/harness/level"},
	"test/harness/level":   {},
	"test/harness/visitor": {},
	"test/openapi":         {},
	"test/torture":         {},
	"test/trust":           {},

	"httpserver/fastpath/fastpathtest": {},
}

// foreign is which modules from outside the standard library a package may
// import. A dependency is a decision: see DECISIONS.md before adding one.
var foreign = map[string][]string{
	"beacon":               {"golang.org/x/text"},
	"access":               {"golang.org/x/sync"},
	"people":               {"golang.org/x/sync"},
	"store":                {"golang.org/x/sync"},
	"store/sqlite":         {"modernc.org/sqlite"},
	"store/postgres":       {"github.com/jackc/pgx/v5"},
	"store/storetest":      {"github.com/jackc/pgx/v5", "github.com/google/go-cmp"},
	"api/accounts":         {"github.com/go-json-experiment/json"},
	"api/edge":             {"github.com/go-json-experiment/json"},
	"api/fragments":        {"github.com/go-json-experiment/json"},
	"api/hotspots":         {"github.com/go-json-experiment/json"},
	"api/payments":         {"github.com/go-json-experiment/json"},
	"rewards/policy":       {"github.com/go-json-experiment/json"},
	"rewards/statement":    {"github.com/go-json-experiment/json"},
	"httpserver":           {"github.com/go-json-experiment/json"},
	"httpserver/coding":    {"github.com/klauspost/compress"},
	"httpserver/metrics":   {"github.com/prometheus/client_golang"},
	"docsite":              {"github.com/yuin/goldmark"},
	"api/mvt":              {"google.golang.org/protobuf"},
	"openfeeds":            {"golang.org/x/text"},
	"mail":                 {"github.com/wneessen/go-mail"},
	"people/oidc":          {"github.com/coreos/go-oidc/v3", "golang.org/x/oauth2", "golang.org/x/sync"},
	"people/passkey":       {"github.com/go-webauthn/webauthn"},
	"preview":              {"golang.org/x/text"},
	"qrsvg":                {"rsc.io/qr"},
	"api/mvt/mvttest":      {"google.golang.org/protobuf"},
	"basemap":              {"golang.org/x/text", "google.golang.org/protobuf"},
	"basemap/basemaptest":  {"google.golang.org/protobuf"},
	"basemap/extract":      {"golang.org/x/text"},
	"identity":             {"golang.org/x/image"},
	"node":                 {"golang.org/x/sync"},
	"demo":                 {"golang.org/x/sync"},
	"cmd/beacon":           {"github.com/alecthomas/kong"},
	"test/harness":         {"github.com/google/go-cmp"},
	"test/harness/audit":   {"github.com/google/go-cmp"},
	"test/harness/visitor": {"github.com/descope/virtualwebauthn"},
	"test/openapi":         {"github.com/getkin/kin-openapi", "github.com/oasdiff/yaml", "github.com/santhosh-tekuri/jsonschema/v6"},
}

// goPackage is what "go list" says of a package.
type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestImports(t *testing.T) {
	packages := listPackages(t)
	for name, imports := range packages {
		permitted, listed := allowed[name]
		if !listed {
			t.Errorf("package %s is not in the table of allowed imports", name)
			continue
		}
		for _, path := range imports {
			ours, isOurs := short(path)
			switch {
			case isOurs && !slices.Contains(permitted, ours):
				t.Errorf("%s imports %s; the table allows %v", name, ours, permitted)
			case !isOurs && strings.Contains(path, ".") && !hasPrefixOf(path, foreign[name]):
				t.Errorf("%s imports %s; the table allows %v", name, path, foreign[name])
			}
		}
		for _, ours := range permitted {
			if !slices.ContainsFunc(imports, func(path string) bool { found, _ := short(path); return found == ours }) {
				t.Errorf("%s may import %s, and does not: take the permission away", name, ours)
			}
		}
		for _, module := range foreign[name] {
			if !slices.ContainsFunc(imports, func(path string) bool { return hasPrefixOf(path, []string{module}) }) {
				t.Errorf("%s may import %s, and does not: take the permission away", name, module)
			}
		}
	}
	for _, table := range []map[string][]string{allowed, foreign} {
		for name := range maps.Keys(table) {
			if _, exists := packages[name]; !exists {
				t.Errorf("the table names %s, which does not exist", name)
			}
		}
	}
}

// Below node, only the tests of api start whole servers: tests of a package that node
// is made of have a small fixture of their own, or they would test everything at once.
func TestImports_NodeIsForWholeServers(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .TestImports}} {{.}}{{end}}{{range .XTestImports}} {{.}}{{end}}`, "./internal/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); slices.Contains(words[1:], module+"internal/node") {
			name, _ := short(words[0])
			found = append(found, name)
		}
	}
	if !slices.Equal(found, []string{"api"}) {
		t.Errorf("the tests of %v import node; want those of api alone", found)
	}
}

// short is the name of a package of ours in the tables: without the module, and
// without internal.
func short(path string) (name string, ours bool) {
	name, ours = strings.CutPrefix(path, module)
	return strings.TrimPrefix(name, "internal/"), ours
}

func hasPrefixOf(path string, modules []string) bool {
	return slices.ContainsFunc(modules, func(m string) bool {
		return path == m || strings.HasPrefix(path, m+"/")
	})
}

// listPackages gives the imports of every package that has more than tests.
func listPackages(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,GoFiles", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string][]string{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			goPackage
			GoFiles []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			name, _ := short(p.ImportPath)
			packages[name] = p.Imports
		}
	}
	if len(packages) < 5 {
		t.Fatalf("go list found %d packages", len(packages))
	}
	return packages
}

// ARCHITECTURE.md names every package of the product.
func TestImports_ArchitectureNamesEachPackage(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := os.ReadDir("internal")
	if err != nil || len(packages) < 20 {
		t.Fatal(packages, err)
	}
	for _, p := range packages {
		if !strings.Contains(string(text), "`"+p.Name()+"`") {
			t.Errorf("ARCHITECTURE.md does not say what `%s` is", p.Name())
		}
	}
}
