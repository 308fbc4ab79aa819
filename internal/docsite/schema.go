package docsite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html/template"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// word is a part of the description of a type: text, or the name of a schema.
type word struct{ Text, Schema string }

const matching = "matches"

// limit is a rule for a value, such as "one of" with the values.
type limit struct {
	Text  string
	Codes []string
}

// field is a row of a table of properties or parameters.
type field struct {
	Name     string
	In       string // for parameters
	Type     []word
	Required bool
	Optional bool
	Limits   []limit
	Text     template.HTML
}

// forms returns the schemas of which a value has one.
func forms(s node) []node { return list(s, "oneOf", "anyOf") }

// words describes the type of a value, such as "array of Hotspot or null".
func words(s node) []word {
	kind, of, format := textAt(s, "type"), sub(s, "additionalProperties"), textAt(s, "format")
	switch {
	case s["nullable"] == true: // OpenAPI 3.0
		not := maps.Clone(s)
		delete(not, "nullable")
		return append(words(not), word{Text: " or null"})
	case s["$ref"] != nil:
		return []word{{Schema: path.Base(textAt(s, "$ref"))}}
	case len(forms(s)) > 0:
		return joined(forms(s), " or ")
	case s["allOf"] != nil:
		return joined(list(s, "allOf"), " and ")
	case kind == "array":
		return append([]word{{Text: "array of "}}, words(sub(s, "items"))...)
	case kind != "" && of != nil:
		return append([]word{{Text: kind + " of "}}, words(of)...)
	case kind != "" && format != "":
		return []word{{Text: kind + " (" + format + ")"}}
	case kind == "" && s["const"] == nil:
		return nil
	}
	return []word{{Text: cmp.Or(kind, textAt(s, "const"))}}
}

func joined(schemas []node, by string) []word {
	var all []word
	for _, one := range schemas {
		told := words(one)
		if len(all) > 0 && len(told) > 0 {
			all = append(all, word{Text: by})
		}
		all = append(all, told...)
	}
	return all
}

// limits returns the rules for a value, including those for the items of a list.
func limits(s node) []limit {
	var all []limit
	add := func(text string, codes ...string) {
		if text != "" {
			all = append(all, limit{text, codes})
		}
	}
	add(between(textAt(s, "minimum"), textAt(s, "maximum"), ""))
	if least := textAt(s, "exclusiveMinimum"); least != "" {
		add("more than " + least)
	}
	if most := textAt(s, "exclusiveMaximum"); most != "" {
		add("less than " + most)
	}
	add(between(textAt(s, "minLength"), textAt(s, "maxLength"), "character"))
	add(between(textAt(s, "minItems"), textAt(s, "maxItems"), "item"))
	if s["uniqueItems"] == true {
		add("each once")
	}
	if values, _ := s["enum"].([]any); len(values) == 1 {
		add("always", plain(values[0]))
	} else if len(values) > 1 {
		add("one of", plains(values)...)
	}
	if s["const"] != nil && s["type"] != nil {
		add("always", textAt(s, "const"))
	}
	if pattern := textAt(s, "pattern"); pattern != "" {
		add(matching, pattern)
	}
	if _, given := s["default"]; given {
		add("default", textAt(s, "default"))
	}
	if s["type"] == "array" {
		for _, inner := range limits(sub(s, "items")) {
			add("each "+inner.Text, inner.Codes...)
		}
	}
	for _, one := range list(s, "oneOf", "anyOf", "allOf") {
		all = append(all, limits(one)...)
	}
	return all
}

// between describes a range. Either end may be open.
func between(least, most, unit string) string {
	words, last := "", cmp.Or(most, least)
	switch {
	case last == "":
		return ""
	case most == "":
		words = "at least " + least
	case least == "" || least == "0" && unit != "":
		words = "at most " + most
	case least == most:
		words = least
	default:
		words = least + " to " + most
	}
	switch {
	case unit == "":
		return words
	case last == "1":
		return words + " " + unit
	}
	return words + " " + unit + "s"
}

// plain returns a value as text: a string as it is, and anything else as JSON.
func plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return encode(value)
}

func plains(values []any) []string {
	var texts []string
	for _, v := range values {
		texts = append(texts, plain(v))
	}
	return texts
}

// encode returns a value as JSON, on one line.
func encode(value any) string {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // cannot fail: it was JSON before
	return strings.TrimSpace(buf.String())
}

// rules describes the type of a value and its own rules.
func rules(schema any) field {
	s, _ := schema.(node)
	return field{Type: words(s), Limits: limits(s)}
}

// value describes a value. If its schema has a name, the rules of that schema are
// included: nobody should have to follow a link for a range.
func (r *reference) value(schema any) field {
	f := rules(schema)
	s, _ := schema.(node)
	told := textAt(s, "description")
	if s["$ref"] != nil {
		named := r.resolve(s)
		told = cmp.Or(told, textAt(named, "description"))
		for _, l := range limits(named) {
			if l.Text != matching { // the pattern of an id need not be in every table
				f.Limits = append(f.Limits, l)
			}
		}
	}
	f.Text = r.line(told)
	return f
}

// fields lists the properties of an object, and of the unnamed objects in it:
// location.lat, weekly[].open.
func (r *reference) fields(prefix string, s node) []field {
	var rows []field
	required, _ := s["required"].([]any)
	for _, name := range propertyOrder(s) {
		property := sub(s, "properties", name)
		row := r.value(property)
		row.Name = prefix + name
		// A property without a type narrows one of another schema.
		row.Optional = len(row.Type) > 0 && !slices.Contains(required, any(name))
		if len(row.Type)+len(row.Limits)+len(row.Text) > 0 {
			rows = append(rows, row)
		}
		rows = append(rows, r.inner(prefix+name, property)...)
	}
	return rows
}

// inner lists the properties inside an unnamed value.
func (r *reference) inner(name string, s node) []field {
	for s["items"] != nil {
		name, s = name+"[]", sub(s, "items")
		if s["description"] != nil {
			row := r.value(s)
			row.Name = name
			return append([]field{row}, r.inner(name, s)...)
		}
	}
	prefix := ""
	if name != "" {
		prefix = name + "."
	}
	rows := r.fields(prefix, s)
	for i, one := range forms(s) {
		rows = append(rows, r.fields(name+" (form "+strconv.Itoa(i+1)+").", one)...)
	}
	for _, one := range list(s, "allOf") {
		rows = append(rows, r.inner(name, one)...)
	}
	return rows
}

// propertyOrder returns the names of properties: the required ones first, in the order
// of the document.
func propertyOrder(s node) []string {
	properties := sub(s, "properties")
	required, _ := s["required"].([]any)
	return existing(properties, append(plains(required), names(properties)...))
}

// existing returns those of some names that an object has, each once.
func existing(in node, wanted []string) (found []string) {
	for _, name := range wanted {
		if _, has := in[name]; has && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}
