package docsite

import (
	"html/template"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
)

// reference is the data of the pages of an API.
type reference struct {
	Doc        node
	Path       string // of the overview
	operations []node
	*markdown         // of its texts
	url        string // of the server
	key        string
}

// sharedPage is what the path of the page with schemas and shared responses ends with.
const sharedPage = "/schemas"

// referencePages returns the pages of an API: an overview, one for each tag, and one for
// what several operations share. They are built on first use.
func referencePages(d node, path, url, key string) []*page {
	build := sync.OnceValue(func() *reference {
		md := newMarkdown(func(to string) (string, bool) { return to, true })
		r := &reference{Doc: d, Path: path, markdown: md, url: url, key: key}
		r.operations = r.endpoints()
		return r
	})
	templates := sync.OnceValue(func() *template.Template { return build().templates() })
	pages := []*page{{path: path, route: routeAPI, title: textAt(sub(d, "info"), "title"), body: func() content {
		return content{HTML: execute(templates(), "overview.html", build()), Contents: []heading{{"authentication", "Authentication"}, {"operations", "Operations"}}}
	}}}
	for _, t := range list(d, "tags") {
		name := textAt(t, "name")
		pages = append(pages, &page{path: tagPath(path, name), route: routeTag, title: capital(name), parent: path, body: func() content {
			r := build()
			c := content{HTML: execute(templates(), "tag.html", tagView{r, t})}
			for _, e := range r.Tagged(name) {
				id, summary := textAt(e, "operationId"), textAt(e, "summary")
				c.Contents = append(c.Contents, heading{"op-" + id, summary})
				c.sections = append(c.sections, section{ID: "op-" + id, Heading: summary, Name: id + " " + textAt(e, "path"), Text: r.endpointWords(e)})
			}
			return c
		}})
	}
	return append(pages, &page{path: path + sharedPage, route: routeTag, title: "Schemas", parent: path, body: func() content {
		r := build()
		c := content{HTML: execute(templates(), "shared.html", r), Contents: []heading{{"responses", "Shared responses"}, {"headers", "Shared headers"}, {"schemas", "Schemas"}}}
		schemas := sub(d, "components", "schemas")
		for _, name := range names(schemas) {
			c.sections = append(c.sections, section{ID: "schema-" + name, Heading: name, Text: r.schemaWords(sub(schemas, name))})
		}
		return c
	}})
}

// tagView is the data of the page of a tag.
type tagView struct {
	*reference
	Tag node
}

// tagPath returns the URL path of the page of a tag.
func tagPath(api, tag string) string {
	return api + "/" + url.PathEscape(strings.ReplaceAll(tag, " ", "-"))
}

func capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// templates returns the templates of the reference.
func (r *reference) templates() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"text":       func(source any) template.HTML { return r.text(given(source)) },
		"line":       func(source any) template.HTML { return r.line(given(source)) },
		"capital":    capital,
		"name":       path.Base, // of what a reference refers to
		"resolve":    r.resolve,
		"keys":       keys,
		"scope":      scope,
		"key":        func(name string) string { return r.Path + "#key-" + name },
		"shared":     func(kind, name string) string { return r.Path + sharedPage + "#" + kind + "-" + name },
		"tagPath":    func(tag string) string { return tagPath(r.Path, tag) },
		"rules":      rules,
		"value":      r.value,
		"parameters": r.parameters,
		"fields":     func(s node) []field { return r.inner("", s) },
		"formats":    formats,
		"example":    r.example,
		"curl":       r.curl,
		"try":        r.try,
	}).ParseFS(design, "templates/reference/*.html"))
}

// Tagged returns the operations of a tag.
func (r *reference) Tagged(tag string) []node {
	return slices.DeleteFunc(slices.Clone(r.operations), func(e node) bool {
		tags, _ := e["tags"].([]any)
		return !slices.Contains(tags, any(tag))
	})
}

// Downloads returns the paths of the API's own description: by name, or by media type.
func (r *reference) Downloads() []string {
	var paths []string
	for _, e := range r.operations {
		isDefinition := slices.ContainsFunc(names(sub(e, "responses", "200", "content")), func(media string) bool {
			return strings.HasPrefix(media, "application/vnd.oai.openapi")
		})
		if at := textAt(e, "path"); e["method"] == "GET" && (path.Base(at) == "openapi.yaml" || path.Base(at) == "openapi.json" || isDefinition) {
			paths = append(paths, at)
		}
	}
	return paths
}

// Schemes returns the names of the security schemes, that of most operations first.
func (r *reference) Schemes() []string {
	return firstWhere(names(sub(r.Doc, "components", "securitySchemes")), r.IsDefault)
}

// IsDefault reports whether a security scheme permits operations that name no other.
func (r *reference) IsDefault(scheme string) bool { return slices.Contains(keys(r.Doc), scheme) }

// ByVariable reports whether commands to copy contain no key.
func (r *reference) ByVariable() bool { return r.key == "" }

// parameters describes the parameters of an operation.
func (r *reference) parameters(e node) []field {
	var all []field
	for _, p := range e["parameters"].([]node) {
		f := r.value(p["schema"])
		f.Name, f.In, f.Required = textAt(p, "name"), textAt(p, "in"), p["required"] == true
		if p["description"] != nil {
			f.Text = r.line(textAt(p, "description"))
		}
		if p["explode"] == false {
			f.Limits = append(f.Limits, limit{Text: "separated by commas (" + textAt(p, "style") + ")"})
		}
		if p["example"] != nil {
			f.Limits = append(f.Limits, limit{"for example", []string{textAt(p, "example")}})
		}
		all = append(all, f)
	}
	return all
}

// given returns a member as text; it may be missing.
func given(member any) string {
	text, _ := member.(string)
	return text
}
