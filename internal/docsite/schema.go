package docsite

import (
	"cmp"
	"encoding/json"
	"html/template"
	"maps"
	"path"
	"slices"
	"strconv"
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

// words describes the type of a value, such as "array of Hotspot or null".
func words(s *schema) []word {
	if s != nil && s.Nullable {
		not := *s
		not.Nullable = false
		return append(words(&not), word{Text: " or null"})
	}
	switch {
	case s == nil, s.Ref == "" && s.Type == "" && s.Const == nil && s.forms() == nil && s.AllOf == nil:
		return nil
	case s.Ref != "":
		return []word{{Schema: path.Base(s.Ref)}}
	case len(s.forms()) > 0:
		return joined(s.forms(), " or ")
	case len(s.AllOf) > 0:
		return joined(s.AllOf, " and ")
	case s.Type == "array":
		return append([]word{{Text: "array of "}}, words(s.Items)...)
	case s.AdditionalProperties.each != nil:
		return append([]word{{Text: s.Type + " of "}}, words(s.AdditionalProperties.each)...)
	case s.Type == "" && s.Const != nil:
		return []word{{Text: plain(s.Const)}}
	case s.Format != "":
		return []word{{Text: s.Type + " (" + s.Format + ")"}}
	}
	return []word{{Text: s.Type}}
}

func joined(schemas []*schema, by string) []word {
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
func limits(s *schema) []limit {
	if s == nil {
		return nil
	}
	var all []limit
	add := func(text string, codes ...string) {
		if text != "" {
			all = append(all, limit{text, codes})
		}
	}
	add(between(s.Minimum, s.Maximum, ""))
	if s.ExclusiveMinimum != "" {
		add("more than " + s.ExclusiveMinimum.String())
	}
	if s.ExclusiveMaximum != "" {
		add("less than " + s.ExclusiveMaximum.String())
	}
	add(between(s.MinLength, s.MaxLength, "character"))
	add(between(s.MinItems, s.MaxItems, "item"))
	if s.UniqueItems {
		add("each once")
	}
	if len(s.Enum) == 1 {
		add("always", plain(s.Enum[0]))
	} else if len(s.Enum) > 1 {
		add("one of", plains(s.Enum)...)
	}
	if s.Const != nil && s.Type != "" {
		add("always", plain(s.Const))
	}
	if s.Pattern != "" {
		add(matching, s.Pattern)
	}
	if s.Default != nil {
		add("default", plain(s.Default))
	}
	if s.Type == "array" {
		for _, inner := range limits(s.Items) {
			add("each "+inner.Text, inner.Codes...)
		}
	}
	for _, one := range slices.Concat(s.forms(), s.AllOf) {
		all = append(all, limits(one)...)
	}
	return all
}

// between describes a range. Either end may be open.
func between(least, most json.Number, unit string) string {
	text, last := "", cmp.Or(most, least)
	switch {
	case last == "":
		return ""
	case most == "":
		text = "at least " + least.String()
	case least == "" || least == "0" && unit != "":
		text = "at most " + most.String()
	case least == most:
		text = least.String()
	default:
		text = least.String() + " to " + most.String()
	}
	switch {
	case unit == "":
		return text
	case last == "1":
		return text + " " + unit
	}
	return text + " " + unit + "s"
}

// plain returns a JSON value as text: a string without its quotes.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

func plains(values []json.RawMessage) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = plain(v)
	}
	return texts
}

// rules describes the type of a value and its own rules.
func rules(s *schema) field { return field{Type: words(s), Limits: limits(s)} }

// value describes a value. If its schema has a name, the rules of that schema are
// included: nobody should have to follow a link for a range.
func (r *reference) value(s *schema) field {
	f := rules(s)
	if s == nil {
		return f
	}
	text := s.Description
	if s.Ref != "" {
		named := lookUp(s.Ref, r.Components.Schemas)
		text = cmp.Or(text, named.Description)
		for _, l := range limits(named) {
			if l.Text != matching { // the pattern of an id need not be in every table
				f.Limits = append(f.Limits, l)
			}
		}
	}
	f.Text = r.text.line(text)
	return f
}

// fields lists the properties of an object, and of the unnamed objects in it:
// location.lat, weekly[].open.
func (r *reference) fields(prefix string, s *schema) []field {
	var rows []field
	for _, name := range propertyOrder(s) {
		property := s.Properties[name]
		row := r.value(property)
		row.Name = prefix + name
		// A property without a type narrows one of another schema.
		row.Optional = len(row.Type) > 0 && !slices.Contains(s.Required, name)
		if len(row.Type)+len(row.Limits)+len(row.Text) > 0 {
			rows = append(rows, row)
		}
		rows = append(rows, r.inner(prefix+name, property)...)
	}
	return rows
}

// inner lists the properties inside an unnamed value.
func (r *reference) inner(name string, s *schema) []field {
	if s == nil {
		return nil
	}
	for s.Items != nil {
		name, s = name+"[]", s.Items
		if s.Description != "" {
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
	for i, one := range s.forms() {
		rows = append(rows, r.fields(name+" (form "+strconv.Itoa(i+1)+").", one)...)
	}
	for _, one := range s.AllOf {
		rows = append(rows, r.inner(name, one)...)
	}
	return rows
}

// propertyOrder returns the names of properties: the required ones first, in the order
// of the document.
func propertyOrder(s *schema) []string {
	var names []string
	for _, name := range s.Required {
		if s.Properties[name] != nil {
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
