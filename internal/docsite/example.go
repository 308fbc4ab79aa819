package docsite

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// lineWidth is the maximum width of a part of an example that is shown on one line.
const lineWidth = 88

// example returns a value as a client would see it: a string as it is, otherwise JSON, in
// the order of its schema and on as few lines as are readable.
func (b *builder) example(value json.RawMessage, s *schema) string {
	if bytes.HasPrefix(value, []byte(`"`)) {
		return plain(value)
	}
	return b.layOut(value, s, "")
}

// layOut formats JSON on one line if it is short, else with each member on its own line.
func (b *builder) layOut(value json.RawMessage, s *schema, indent string) string {
	if line := b.oneLine(value, s); len(indent)+len(line) <= lineWidth {
		return line
	}
	inner := indent + "  "
	return b.members(value, s, "\n"+inner, ",\n"+inner, "\n"+indent)
}

func (b *builder) oneLine(value json.RawMessage, s *schema) string {
	return b.members(value, s, "", ", ", "")
}

// members formats a value with separators before, between and after its members. If
// those are on one line, so is everything inside them.
func (b *builder) members(value json.RawMessage, s *schema, before, between, after string) string {
	inner := func(v json.RawMessage, s *schema) string {
		if before == "" {
			return b.oneLine(v, s)
		}
		return b.layOut(v, s, strings.TrimPrefix(before, "\n"))
	}
	var parts []string
	var open, end string
	var list []json.RawMessage
	var object map[string]json.RawMessage
	if len(value) == 0 {
		return "" // an example without a value
	}
	switch s = b.follow(s); value[0] {
	case '[':
		open, end = "[", "]"
		mustUnmarshal(value, &list)
		for _, v := range list {
			parts = append(parts, inner(v, s.Items))
		}
	case '{':
		open, end = "{", "}"
		mustUnmarshal(value, &object)
		for _, name := range memberOrder(object, s) {
			parts = append(parts, quoteJSON(name)+": "+inner(object[name], s.Properties[name]))
		}
	default:
		return string(value)
	}
	if len(parts) == 0 {
		return open + end
	}
	return open + before + strings.Join(parts, between) + after + end
}

// follow returns the schema that describes a value, as far as that is known without the
// value itself.
func (b *builder) follow(s *schema) *schema {
	switch {
	case s == nil:
		return &schema{}
	case s.Ref != "":
		_, named := lookUp(toSchemas, s.Ref, b.Components.Schemas)
		return b.follow(named)
	case len(s.OneOf) > 0:
		return b.follow(s.OneOf[0])
	case len(s.AllOf) > 0:
		return b.follow(s.AllOf[0])
	}
	return s
}

func memberOrder(object map[string]json.RawMessage, s *schema) []string {
	var names []string
	for _, name := range append(propertyOrder(s), slices.Sorted(maps.Keys(object))...) {
		if _, has := object[name]; has && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// mustUnmarshal decodes a part of a document that was decoded before.
func mustUnmarshal(value json.RawMessage, into any) {
	if err := json.Unmarshal(value, into); err != nil {
		panic(err)
	}
}

func quoteJSON(text string) string {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // cannot fail: a string, to memory
	return strings.TrimSpace(buf.String())
}
