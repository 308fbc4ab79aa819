package docsite_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/docs"
	"github.com/beacon-wifi/beacon/internal/docsite"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// object is a part of an OpenAPI document as encoding/json gives it: these tests
// share no type and no code with what they judge.
type object = map[string]any

func parse(t *testing.T, document []byte) object {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var d object
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

func at(o object, names ...string) object {
	for _, name := range names {
		o, _ = o[name].(object)
	}
	return o
}

// holds checks that a part of a page shows everything that a part of the
// document says: every text, every number, every name.
func holds(t *testing.T, where string, e *element, part any) {
	t.Helper()
	switch part := part.(type) {
	case object:
		for name, value := range part {
			switch name {
			case "$ref", "x-request", "operationId", "security", "tags", "additionalProperties", "required":
				// held by other tests
			case "uniqueItems":
				if !e.shows("each once") {
					t.Errorf("%s: that items are unique is not shown", where)
				}
			case "value": // of an example: as it is
				holdsExample(t, where, e, value)
			case "properties", "headers", "content", "responses", "examples":
				for key, named := range value.(object) {
					if name != "examples" && !e.shows(key) {
						t.Errorf("%s: %s %s is not shown", where, name, key)
					}
					holds(t, where+"/"+key, e, named)
				}
			default:
				if strings.HasPrefix(name, "min") && fmt.Sprint(value) == "0" {
					continue // "at most" says it
				}
				holds(t, where+"/"+name, e, value)
			}
		}
	case []any:
		for _, value := range part {
			holds(t, where, e, value)
		}
	case string:
		for line := range strings.Lines(part) { // a table's rows stand apart
			if !e.shows(line) && !strings.HasPrefix(line, "|---") && !strings.HasPrefix(line, "```") {
				t.Errorf("%s: %q is not shown", where, line)
			}
		}
	case json.Number:
		if !e.shows(part.String()) {
			t.Errorf("%s: %s is not shown", where, part)
		}
	}
}

// holdsExample looks for a block of code that is the value: in JSON the order of
// members, and where lines break, are not part of that.
func holdsExample(t *testing.T, where string, e *element, value any) {
	t.Helper()
	for _, pre := range e.named("pre") {
		text := strings.TrimSpace(pre.text.String())
		if s, isText := value.(string); isText && strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) == text {
			return
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var shown any
		if decoder.Decode(&shown) == nil && !decoder.More() && reflect.DeepEqual(shown, value) {
			return
		}
	}
	t.Errorf("%s: an example is not shown: %v", where, value)
}

// refs calls f for each reference in a part of a document.
func refs(part any, f func(string)) {
	switch part := part.(type) {
	case object:
		if ref, is := part["$ref"].(string); is {
			f(ref)
		}
		for name, value := range part {
			if name != "value" && name != "x-request" {
				refs(value, f)
			}
		}
	case []any:
		for _, value := range part {
			refs(value, f)
		}
	}
}

// referencePaths lists the pages about an API, the overview first.
func referencePaths(t *testing.T, d *docsite.Docs, api string) []string {
	t.Helper()
	overview := "/docs/api/" + api
	_, body := get(t, d, "GET", overview)
	found := []string{overview}
	for _, to := range links(read(t, body).named("nav")[0]) {
		if strings.HasPrefix(to, overview+"/") {
			found = append(found, to)
		}
	}
	if len(found) < 3 {
		t.Fatalf("the pages of %s are only %v", api, found)
	}
	return found
}

// readReference reads all pages about an API. An operation is in the table of the
// overview, and described on another page, which counts.
func readReference(t *testing.T, d *docsite.Docs, api string) (page *element, places map[string]*element) {
	t.Helper()
	page, places = &element{name: "reference"}, map[string]*element{}
	for _, path := range referencePaths(t, d, api) {
		_, body := get(t, d, "GET", path)
		one := read(t, body)
		maps.Copy(places, one.byID(t))
		page.children = append(page.children, one)
		page.text.WriteString(one.text.String())
	}
	places["page"] = page
	return page, places
}

// TestReference_ShowsTheWholeDocument goes through the documents, not the pages.
func TestReference_ShowsTheWholeDocument(t *testing.T) {
	level.Repeats(t)
	for _, api := range config.APIs {
		t.Run(api.Name, func(t *testing.T) {
			document := parse(t, api.Document)
			_, places := readReference(t, newDocs(t), api.Name)
			for _, name := range []string{"info", "servers", "tags", "openapi"} {
				holds(t, name, places["page"], document[name])
			}
			for kind, prefix := range map[string]string{"schemas": "schema-", "headers": "header-", "responses": "response-", "securitySchemes": "key-"} {
				components := at(document, "components", kind)
				if len(components) == 0 && (api.Name != "open" || kind == "schemas") { // which needs no key, and shares no header
					t.Errorf("there are no %s", kind)
				}
				for name, part := range components {
					if place := places[prefix+name]; place == nil {
						t.Errorf("%s %s has no place", kind, name)
					} else {
						holds(t, name, place, part)
						linked(t, api.Name, name, place, part)
						if part.(object)["additionalProperties"] == false && !place.shows("no other properties") {
							t.Errorf("%s: that there is nothing else is not shown", name)
						}
					}
				}
			}
			operations := 0
			for path, item := range at(document, "paths") {
				for method, operation := range item.(object) {
					if method != "parameters" {
						operations++
						checkOperation(t, api.Name, document, places, path, method, operation.(object), item.(object)["parameters"])
					}
				}
			}
			if operations < 10 {
				t.Errorf("there are only %d operations", operations)
			}
		})
	}
}

// linked checks that each reference can be followed from where it stands.
func linked(t *testing.T, api, where string, e *element, part any) {
	t.Helper()
	to := links(e)
	refs(part, func(ref string) {
		if strings.HasPrefix(ref, "#/components/parameters/") {
			return // shown in place
		}
		kind, name, _ := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
		if want := "/docs/api/" + api + "/schemas#" + strings.TrimSuffix(kind, "s") + "-" + name; !slices.Contains(to, want) {
			t.Errorf("%s: there is no link %s", where, want)
		}
	})
}

func checkOperation(t *testing.T, api string, document object, places map[string]*element, path, method string, operation object, ofPath any) {
	t.Helper()
	where := strings.ToUpper(method) + " " + path
	place := places["op-"+operation["operationId"].(string)]
	if place == nil {
		t.Errorf("%s has no place", where)
		return
	}
	holds(t, where, place, operation)
	linked(t, api, where, place, operation)
	if base := document["servers"].([]any)[0].(object)["url"].(string); base != "/" {
		path = strings.TrimSuffix(base+path, "/")
	}
	if !strings.Contains(place.text.String(), path) || !place.shows(strings.ToUpper(method)) {
		t.Errorf("%s is not named", where)
	}
	if !strings.Contains(places["page"].text.String(), strings.ToUpper(method)+" "+path) {
		t.Errorf("%s is not in the table", where)
	}
	common, _ := ofPath.([]any)
	own, _ := operation["parameters"].([]any)
	for _, p := range append(slices.Clone(common), own...) {
		parameter := p.(object)
		if ref, is := parameter["$ref"].(string); is {
			parameter = at(document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
		holds(t, where, place, parameter)
		row := ""
		for _, r := range place.named("tr") {
			if th := r.named("th"); len(th) == 1 && strings.Fields(th[0].text.String())[0] == parameter["name"] {
				row = wordsOf(r.text.String())
			}
		}
		if required, _ := parameter["required"].(bool); row == "" || required != strings.Contains(row, " required ") {
			t.Errorf("%s: the parameter %s is shown as %q", where, parameter["name"], row)
		}
	}
	needs, own2 := operation["security"].([]any)
	if !own2 {
		needs = document["security"].([]any)
	}
	for _, one := range needs {
		for key := range one.(object) {
			if !slices.Contains(links(place), "/docs/api/"+api+"#key-"+key) {
				t.Errorf("%s: nothing says that it needs %s", where, key)
			}
		}
	}
	if len(needs) == 0 != place.shows("Needs no key") {
		t.Errorf("%s: it is not said whether it needs a key", where)
	}
	copied := false
	for _, pre := range place.named("pre") {
		copied = copied || pre.attr["class"] == "curl" && strings.HasPrefix(strings.TrimSpace(pre.text.String()), "curl ")
	}
	if !copied {
		t.Errorf("%s has no line to copy", where)
	}
	for _, pre := range place.named("pre") {
		if at, tried := pre.attr["data-path"]; tried && (!strings.HasPrefix(at, "/") || strings.Contains(at, "$") || !strings.HasPrefix(where, pre.attr["data-method"]+" ")) {
			t.Errorf("%s is tried with %s %s", where, pre.attr["data-method"], at)
		}
	}
}

// Which properties need not be there is told, and in the order of the document.
func TestReference_Required(t *testing.T) {
	level.Repeats(t)
	document := parse(t, config.APIs[0].Document)
	_, places := readReference(t, newDocs(t), "network")
	checked := 0
	for name, s := range at(document, "components", "schemas") {
		required, _ := s.(object)["required"].([]any)
		for property := range at(s.(object), "properties") {
			for _, row := range places["schema-"+name].named("tr") {
				th := row.named("th")
				if len(th) == 1 && strings.Fields(th[0].text.String())[0] == property {
					checked++
					if optional := th[0].shows("optional"); optional == slices.Contains(required, any(property)) {
						t.Errorf("%s.%s: optional is %v", name, property, optional)
					}
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d properties were found", checked)
	}
}

// hostileText would be an attack, or break the page, anywhere that it is not text.
const hostileText = `</pre></td><script>alert(1)</script><img src=x onerror=alert(1)>"' onload='x' & {{.}} [go](javascript:alert(1)) <!-- ]]>`

// spoil puts the text wherever a document has text of its own.
func spoil(part any) any {
	switch part := part.(type) {
	case object:
		for name, value := range part {
			if _, isText := value.(string); isText && name != "$ref" && name != "type" && name != "path" && name != "in" && name != "operationId" && name != "scheme" {
				part[name] = hostileText
			} else {
				part[name] = spoil(value)
			}
		}
		if examples, has := part["examples"].(object); has {
			examples[hostileText] = object{"value": hostileText}
		}
		if properties, has := part["properties"].(object); has {
			properties[hostileText] = object{"type": hostileText, "enum": []any{hostileText}, "pattern": hostileText}
		}
	case []any:
		for _, value := range part {
			spoil(value)
		}
	}
	return part
}

func TestReference_TextIsText(t *testing.T) {
	document := parse(t, config.APIs[1].Document)
	tags := document["tags"] // they are referred to
	delete(document, "tags")
	spoil(document)
	document["tags"] = tags
	for _, item := range at(document, "paths") {
		for _, operation := range item.(object) {
			if o, is := operation.(object); is {
				o["tags"] = []any{"about"}
			}
		}
	}
	source, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	d, err := docsite.New(docsite.Config{Guides: docs.Files, PublicURL: hostileText, APIs: []docsite.API{{Name: "hostile", Document: source, Key: hostileText}}})
	if err != nil {
		t.Fatal(err)
	}
	page, _ := readReference(t, d, "hostile")
	forbidden(t, page)
	if n := len(page.named("img")); n != 0 {
		t.Errorf("there are %d pictures", n)
	}
	if n := strings.Count(page.text.String(), "<script>alert(1)</script>"); n < 50 {
		t.Errorf("the text is shown %d times", n)
	}
}

// What the page would leave out is refused, not left out.
func TestNew_RefusesWhatItCannotShow(t *testing.T) {
	for name, change := range map[string]func(object){
		"a keyword of schemas":    func(d object) { at(d, "components", "schemas", "Hotspot")["multipleOf"] = 2 },
		"a part of an operation":  func(d object) { at(d, "paths", "/api/v1/hotspots", "get")["callbacks"] = object{} },
		"a member of the whole":   func(d object) { d["webhooks"] = object{} },
		"a type with two choices": func(d object) { at(d, "components", "schemas", "Hotspot")["type"] = []any{"object", "null"} },
	} {
		document := parse(t, config.APIs[1].Document)
		if change(document); document == nil {
			t.Fatal("there is no document")
		}
		source, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := docsite.New(docsite.Config{Guides: docs.Files, APIs: []docsite.API{{Name: "x", Document: source}}}); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
	if _, err := docsite.New(docsite.Config{Guides: docs.Files, APIs: []docsite.API{{Name: "x", Document: append(slices.Clone(config.APIs[1].Document), '{')}}}); err == nil {
		t.Error("a second document is not refused")
	}
}
