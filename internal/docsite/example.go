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
func (r *reference) example(value json.RawMessage, s *schema) string {
	if bytes.HasPrefix(value, []byte(`"`)) {
		return plain(value)
	}
	return r.layOut(value, s, "")
}

// layOut formats JSON on one line if it is short, else with each member on its own line.
func (r *reference) layOut(value json.RawMessage, s *schema, indent string) string {
	if line := r.oneLine(value, s); len(indent)+len(line) <= lineWidth {
		return line
	}
	inner := indent + "  "
	return r.members(value, s, "\n"+inner, ",\n"+inner, "\n"+indent)
}

func (r *reference) oneLine(value json.RawMessage, s *schema) string {
	return r.members(value, s, "", ", ", "")
}

// members formats a value with separators before, between and after its members. If
// those are on one line, so is everything inside them.
func (r *reference) members(value json.RawMessage, s *schema, before, between, after string) string {
	inner := func(v json.RawMessage, s *schema) string {
		if before == "" {
			return r.oneLine(v, s)
		}
		return r.layOut(v, s, strings.TrimPrefix(before, "\n"))
	}
	var parts []string
	var open, end string
	var list []json.RawMessage
	var object map[string]json.RawMessage
	if len(value) == 0 {
		return "" // an example without a value
	}
	switch s = r.follow(s); value[0] {
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
func (r *reference) follow(s *schema) *schema {
	switch {
	case s == nil:
		return &schema{}
	case s.Ref != "":
		return r.follow(lookUp(s.Ref, r.Components.Schemas))
	case len(s.forms()) > 0:
		return r.follow(s.forms()[0])
	case len(s.AllOf) > 0:
		return r.follow(s.AllOf[0])
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
func (r *reference) curl(e endpoint) string {
	asked := exampleRequest(e.operation)
	parts := []string{"curl"}
	if e.Method != "GET" {
		parts[0] += " -X " + e.Method
	}
	if _, streams := e.Responses["200"].Content["text/event-stream"]; streams {
		parts[0] += " -N"
	}
	if keys := e.Keys(); len(keys) > 0 {
		parts = append(parts, "-H "+r.keyHeader(keys[0])) // any one suffices
	}
	for _, name := range slices.Sorted(maps.Keys(asked.Header)) {
		parts = append(parts, "-H "+quote(name+": "+asked.Header[name]))
	}
	if kind, body := r.bodyExample(e.operation); body != "" {
		parts = append(parts, "-H "+quote("Content-Type: "+kind), "-d "+quote(body))
	}
	at := `"` + escape(r.url) + fillPath(escape(e.Path), e.Parameters) + escape(query(asked, e.Parameters)) + `"`
	return strings.Join(append(parts, at), " \\\n  ")
}

// First returns a command for the first operation that only reads, and that needs no
// variable but the key.
func (r *reference) First() string {
	for _, e := range r.operations {
		if e.Method != "GET" || len(e.Keys()) == 0 && len(r.Security) > 0 {
			continue
		}
		line := r.curl(e)
		if !strings.Contains(strings.Replace(line, "$KEY", "", 1), "$") {
			return line
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
		for _, f := range formats(o.Responses[status].Content) {
			for _, name := range slices.Sorted(maps.Keys(f.Examples)) {
				var found asking
				if json.Unmarshal(f.Examples[name].Request, &found) == nil && found.Path != "" {
					return found
				}
			}
		}
	}
	return asking{}
}

func (r *reference) keyHeader(name string) string {
	s := r.Components.SecuritySchemes[name]
	prefix := s.Name + ": "
	if s.Type == "http" {
		prefix = "Authorization: Bearer "
	}
	if r.key != "" {
		return quote(prefix + r.key)
	}
	variable := "$KEY"
	if len(r.Components.SecuritySchemes) > 1 && !r.IsDefault(name) {
		variable = "$" + shellName(name)
	}
	return `"` + prefix + variable + `"`
}

// bodyExample returns the shortest example of a body, which has only what is required.
func (r *reference) bodyExample(o *operation) (kind, body string) {
	if o.RequestBody == nil {
		return "", ""
	}
	for _, f := range formats(o.RequestBody.Content) {
		for _, name := range slices.Sorted(maps.Keys(f.Examples)) {
			if text := r.oneLine(f.Examples[name].Value, f.Schema); body == "" || len(text) < len(body) {
				kind, body = f.Media, text
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
