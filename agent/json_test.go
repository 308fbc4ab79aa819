//go:build linux

package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// member is a member of an object; an object is a list of them, in their order.
type (
	member struct {
		name  string
		value any
	}
	object []member
)

// parseJSON reads a value, and not what comes after it.
func parseJSON(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return parseValue(decoder)
}

func parseValue(in *json.Decoder) (any, error) {
	token, err := in.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for in.More() {
			v, err := parseValue(in)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = in.Token()
		return list, err
	case json.Delim('{'):
		all := object{}
		for in.More() {
			name, err := in.Token()
			if err != nil {
				return nil, err
			}
			v, err := parseValue(in)
			if err != nil {
				return nil, err
			}
			all = append(all, member{name.(string), v})
		}
		_, err = in.Token()
		return all, err
	}
	return token, nil
}

// jsonfilter does what testdata/tools/jsonfilter.txt records of the program of 2026, as far as
// the agent uses it: types, names, wildcards and comparisons with a literal.
func jsonfilter(args []string) int {
	if len(args) < 2 || args[0] != "-i" {
		return 1
	}
	text, err := os.ReadFile(args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "Failed to open %s: No such file or directory\n", args[1])
		return 125
	}
	value, err := parseJSON(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Failed to parse JSON data: unexpected end of data")
		return 126
	}
	if len(args) != 4 {
		return 1
	}
	code := 1
	for _, v := range match(value, strings.TrimPrefix(args[3], "@")) {
		if v != nil {
			code = 0
		}
		switch {
		case args[2] == "-t":
			fmt.Println(typeOf(v))
		case v == nil:
		default:
			text, isText := v.(string)
			if !isText {
				text = spaced(v)
			}
			fmt.Println(text)
		}
	}
	return code
}

func typeOf(v any) string {
	switch v := v.(type) {
	case object:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "double"
		}
		return "int"
	}
	return "null"
}

// match returns the values that a path leads to.
func match(value any, path string) (found []any) {
	if path == "" {
		return []any{value}
	}
	if rest, ok := strings.CutPrefix(path, "["); ok {
		condition, rest, _ := strings.Cut(rest, "]")
		for _, v := range children(value) {
			if condition == "*" || holds(v, condition) {
				found = append(found, match(v, rest)...)
			}
		}
		return found
	}
	name := strings.TrimPrefix(path, ".")
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	name, rest := name[:end], name[end:]
	if name == "*" {
		for _, v := range children(value) {
			found = append(found, match(v, rest)...)
		}
		return found
	}
	if all, ok := value.(object); ok {
		for _, m := range unique(all) {
			if m.name == name {
				return match(m.value, rest)
			}
		}
	}
	return nil
}

func children(value any) (all []any) {
	switch v := value.(type) {
	case []any:
		return v
	case object:
		for _, m := range unique(v) {
			all = append(all, m.value)
		}
	}
	return all
}

// unique returns the members as json-c keeps them: of several with one name the last value, in
// the place of the first.
func unique(all object) (kept object) {
	for _, m := range all {
		if i := slices.IndexFunc(kept, func(k member) bool { return k.name == m.name }); i >= 0 {
			kept[i].value = m.value
		} else {
			kept = append(kept, m)
		}
	}
	return kept
}

func holds(value any, condition string) bool {
	path, literal, _ := strings.Cut(strings.TrimPrefix(condition, "@"), "=")
	want, err := parseJSON([]byte(literal))
	return err == nil && slices.Equal(match(value, path), []any{want})
}

// spaced writes a value as json-c does: on one line, with a slash in a text escaped.
func spaced(value any) string {
	var parts []string
	switch v := value.(type) {
	case object:
		for _, m := range unique(v) {
			parts = append(parts, spaced(m.name)+": "+spaced(m.value))
		}
		return "{ " + strings.Join(parts, ", ") + ending(parts, "}")
	case []any:
		for _, one := range v {
			parts = append(parts, spaced(one))
		}
		return "[ " + strings.Join(parts, ", ") + ending(parts, "]")
	}
	return strings.ReplaceAll(scalar(value), "/", `\/`)
}

func ending(parts []string, bracket string) string {
	if len(parts) == 0 {
		return bracket
	}
	return " " + bracket
}

// scalar writes what is neither an object nor a list.
func scalar(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return strings.TrimSuffix(out.String(), "\n")
}

// formed writes JSON as ubus does (testdata/tools/ubus.txt): each value on a line of its own,
// and an empty one where an object or a list is empty. A name that is there twice stays.
func formed(t testing.TB, text string) string {
	t.Helper()
	value, err := parseJSON([]byte(text))
	if err != nil {
		t.Fatal(err, text)
	}
	return indented(value, "\n") + "\n"
}

func indented(value any, line string) string {
	inner := line + "\t"
	var parts []string
	switch v := value.(type) {
	case object:
		for _, m := range v {
			parts = append(parts, scalar(m.name)+": "+indented(m.value, inner))
		}
		return "{" + inner + strings.Join(parts, ","+inner) + line + "}"
	case []any:
		for _, one := range v {
			parts = append(parts, indented(one, inner))
		}
		return "[" + inner + strings.Join(parts, ","+inner) + line + "]"
	case json.Number:
		if f, err := v.Float64(); err == nil && typeOf(v) == "double" {
			return fmt.Sprintf("%f", f)
		}
	}
	return scalar(value)
}
