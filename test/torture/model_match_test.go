//go:build linux

package torture_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// want is what the model expects of an answer.
type want struct {
	status int
	code   string            // of the error
	fields []string          // at fault; nil if it does not matter. "settings*" stands for any that begins so
	data   any               // what "data" must be: see match
	page   any               // *pagination or a rule, beside it
	header map[string]string // values may be names in braces
	whole  rule              // for answers that are not in the envelope
	loose  bool              // the clock decides numbers: stores need not agree on them
	apart  bool              // ids decide an order, or bytes: stores are not compared
}

type pagination struct{ page, perPage, total int }

// fields is what beside a list says where the page is in it. The cursor of the next
// page is there unless the list ends with this one or before it.
func (p *pagination) fields() fields {
	pages := (p.total + p.perPage - 1) / p.perPage
	next := rule(func(_ *world, _ span, got any) string {
		if text, _ := got.(string); (text != "") != (p.page < pages) || text == "" && got != nil {
			return fmt.Sprintf("%#v on page %d of %d", got, p.page, pages)
		}
		return ""
	})
	return fields{"page": p.page, "per_page": p.perPage, "total": p.total, "total_pages": pages, "next": next}
}

// named stands in an expectation for a value that the server chose: a name,
// bound when it is first seen and the same from then on.
type named string

// rule says what is wrong with a value, or nothing.
type rule func(w *world, at span, got any) string

// optional is a rule for a member that may be absent.
type optional rule

// refused is the expectation of an error.
func refused(status int, code string) *want { return &want{status: status, code: code} }

var (
	errUnauthorized = want{status: 401, code: "unauthorized", header: map[string]string{"WWW-Authenticate": "Bearer"}}
	errForbidden    = want{status: 403, code: "forbidden"}
	errNotFound     = want{status: 404, code: "not_found"}
	errConflict     = want{status: 409, code: "conflict"}
)

// judge compares an answer with what was expected of it.
func (w *world) judge(a answer, e *want) string {
	if a.err != nil {
		return a.err.Error()
	}
	if a.status != e.status {
		return fmt.Sprintf("status %d; want %d %s", a.status, e.status, e.code)
	}
	for name, value := range e.header {
		if got := a.header.Get(name); !w.same(value, got) {
			return fmt.Sprintf("%s: %q; want %q (%s)", name, got, value, w.fill(value))
		}
	}
	if e.whole != nil {
		return e.whole(w, a.at, a.text)
	}
	if e.status == 204 || e.status == 304 {
		if len(a.text) != 0 {
			return "a body where there is none"
		}
		return ""
	}
	return w.judgeEnvelope(a, e)
}

func (w *world) judgeEnvelope(a answer, e *want) string {
	var got map[string]any
	if err := json.Unmarshal(a.text, &got); err != nil {
		return err.Error()
	}
	meta, _ := got["meta"].(map[string]any)
	if id, _ := meta["request_id"].(string); id == "" || id != a.header.Get("X-Request-Id") || len(meta) != 2 {
		return fmt.Sprintf("meta %v, X-Request-Id %q", meta, a.header.Get("X-Request-Id"))
	}
	delete(got, "meta")
	expected := map[string]any{"data": e.data}
	if e.code != "" {
		expected = map[string]any{"error": rule(func(_ *world, _ span, got any) string { return judgeError(got, e) })}
	}
	switch p := e.page.(type) {
	case *pagination:
		expected["pagination"] = p.fields()
	case rule:
		expected["pagination"] = p
	}
	return w.match("", expected, got, a.at)
}

// anything is a value that the model does not predict.
var anything = rule(func(*world, span, any) string { return "" })

func judgeError(got any, e *want) string {
	body, _ := got.(map[string]any)
	if body["code"] != e.code || body["message"] == "" || body["message"] == nil {
		return fmt.Sprintf("%v; want the code %s", got, e.code)
	}
	if e.fields == nil {
		return ""
	}
	var fields []string
	details, _ := body["details"].([]any)
	for _, d := range details {
		field, _ := d.(map[string]any)["field"].(string)
		fields = append(fields, field)
	}
	slices.Sort(fields)
	slices.Sort(e.fields)
	if len(fields) != len(e.fields) || !slices.EqualFunc(e.fields, fields, sameField) {
		return fmt.Sprintf("the fields at fault are %v; want %v", fields, e.fields)
	}
	return ""
}

func sameField(want, got string) bool {
	if prefix, any := strings.CutSuffix(want, "*"); any {
		return strings.HasPrefix(got, prefix)
	}
	return got == want
}

// match compares a value with what was expected: members and elements one by
// one, names by what they are bound to, rules by asking them.
func (w *world) match(path string, expected, got any, at span) string {
	switch expected := expected.(type) {
	case optional:
		return w.match(path, rule(expected), got, at)
	case rule:
		if problem := expected(w, at, got); problem != "" {
			return path + ": " + problem
		}
		return ""
	case named:
		text, _ := got.(string)
		if problem := w.bind(string(expected), text); problem != "" {
			return path + ": " + problem
		}
		return ""
	case map[string]any:
		return w.matchObject(path, expected, got, at)
	case []any:
		list, isList := got.([]any)
		if !isList || len(list) != len(expected) {
			return fmt.Sprintf("%s: %v; want %d elements %v", path, got, len(expected), expected)
		}
		for i := range list {
			if problem := w.match(fmt.Sprintf("%s[%d]", path, i), expected[i], list[i], at); problem != "" {
				return problem
			}
		}
		return ""
	case int:
		return w.match(path, float64(expected), got, at)
	}
	if !reflect.DeepEqual(expected, got) {
		return fmt.Sprintf("%s: %#v; want %#v", path, got, expected)
	}
	return ""
}

func (w *world) matchObject(path string, expected map[string]any, got any, at span) string {
	object, isObject := got.(map[string]any)
	if !isObject {
		return fmt.Sprintf("%s: %v; want an object", path, got)
	}
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		value, there := object[name]
		if _, mayMiss := expected[name].(optional); mayMiss && !there {
			continue
		}
		if !there {
			return fmt.Sprintf("%s.%s is not there", path, name)
		}
		if problem := w.match(path+"."+name, expected[name], value, at); problem != "" {
			return problem
		}
	}
	for name := range object {
		if _, known := expected[name]; !known {
			return fmt.Sprintf("%s.%s is there: %v", path, name, object[name])
		}
	}
	return ""
}

// forms is how a value looks, by the letters that its name begins with.
var forms = map[string]*regexp.Regexp{
	"hs":      regexp.MustCompile(`^hs_[0-7][0-9a-hjkmnp-tv-z]{25}$`),
	"usr":     regexp.MustCompile(`^usr_[0-7][0-9a-hjkmnp-tv-z]{25}$`),
	"key":     regexp.MustCompile(`^key_[0-7][0-9a-hjkmnp-tv-z]{25}$`),
	"secret":  regexp.MustCompile(`^bcn_[0-7][0-9a-hjkmnp-tv-z]{25}_[0-9A-Za-z]{36}$`),
	"code":    regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`),
	"etag":    regexp.MustCompile(`^"v[1-9][0-9]*"$`),
	"at":      regexp.MustCompile(`^` + times.String() + `$`),
	"updated": regexp.MustCompile(`^` + times.String() + `$`),
}

// bind holds a value to the one that the name stands for; a new name takes any
// value of the right form that no other name has. Two hotspots may be changed at
// the same time and have the same version, but two versions of one ("etag3:1",
// "etag3:2") have neither in common.
func (w *world) bind(name, value string) string {
	if known, bound := w.bound[name]; bound {
		if known != value {
			return fmt.Sprintf("%q; want %s, which is %q", value, name, known)
		}
		return ""
	}
	thing, version, versioned := strings.Cut(name, ":")
	kind := strings.TrimRight(thing, "0123456789")
	if !forms[kind].MatchString(value) {
		return fmt.Sprintf("%q; want something new of the kind %q", value, kind)
	}
	if other, taken := w.names[value]; taken && !versioned {
		return fmt.Sprintf("%q is %s already; want something new", value, other)
	}
	if n, _ := strconv.Atoi(version); n > 1 && w.bound[fmt.Sprintf("%s:%d", thing, n-1)] == value {
		return fmt.Sprintf("%q is what %s had before it was changed", value, thing)
	}
	w.bound[name] = value
	if !versioned {
		w.names[value] = name
	}
	return ""
}

// same compares a header, in which a name in braces may stand for all of it.
func (w *world) same(expected, got string) bool {
	if nameInBraces.FindString(expected) == expected && expected != "" {
		return w.bind(expected[1:len(expected)-1], got) == ""
	}
	return w.fill(expected) == got
}
