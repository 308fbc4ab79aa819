package docsite

import (
	"html/template"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
)

// reference is the data of the pages of an API.
type reference struct {
	*document
	Path       string // of the overview
	operations []endpoint
	text       *markdown
	url        string // of the server
	key        string
}

// sharedPage is what the path of the page with schemas and shared responses ends with.
const sharedPage = "/schemas"

// referencePages returns the pages of an API: an overview, one for each tag, and one for
// what several operations share. They are built on first use.
func referencePages(d *document, path, url, key string) []*page {
	build := sync.OnceValue(func() *reference {
		text := newMarkdown(func(to string) (string, bool) { return to, true })
		return &reference{document: d, Path: path, operations: d.endpoints(), text: text, url: url, key: key}
	})
	templates := sync.OnceValue(func() *template.Template { return build().templates() })
	pages := []*page{{path: path, route: routeAPI, title: d.Info.Title, body: func() content {
		return content{HTML: execute(templates(), "overview.html", build()), Contents: []heading{{"authentication", "Authentication"}, {"operations", "Operations"}}}
	}}}
	for _, t := range d.Tags {
		pages = append(pages, &page{path: tagPath(path, t.Name), route: routeTag, title: capital(t.Name), parent: path, body: func() content {
			r := build()
			c := content{HTML: execute(templates(), "tag.html", tagView{r, t})}
			for _, e := range r.Tagged(t.Name) {
				c.Contents = append(c.Contents, heading{"op-" + e.ID, e.Summary})
				c.sections = append(c.sections, section{ID: "op-" + e.ID, Heading: e.Summary, Name: e.ID + " " + e.Path, Text: r.endpointWords(e)})
			}
			return c
		}})
	}
	return append(pages, &page{path: path + sharedPage, route: routeTag, title: "Schemas", parent: path, body: func() content {
		r := build()
		c := content{HTML: execute(templates(), "shared.html", r), Contents: []heading{{"responses", "Shared responses"}, {"headers", "Shared headers"}, {"schemas", "Schemas"}}}
		for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
			c.sections = append(c.sections, section{ID: "schema-" + name, Heading: name, Text: r.schemaWords(d.Components.Schemas[name])})
		}
		return c
	}})
}

// tagView is the data of the page of a tag.
type tagView struct {
	*reference
	Tag tag
}

// tagPath returns the URL path of the page of a tag.
func tagPath(api, tag string) string {
	return api + "/" + url.PathEscape(strings.ReplaceAll(tag, " ", "-"))
}

func capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// templates returns the templates of the reference.
func (r *reference) templates() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"text":       r.text.text,
		"line":       r.text.line,
		"capital":    capital,
		"name":       path.Base, // of what a reference refers to
		"response":   func(ref string) response { return lookUp(ref, r.Components.Responses) },
		"key":        func(name string) string { return r.Path + "#key-" + name },
		"shared":     func(kind, name string) string { return r.Path + sharedPage + "#" + kind + "-" + name },
		"tagPath":    func(tag string) string { return tagPath(r.Path, tag) },
		"rules":      rules,
		"value":      r.value,
		"parameters": r.parameters,
		"fields":     func(s *schema) []field { return r.inner("", s) },
		"formats":    formats,
		"example":    r.example,
		"curl":       r.curl,
	}).ParseFS(design, "templates/reference/*.html"))
}

// Tagged returns the operations of a tag.
func (r *reference) Tagged(tag string) []endpoint {
	return slices.DeleteFunc(slices.Clone(r.operations), func(e endpoint) bool { return !slices.Contains(e.Tags, tag) })
}

// Downloads returns the paths of the API's own description.
func (r *reference) Downloads() []string {
	var paths []string
	for _, e := range r.operations {
		if e.Method == "GET" && (path.Base(e.Path) == "openapi.yaml" || path.Base(e.Path) == "openapi.json" || e.isDefinition()) {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// isDefinition reports whether an operation returns an OpenAPI document, by its media type.
func (o *operation) isDefinition() bool {
	return slices.ContainsFunc(formats(o.Responses["200"].Content), func(f format) bool { return strings.HasPrefix(f.Media, "application/vnd.oai.openapi") })
}

// Schemes returns the names of the security schemes, that of most operations first.
func (r *reference) Schemes() []string {
	names := slices.Sorted(maps.Keys(r.Components.SecuritySchemes))
	slices.SortStableFunc(names, func(a, b string) int { return first(r.IsDefault(a), r.IsDefault(b)) })
	return names
}

// IsDefault reports whether a security scheme permits operations that name no other.
func (r *reference) IsDefault(scheme string) bool {
	return slices.ContainsFunc(r.Security, func(one map[string][]string) bool { _, is := one[scheme]; return is })
}

// ByVariable reports whether commands to copy contain no key.
func (r *reference) ByVariable() bool { return r.key == "" }

// parameters describes the parameters of an operation.
func (r *reference) parameters(e endpoint) []field {
	var all []field
	for _, p := range e.Parameters {
		f := r.value(p.Schema)
		f.Name, f.In, f.Required = p.Name, p.In, p.Required
		if p.Description != "" {
			f.Text = r.text.line(p.Description)
		}
		if p.Explode != nil && !*p.Explode {
			f.Limits = append(f.Limits, limit{Text: "separated by commas (" + p.Style + ")"})
		}
		if p.Example != nil {
			f.Limits = append(f.Limits, limit{"for example", []string{plain(p.Example)}})
		}
		all = append(all, f)
	}
	return all
}
