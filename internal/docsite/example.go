package docsite

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// lineWidth is the maximum width of a part of an example that is shown on one line.
const lineWidth = 88

// example returns the value of an example as a client would see it: a string as it is,
// otherwise JSON, in the order of its schema and on as few lines as are readable.
func (r *reference) example(of node, schema any) string {
	value, given := of["value"]
	s, _ := schema.(node)
	if text, ok := value.(string); ok || !given {
		return text
	}
	return r.layOut(value, s, "")
}

// layOut formats JSON on one line if it is short, else with each member on its own line.
func (r *reference) layOut(value any, s node, indent string) string {
	if line := r.oneLine(value, s); len(indent)+len(line) <= lineWidth {
		return line
	}
	inner := indent + "  "
	return r.members(value, s, "\n"+inner, ",\n"+inner, "\n"+indent)
}

func (r *reference) oneLine(value any, s node) string {
	return r.members(value, s, "", ", ", "")
}

// members formats a value with separators before, between and after its members. If
// those are on one line, so is everything inside them.
func (r *reference) members(value any, s node, before, between, after string) string {
	inner := func(v any, s node) string {
		if before == "" {
			return r.oneLine(v, s)
		}
		return r.layOut(v, s, strings.TrimPrefix(before, "\n"))
	}
	var parts []string
	brackets := "[]"
	s = r.follow(s)
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			parts = append(parts, inner(v, sub(s, "items")))
		}
	case node:
		brackets = "{}"
		for _, name := range existing(value, append(propertyOrder(s), names(value)...)) {
			parts = append(parts, encode(name)+": "+inner(value[name], sub(s, "properties", name)))
		}
	default:
		return encode(value)
	}
	if len(parts) == 0 {
		return brackets
	}
	return brackets[:1] + before + strings.Join(parts, between) + after + brackets[1:]
}

// follow returns what is known of the schema of a value without the value itself.
func (r *reference) follow(s node) node {
	if s["$ref"] != nil {
		return r.follow(r.resolve(s))
	}
	if choices := list(s, "oneOf", "anyOf", "allOf"); len(choices) > 0 {
		return r.follow(choices[0])
	}
	return s
}

// curl returns a shell command that calls the operation. If the document has an example
// with its request, the command sends that request.
func (r *reference) curl(e node) string {
	asked, parameters := exampleRequest(e), e["parameters"].([]node)
	parts := []string{"curl"}
	if e["method"] != "GET" {
		parts[0] += " -X " + textAt(e, "method")
	}
	if sub(e, "responses", "200", "content", "text/event-stream") != nil {
		parts[0] += " -N"
	}
	if needed := keys(e); len(needed) > 0 {
		parts = append(parts, "-H "+r.keyHeader(needed[0])) // any one suffices
	}
	header := sub(asked, "header")
	for _, name := range names(header) {
		parts = append(parts, "-H "+quote(name+": "+textAt(header, name)))
	}
	if kind, body := r.bodyExample(e); body != "" {
		parts = append(parts, "-H "+quote("Content-Type: "+kind), "-d "+quote(body))
	}
	at := `"` + escape(r.url) + fillPath(escape(textAt(e, "path")), parameters) + escape(query(asked, parameters)) + `"`
	return strings.Join(append(parts, at), " \\\n  ")
}

// trial is a request that a page can send to this server.
type trial struct {
	Method, Path string // the path has braces where someone fills in a value
	Header, Key  string // the header that has the key, with what is before it, and a key if there is one for all
	Kind, Body   string
}

// try returns the request of the example, or nil if a page cannot send it: it would wait for
// events, or sign with the key of a device.
func (r *reference) try(e node) *trial {
	asked, parameters, needed := exampleRequest(e), e["parameters"].([]node), keys(e)
	if sub(e, "responses", "200", "content", "text/event-stream") != nil || len(needed) > 0 && !slices.ContainsFunc(needed, r.IsDefault) {
		return nil
	}
	path := fillPath(textAt(e, "path"), parameters)
	t := &trial{Method: textAt(e, "method"), Path: r.below() + shellVariable.ReplaceAllStringFunc(path, lowerName) + query(asked, parameters)}
	t.Kind, t.Body = r.bodyExample(e)
	if len(needed) > 0 {
		scheme := sub(r.Doc, "components", "securitySchemes", needed[slices.IndexFunc(needed, r.IsDefault)])
		t.Header, t.Key = textAt(scheme, "name")+": ", r.key
		if textAt(scheme, "type") == "http" {
			t.Header = "Authorization: Bearer "
		}
	}
	return t
}

var shellVariable = regexp.MustCompile(`\$\{[A-Z_]+\}`)

// lowerName writes a variable as the document does: {id} for ${ID}.
func lowerName(variable string) string { return strings.ToLower(strings.TrimPrefix(variable, "$")) }

// below is the path of this server that the paths of the document begin at.
func (r *reference) below() string {
	u, err := url.Parse(r.url)
	if err != nil {
		return ""
	}
	return u.Path
}

// First returns a command for the first operation that only reads, and that needs no
// variable but the key.
func (r *reference) First() string {
	for _, e := range r.operations {
		if e["method"] != "GET" || len(keys(e)) == 0 && len(list(r.Doc, "security")) > 0 {
			continue
		}
		line := r.curl(e)
		if !strings.Contains(strings.Replace(line, "$KEY", "", 1), "$") {
			return line
		}
	}
	return ""
}

// exampleRequest returns the request of the first successful example that has one.
func exampleRequest(operation node) node {
	responses := sub(operation, "responses")
	for _, status := range names(responses) {
		content := sub(responses, status, "content")
		for _, media := range formats(content) {
			examples := sub(content, media, "examples")
			for _, name := range names(examples) {
				if found := sub(examples, name, "x-request"); status[0] == '2' && found["path"] != nil {
					return found
				}
			}
		}
	}
	return nil
}

func (r *reference) keyHeader(name string) string {
	schemes := sub(r.Doc, "components", "securitySchemes")
	prefix := textAt(sub(schemes, name), "name") + ": "
	if textAt(sub(schemes, name), "type") == "http" {
		prefix = "Authorization: Bearer "
	}
	if r.key != "" {
		return quote(prefix + r.key)
	}
	variable := "$KEY"
	if len(schemes) > 1 && !r.IsDefault(name) {
		variable = "$" + shellName(name)
	}
	return `"` + prefix + variable + `"`
}

// bodyExample returns the shortest example of a body, which has only what is required.
func (r *reference) bodyExample(operation node) (kind, body string) {
	content := sub(operation, "requestBody", "content")
	for _, media := range formats(content) {
		examples := sub(content, media, "examples")
		for _, name := range names(examples) {
			if line := r.oneLine(sub(examples, name)["value"], sub(content, media, "schema")); body == "" || len(line) < len(body) {
				kind, body = media, line
			}
		}
	}
	return kind, body
}

var placeholder = regexp.MustCompile(`\{([^}]+)\}`)

// fillPath inserts the examples of parameters, or shell variables if there are none.
func fillPath(path string, parameters []node) string {
	return placeholder.ReplaceAllStringFunc(path, func(found string) string {
		name := strings.Trim(found, "{}")
		for _, p := range parameters {
			if p["name"] == name && p["in"] == "path" && p["example"] != nil {
				return url.PathEscape(textAt(p, "example"))
			}
		}
		return "${" + shellName(name) + "}"
	})
}

// query returns the query of the example, or else the required parameters.
func query(asked node, parameters []node) string {
	if _, query, found := strings.Cut(textAt(asked, "path"), "?"); found {
		return "?" + query
	}
	values := url.Values{}
	for _, p := range parameters {
		if p["in"] == "query" && p["required"] == true && p["example"] != nil {
			values.Set(textAt(p, "name"), textAt(p, "example"))
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
