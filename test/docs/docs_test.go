// Package docstest does what the documentation says. Every block of shell commands in
// README.md and docs/*.md is run as it is printed, docs/*.md as a server of another network
// shows them, from top to bottom, by one shell for each page, in an empty folder, with the
// real program and over HTTP.
// What a page shows as printed is compared with what was printed.
//
//	```sh                 run; every command must succeed
//	```sh fails           run; the last command must fail
//	```sh server          a program that goes on, in place of the one before, until the page ends
//	```sh another server  the same, beside those before
//	```go main.go         written into the folder, under this name, in any language
//	```sh beat.sh         the same; a block after it has to run it
//	```console, ```json   what the block before printed; … stands for anything
//
// Its invariant: a block that looks as if
// it were to be typed is run, stands in the list of exceptions, or fails the test.
package docs

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// exceptions are blocks that are not run, by how they begin, and why.
var exceptions = []struct{ page, text, why string }{
	{"README.md", "make test\n", "this test is a part of it"},
	{"docs/sizing.md", "make bench\n", "it measures for an hour"},
	{"docs/quickstart-apps.md", "go get -tool github.com/oapi-codegen/", generated},
	{"docs/quickstart-apps.md", "npx openapi-typescript@", generated},
	{"docs/quickstart-apps.md", "npx @hey-api/openapi-ts@", generated},
}

const generated = "test/clients runs it, with lock files for what it downloads"

// stubs are programs that pages call and that cannot do their work on a machine
// for tests. In their place stands one that does nothing.
var stubs = map[string]string{
	"apt":       "it would change this machine; tools/release looks into the package",
	"docker":    "there is no engine to build or run a container with",
	"podman":    "there is no engine; tools/release runs what is in the image",
	"systemctl": "systemd does not run in a container; the unit itself is checked by systemd-analyze",
}

// needed are the Debian packages of programs that pages call and that a machine for
// tests may lack.
var needed = map[string]string{"curl": "curl", "jq": "jq", "nginx": "nginx-light", "npm": "npm", "pgbouncer": "pgbouncer", "python3": "python3"}

// programs is the folder with the program and the stubs.
var programs string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "beacon-docs-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		programs = folder
		for name := range stubs {
			if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
				panic(err)
			}
		}
		flag.Parse()
		if err := flag.Set("test.parallel", "6"); err != nil { // pages wait more than they compute
			panic(err)
		}
		return harness.Main(m)
	}())
}

// linkBinary puts the program where pages find it.
var linkBinary = sync.OnceValue(func() error { return os.Symlink(harness.Binary, filepath.Join(programs, "beacon")) })

func TestPages(t *testing.T) {
	level.Needs(t, level.Check)
	pages := readPages(t)
	checkLists(t, pages)
	server := harness.Start(t, harness.NewDatabase(t, "sqlite"), "--public-url", theirs)
	for _, p := range pages {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.prepare(t)
			if strings.HasPrefix(p.name, "docs/") && p.name != "docs/README.md" {
				p.read(t, server)
			}
			if err := p.run(t.Context(), t.TempDir(), t.TempDir()); err != nil {
				t.Error(err)
			}
		})
	}
}

func readPages(t *testing.T) (pages []page) {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d pages, %v", len(files), err)
	}
	for _, file := range append(files, "../../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(filepath.Clean(filepath.Join("docs/docstest", file)), "./")
		pages = append(pages, page{name: name, text: string(text)})
	}
	// The first page is read in a checkout, without the program; and a small part
	// of the city will do.
	first := &pages[len(pages)-1]
	first.words, first.env = map[string]string{"go run ./cmd/beacon": "beacon"}, []string{"BEACON_HOTSPOTS=100"}
	return pages
}

// checkLists refuses exceptions and stubs that nobody needs any more.
func checkLists(t *testing.T, pages []page) {
	t.Helper()
	var all strings.Builder
	for _, p := range pages {
		blocks, err := parse(p.text)
		if err != nil {
			t.Fatalf("%s, %v", p.name, err)
		}
		for _, b := range blocks {
			if b.runs() {
				fmt.Fprintf(&all, "%s\n%s\n", p.name, b.text)
			}
		}
	}
	for _, e := range exceptions {
		if !strings.Contains(all.String(), e.page+"\n"+e.text) {
			t.Errorf("%s has no block %q any more", e.page, e.text)
		}
	}
	for name := range stubs {
		if !calls(all.String(), name) {
			t.Errorf("no page calls %s any more", name)
		}
	}
}

// prepare finds what a page needs.
func (p *page) prepare(t *testing.T) {
	t.Helper()
	blocks, err := parse(p.text)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if !b.runs() {
			continue
		}
		for program, debianPackage := range needed {
			if calls(b.text, program) {
				level.Tool(t, program, debianPackage)
			}
		}
		if _, err := exec.LookPath("systemd-analyze"); err != nil && calls(b.text, "systemd-analyze") {
			t.Skipf("%s was NOT tested: there is no systemd-analyze, and a machine that runs without systemd may have no way to install it", p.name)
		}
	}
	if p.name == "docs/agent.md" {
		p.env, p.words = accessPoint(t)
	}
	if strings.Contains(p.text, "127.0.0.1:5432") {
		p.ports = ports{"127.0.0.1:5432": postgres(t)}
	}
}

// calls tells whether a shell text has a program in it.
func calls(text, program string) bool {
	return regexp.MustCompile(`(?m)(^|[\s(])` + program + `\s`).MatchString(text)
}

func stubOf(text string) string {
	for name := range stubs {
		if calls(text, name) {
			return name
		}
	}
	return ""
}

func exempt(page, text string) bool {
	for _, e := range exceptions {
		if e.page == page && strings.HasPrefix(text, e.text) {
			return true
		}
	}
	return false
}
