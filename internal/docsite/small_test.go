package docsite_test

import (
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/beacon-wifi/beacon/docs"
	"github.com/beacon-wifi/beacon/internal/docsite"
)

// small is a document with one of each thing whose form matters.
const small = `{"openapi": "3.1.0", "info": {"title": "Small", "version": "1"}, "tags": [{"name": "all"}],
"security": [{"key": []}],
"paths": {"/things/{id}": {"post": {"operationId": "make", "tags": ["all"], "description": "Makes one. Needs\nthe scope ` + "`things:make`" + `.",
	"parameters": [{"name": "id", "in": "path", "schema": {"type": "string"}}, {"name": "q", "in": "query", "required": true, "schema": {"type": "string"}, "example": "$HOME"}],
	"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"},
		"examples": {"one": {"value": {"a": "it's", "list": [{"n": 1}], "z": "$HOME"}}}}}},
	"responses": {"200": {"description": "Made.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}}}}},
"components": {"schemas": {
	"Thing": {"type": "object", "required": ["z", "a"], "properties": {"a": {"type": "string"}, "z": {"type": "string"},
		"list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": 0}}}}}},
	"Narrow": {"allOf": [{"$ref": "#/components/schemas/Thing"}, {"$ref": "#/components/schemas/Other"}, {"properties": {"a": {"enum": ["x", "y"]}}}]},
	"Either": {"anyOf": [{"$ref": "#/components/schemas/Thing"}, {"$ref": "#/components/schemas/Other"}]},
	"Other": {"type": "object"}},
	"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}}}`

func TestReference_Forms(t *testing.T) {
	d, err := docsite.New(docsite.Config{Guides: docs.Files, PublicURL: "http://host", APIs: []docsite.API{{Name: "small", Document: []byte(small)}}})
	if err != nil {
		t.Fatal(err)
	}
	var body string
	for _, path := range referencePaths(t, d, "small") {
		_, one := get(t, d, "GET", path)
		body += one
	}
	_, places := readReference(t, d, "small")
	for place, want := range map[string]string{
		"schema-Narrow": `<p class="type"><a href="/docs/api/small/schemas#schema-Thing">Thing</a> and <a href="/docs/api/small/schemas#schema-Other">Other</a></p>`,
		"schema-Either": `<p class="type"><a href="/docs/api/small/schemas#schema-Thing">Thing</a> or <a href="/docs/api/small/schemas#schema-Other">Other</a></p>`,
		"schema-Thing":  `<th scope="row"><code>list[].n</code> <span class="mark">optional</span></th><td class="type">integer; more than 0</td>`,
		"op-make":       `<strong>Needs</strong> <a href="/docs/api/small#key-key">key</a> with <code>things:make</code>`,
		"operations":    `<td><a href="/docs/api/small#key-key">key</a> with <code>things:make</code></td>`,
	} {
		if places[place] == nil || !strings.Contains(body, want) {
			t.Errorf("%s has no %s:\n%s", place, want, body)
		}
	}
	if row := places["schema-Narrow"].named("td"); len(row) != 2 || !row[0].shows("one of x y") || places["schema-Narrow"].shows("optional") {
		t.Errorf("what narrows is shown as %s", places["schema-Narrow"].text.String())
	}
	for _, pre := range places["op-make"].named("pre") {
		text := strings.TrimSpace(pre.text.String())
		if pre.attr["class"] == "curl" {
			checkLine(t, text)
		} else if want := `{"z": "$HOME", "a": "it's", "list": [{"n": 1}]}`; text != want {
			t.Errorf("the example is %s, want %s", text, want)
		}
	}
}

// checkLine has a shell take the line apart.
func checkLine(t *testing.T, line string) {
	t.Helper()
	shell := exec.Command("sh", "-eu", "-c", `curl() { printf '%s\n' "$@"; }; `+line)
	shell.Env = []string{"KEY=k", "ID=7", "HOME=wrong"}
	out, err := shell.CombinedOutput()
	want := strings.Join([]string{
		"-X", "POST", "-N", "-H", "Authorization: Bearer k", "-H", "Content-Type: application/json",
		"-d", `{"z": "$HOME", "a": "it's", "list": [{"n": 1}]}`, "http://host/things/7?q=%24HOME", "",
	}, "\n")
	if err != nil || string(out) != want {
		t.Errorf("%v: a shell reads\n%s\nas\n%s", err, line, out)
	}
}

// The menu has its groups in their order, and in each the guides in theirs; one
// that nobody has named stands among those to understand.
func TestMenu(t *testing.T) {
	guides := fstest.MapFS{}
	for _, name := range []string{"zebra", "security", "rewards", "backup", "run-single-node", "quickstart-apps", "README"} {
		guides[name+".md"] = &fstest.MapFile{Data: []byte("# The `" + name + "`\n")}
	}
	d, err := docsite.New(docsite.Config{Guides: guides, APIs: []docsite.API{{Name: "small", Document: []byte(small)}}})
	if err != nil {
		t.Fatal(err)
	}
	_, body := get(t, d, "GET", "/docs/zebra")
	page := read(t, body)
	want := "Start Overview The quickstart-apps Run it The run-single-node The backup Understand The rewards The security The zebra Reference Small"
	for _, menu := range page.named("nav") {
		if !strings.HasSuffix(wordsOf(menu.text.String()), wordsOf(want)) {
			t.Errorf("the menu is %s, want %s", wordsOf(menu.text.String()), wordsOf(want))
		}
	}
	for _, l := range page.named("link") {
		response, _ := get(t, d, "GET", l.attr["href"])
		if want := map[string]string{"stylesheet": "text/css; charset=utf-8", "icon": "image/svg+xml; charset=utf-8"}[l.attr["rel"]]; response.Header.Get("Content-Type") != want {
			t.Errorf("%s is of the type %s", l.attr["href"], response.Header.Get("Content-Type"))
		}
	}
}
