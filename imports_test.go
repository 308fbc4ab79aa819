package architecture_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/beacon-wifi/beacon/"

// allowed is the architecture: which packages of ours a package may import.
// Arrows point down. A package that is not listed does not belong in the tree;
// do not add an arrow to make a build pass, ask first where the code belongs.
var allowed = map[string][]string{
	// Leaves.
	"clock":     {},
	"geo":       {},
	"id":        {},
	"job":       {},
	"mvt":       {},
	"ratelimit": {},
	"roll":      {},
	"spatial":   {"geo"},
	"static":    {},
	"coverage":  {"geo"},
	"web":       {"id", "ratelimit"},

	// The words of the network, and what people do with them.
	"beacon":    {"geo"},
	"vitals":    {"beacon", "id"},
	"fleet":     {"beacon", "coverage", "geo", "roll", "spatial", "vitals"},
	"lease":     {},
	"access":    {"beacon", "id"},
	"registry":  {"access", "beacon", "fleet", "geo", "id", "vitals"},
	"telemetry": {"beacon", "clock", "fleet", "id", "job", "lease", "vitals"},
	"events":    {"beacon", "lease"},
	"policy":    {"beacon"},
	"ledger":    {"beacon"},
	"statement": {"beacon", "ledger", "policy"},
	"rewards":   {"beacon", "clock", "id", "job", "ledger", "lease", "policy"},

	// The truth on disk.
	"store":          {"beacon", "geo", "id", "ledger", "lease"},
	"store/sqlite":   {"store"},
	"store/postgres": {"store"},

	// Whether that truth is sound. It asks the store itself: an interface in between would be the store's own, word for word.
	"doctor": {"beacon", "id", "ledger", "policy", "statement", "store", "vitals"},

	// Edges.
	"preview": {"web"}, // not even the domain: it could be lifted out whole
	"network": {
		"access", "beacon", "events", "fleet", "geo", "id", "ledger", "mvt", "policy", "ratelimit", "registry", "rewards", "statement",
		"telemetry", "vitals", "web",
	},
	"metrics": {"web"},
	"console": {"static"},
	"docs":    {},
	"docsite": {"static"}, // not what it documents

	// Files to install and watch it with.
	"packaging": {},

	// For programs that talk to a server, here and elsewhere.
	"client": {},

	// What wires everything.
	"cmd/beacon": {
		"access", "beacon", "client", "console", "demo", "docs", "docsite", "doctor", "events", "fleet", "id", "lease", "ledger", "metrics", "network", "packaging", "policy", "preview",
		"ratelimit", "registry", "rewards", "simulate", "statement", "store", "store/postgres", "store/sqlite", "telemetry",
		"vitals", "web",
	},

	// Devices that do not exist, for whoever has none at hand.
	"simulate": {},
	// A network to look at, with a past. It writes nothing.
	"demo": {"beacon", "geo", "id", "simulate", "vitals"},

	// For tests and benchmarks only.
	"bench":           {},
	"console/browser": {},
	"endtoend":        {},
	"mvt/mvttest":     {},
	"openapitest":     {},
	"torture":         {},
	"rig":             {"beacon", "store", "store/postgres", "store/sqlite", "store/storetest"},
	"rig/books":       {"rig", "rig/level"},
	"rig/level":       {},
	"store/storetest": {"beacon", "geo", "id", "ledger", "lease", "store"},
}

// foreign is which modules from outside the standard library a package may
// import. A dependency is a decision: see DECISIONS.md before adding one.
var foreign = map[string][]string{
	"beacon":          {"golang.org/x/text"},
	"access":          {"golang.org/x/sync"},
	"store":           {"golang.org/x/sync"},
	"store/sqlite":    {"modernc.org/sqlite"},
	"store/postgres":  {"github.com/jackc/pgx/v5"},
	"store/storetest": {"github.com/jackc/pgx/v5", "github.com/google/go-cmp"},
	"network":         {"github.com/go-json-experiment/json"},
	"statement":       {"github.com/go-json-experiment/json"},
	"web":             {"github.com/go-json-experiment/json"},
	"metrics":         {"github.com/prometheus/client_golang"},
	"docsite":         {"github.com/yuin/goldmark"},
	"mvt":             {"google.golang.org/protobuf"},
	"mvt/mvttest":     {"google.golang.org/protobuf"},
	"cmd/beacon":      {"github.com/alecthomas/kong", "golang.org/x/sync"},
	"rig":             {"github.com/google/go-cmp"},
	"rig/books":       {"github.com/google/go-cmp"},
	"openapitest":     {"github.com/getkin/kin-openapi", "github.com/oasdiff/yaml"},
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
			ours, isOurs := strings.CutPrefix(path, module)
			switch {
			case isOurs && !slices.Contains(permitted, ours):
				t.Errorf("%s imports %s; the table allows %v", name, ours, permitted)
			case !isOurs && strings.Contains(path, ".") && !hasPrefixOf(path, foreign[name]):
				t.Errorf("%s imports %s; the table allows %v", name, path, foreign[name])
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
			packages[strings.TrimPrefix(p.ImportPath, module)] = p.Imports
		}
	}
	if len(packages) < 5 {
		t.Fatalf("go list found %d packages", len(packages))
	}
	return packages
}
