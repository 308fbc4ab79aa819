package docsite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// node is an object of an OpenAPI document. Templates read its members by name.
type node = map[string]any

// grammar has the members that the pages show, by kind of object. A name is of a text, a
// number or a truth value; name? of anything; name:kind of an object, or of a truth value
// instead of a schema; name[]kind of a list; and name{}kind of an object with any names.
var grammar = map[string]string{
	"document":   "openapi info:info servers[]server security? tags[]tag paths{}path components:components",
	"info":       "title version summary description license:license",
	"license":    "name identifier url",
	"server":     "url description",
	"tag":        "name description",
	"components": "headers{}header parameters{}parameter responses{}response schemas{}schema securitySchemes{}scheme",
	"scheme":     "type scheme bearerFormat in name description",
	"path":       "parameters[]parameter get:operation head:operation post:operation put:operation patch:operation delete:operation options:operation",
	"operation":  "operationId tags? summary description security? parameters[]parameter requestBody:body responses{}response",
	"parameter":  "$ref name in description required style explode schema:schema example?",
	"body":       "description required content{}media",
	"response":   "$ref description headers{}header content{}media",
	"header":     "$ref description required schema:schema",
	"media":      "schema:schema examples{}example",
	"example":    "summary description value? x-request?", // the last is the request with which tests check the example
	"schema": "$ref type nullable format description pattern enum? const? default? minimum maximum exclusiveMinimum exclusiveMaximum " +
		"minLength maxLength minItems maxItems uniqueItems properties{}schema required? additionalProperties:schema items:schema " +
		"oneOf[]schema anyOf[]schema allOf[]schema",
}

var grammarRule = regexp.MustCompile(`^([\w$-]+)(\?|:|\[\]|\{\})?(\w*)$`)

// rulesOf returns, for each kind of object, how the value of a member looks and its kind.
var rulesOf = sync.OnceValue(func() map[string]map[string][]string {
	all := map[string]map[string][]string{}
	for kind, members := range grammar {
		all[kind] = map[string][]string{}
		for text := range strings.FieldsSeq(members) {
			rule := grammarRule.FindStringSubmatch(text)
			all[kind][rule[1]] = rule[2:]
		}
	}
	return all
})

// parseDocument decodes a document strictly: what the pages would leave out is refused.
func parseDocument(source []byte) (node, error) {
	decoder := json.NewDecoder(bytes.NewReader(source))
	decoder.UseNumber()
	var d node
	if err := decoder.Decode(&d); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document")
	}
	return d, check("document", d)
}

// check returns an error if an object has something that the pages do not show.
func check(kind string, value any) error {
	object, ok := value.(node)
	if !ok {
		return fmt.Errorf("a %s is not an object", kind)
	}
	for name, member := range object {
		rule, known := rulesOf()[kind][name]
		if !known {
			return fmt.Errorf("a %s has %q, which the pages do not show", kind, name)
		}
		each := []any{member}
		_, flag := member.(bool)
		list, isList := member.([]any)
		inner, isObject := member.(node)
		switch fits := !isList && !isObject; {
		case rule[0] == "?", rule[0] == ":" && rule[1] == "schema" && flag, rule[0] == "" && fits:
			continue
		case rule[0] == "[]" && isList:
			each = list
		case rule[0] == "{}" && isObject:
			each = slices.Collect(maps.Values(inner))
		case rule[0] != ":":
			return fmt.Errorf("%q of a %s has a form that the pages do not show", name, kind)
		}
		for _, one := range each {
			if err := check(rule[1], one); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// sub returns the object below some names, or nil.
func sub(n node, names ...string) node {
	for _, name := range names {
		n, _ = n[name].(node)
	}
	return n
}

// list returns the objects of lists, one list after the other.
func list(n node, names ...string) (all []node) {
	for _, name := range names {
		members, _ := n[name].([]any)
		for _, m := range members {
			one, _ := m.(node)
			all = append(all, one)
		}
	}
	return all
}

// textAt returns a member as text, or nothing if there is none.
func textAt(n node, name string) string {
	if value, has := n[name]; has {
		return plain(value)
	}
	return ""
}

// names returns the names of an object's members, sorted.
func names(n node) []string { return slices.Sorted(maps.Keys(n)) }

// resolve follows a reference of a document, if the object is one. A dangling one is an
// error in the document, which the tests of its API would detect.
func (r *reference) resolve(n node) node {
	ref := textAt(n, "$ref")
	if ref == "" {
		return n
	}
	kind, name := path.Split(ref)
	found := sub(r.Doc, "components", path.Base(kind), name)
	if found == nil {
		panic(fmt.Errorf("docsite: the reference %s does not exist", ref))
	}
	return found
}

// endpoints returns all operations, in the order they are shown. Each also has its method
// and path, and what the document says elsewhere.
func (r *reference) endpoints() (all []node) {
	base := ""
	if servers := list(r.Doc, "servers"); len(servers) > 0 && textAt(servers[0], "url") != "/" {
		base = textAt(servers[0], "url")
	}
	for _, path := range names(sub(r.Doc, "paths")) {
		item := sub(r.Doc, "paths", path)
		if base != "" {
			path = base + strings.TrimSuffix(path, "/")
		}
		for _, method := range []string{"get", "head", "post", "put", "patch", "delete", "options"} {
			e := maps.Clone(sub(item, method))
			if e == nil {
				continue
			}
			if e["security"] == nil {
				e["security"] = r.Doc["security"]
			}
			parameters := append(list(item, "parameters"), list(e, "parameters")...)
			for i, p := range parameters {
				parameters[i] = r.resolve(p)
			}
			e["method"], e["path"], e["parameters"] = strings.ToUpper(method), path, parameters
			all = append(all, e)
		}
	}
	return all
}

// keys returns the names of the security schemes, any of which permits the operation. If
// there are none, it is open to all.
func keys(operation node) (all []string) {
	for _, one := range list(operation, "security") {
		all = append(all, names(one)...)
	}
	return all
}

// Scopes are in the text of an operation: OpenAPI has them only for OAuth.
var scopeText = regexp.MustCompile("Needs\\s+the\\s+scope\\s+`([^`]+)`")

// scope returns the scope that a key must have, or nothing.
func scope(operation node) string {
	if found := scopeText.FindStringSubmatch(textAt(operation, "description")); found != nil {
		return found[1]
	}
	return ""
}

// formats returns the media types of a body, JSON first: it is the default.
func formats(content any) []string {
	body, _ := content.(node)
	all := names(body)
	return firstWhere(all, func(media string) bool { return media == "application/json" })
}

// firstWhere moves those for which is holds to the front.
func firstWhere(all []string, is func(string) bool) []string {
	rest := slices.DeleteFunc(slices.Clone(all), is)
	return append(slices.DeleteFunc(all, func(one string) bool { return !is(one) }), rest...)
}
