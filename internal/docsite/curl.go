package docsite

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

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
