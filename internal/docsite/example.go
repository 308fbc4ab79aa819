package docsite

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
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
	case len(s.forms()) > 0:
		return b.follow(s.forms()[0])
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

// curl returns a shell command that calls the operation. If the document has an example
// with its request, the command sends that request.
func (b *builder) curl(path string, item pathItem, m methodOperation) string {
	o := m.operation
	asked := exampleRequest(o)
	parts := []string{"curl"}
	if m.method != "GET" {
		parts[0] += " -X " + m.method
	}
	if _, streams := o.Responses["200"].Content["text/event-stream"]; streams {
		parts[0] += " -N"
	}
	for _, name := range b.keys(o) {
		parts = append(parts, "-H "+b.keyHeader(name))
		break // any one suffices
	}
	for _, name := range slices.Sorted(maps.Keys(asked.Header)) {
		parts = append(parts, "-H "+quote(name+": "+asked.Header[name]))
	}
	if kind, body := b.bodyExample(o); body != "" {
		parts = append(parts, "-H "+quote("Content-Type: "+kind), "-d "+quote(body))
	}
	parameters := b.parameters(item, o)
	at := `"` + escape(b.url) + fillPath(escape(path), parameters) + escape(query(asked, parameters)) + `"`
	return strings.Join(append(parts, at), " \\\n  ")
}

// first returns a command for the first operation that only reads, and that needs no
// variable but the key.
func (b *builder) first() string {
	for _, path := range slices.Sorted(maps.Keys(b.Paths)) {
		item := b.Paths[path]
		for _, m := range item.operations() {
			if m.method != "GET" || len(b.keys(m.operation)) == 0 && len(b.Security) > 0 {
				continue
			}
			line := b.curl(path, item, m)
			if !strings.Contains(strings.Replace(line, "$KEY", "", 1), "$") {
				return line
			}
		}
	}
	return ""
}

// asking is the request of an example.
type asking struct {
	Path   string
	Header map[string]string
}

// exampleRequest returns the request of the first successful example that has one.
func exampleRequest(o *operation) asking {
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		if status[0] != '2' {
			continue
		}
		content := o.Responses[status].Content
		for _, kind := range mediaTypes(content) {
			examples := content[kind].Examples
			for _, name := range slices.Sorted(maps.Keys(examples)) {
				var found asking
				if json.Unmarshal(examples[name].Request, &found) == nil && found.Path != "" {
					return found
				}
			}
		}
	}
	return asking{}
}

func (b *builder) keyHeader(name string) string {
	s := b.Components.SecuritySchemes[name]
	prefix := s.Name + ": "
	if s.Type == "http" {
		prefix = "Authorization: Bearer "
	}
	if b.key != "" {
		return quote(prefix + b.key)
	}
	variable := "$KEY"
	if len(b.Components.SecuritySchemes) > 1 && !b.scheme(name).Default {
		variable = "$" + shellName(name)
	}
	return `"` + prefix + variable + `"`
}

// bodyExample returns the shortest example of a body, which has only what is required.
func (b *builder) bodyExample(o *operation) (kind, body string) {
	if o.RequestBody == nil {
		return "", ""
	}
	for _, k := range mediaTypes(o.RequestBody.Content) {
		m := o.RequestBody.Content[k]
		for _, name := range slices.Sorted(maps.Keys(m.Examples)) {
			if text := b.oneLine(m.Examples[name].Value, m.Schema); body == "" || len(text) < len(body) {
				kind, body = k, text
			}
		}
	}
	return kind, body
}

var placeholder = regexp.MustCompile(`\{([^}]+)\}`)

// fillPath inserts the examples of parameters, or shell variables if there are none.
func fillPath(path string, parameters []parameter) string {
	return placeholder.ReplaceAllStringFunc(path, func(found string) string {
		name := strings.Trim(found, "{}")
		for _, p := range parameters {
			if p.Name == name && p.In == "path" && p.Example != nil {
				return url.PathEscape(plain(p.Example))
			}
		}
		return "${" + shellName(name) + "}"
	})
}

// query returns the query of the example, or else the required parameters.
func query(asked asking, parameters []parameter) string {
	if _, query, found := strings.Cut(asked.Path, "?"); found {
		return "?" + query
	}
	values := url.Values{}
	for _, p := range parameters {
		if p.In == "query" && p.Required && p.Example != nil {
			values.Set(p.Name, plain(p.Example))
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// shellName returns a name for a shell variable: DEVICE_KEY for deviceKey.
func shellName(name string) string {
	return strings.ToUpper(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(name, "${1}_$2"))
}

// quote returns text as a single shell word, unchanged by the shell.
func quote(text string) string { return `'` + strings.ReplaceAll(text, `'`, `'\''`) + `'` }

// escape makes text safe inside double quotes, where a shell expands variables.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`).Replace(text)
}
