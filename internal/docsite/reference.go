package docsite

import (
	"cmp"
	"html/template"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// reference is the data of the pages of an API.
type reference struct {
	*document
	Path       string // of the overview
	Intro      template.HTML
	First      string // a command that needs nothing but a key
	Downloads  []string
	ByVariable bool // commands to copy contain no key
	Schemes    []schemeView
	Sections   []tagView
	Responses  []responseView
	Headers    []headerView
	Schemas    []schemaView
}

type schemeView struct {
	Name, Means string
	Default     bool
	Text        template.HTML
	securityScheme
}

// tagView holds the operations of a tag.
type tagView struct {
	Path, Name    string
	API, Document string // path and title of the overview
	Text          template.HTML
	Operations    []operationView
}

type operationView struct {
	ID, Method, Path, Summary string
	Text                      template.HTML
	Keys                      []string // security schemes, any of which suffices; none: open to all
	Scope                     string
	Parameters                []field
	Body                      *bodyView
	Responses                 []responseView
	Curl                      string
}

type bodyView struct {
	Required bool
	Text     template.HTML
	Contents []contentView
}

// responseView is a response. One that many operations share has a name.
type responseView struct {
	Name, Status string
	Text         template.HTML
	Headers      []headerView
	Contents     []contentView
}

// headerView is a header of a response. One that many responses share is described once.
type headerView struct {
	field
	Shared string
}

type contentView struct {
	Media    string
	Type     []word
	Limits   []limit
	Fields   []field
	Examples []exampleView
}

type exampleView struct{ Summary, Value string }

type schemaView struct {
	Name   string
	Type   []word
	Limits []limit
	Closed bool
	Text   template.HTML
	Fields []field
}

// builder converts a document to a reference.
type builder struct {
	*document
	path string // of the overview
	text *markdown
	url  string
	key  string
}

// sharedPage is what the path of the page with schemas and shared responses ends with.
const sharedPage = "/schemas"

// referencePages returns the pages of an API: an overview, one for each tag, and one for
// what several operations share. They are built on first use.
func referencePages(d *document, path, url, key string) []*page {
	build := sync.OnceValue(func() *reference {
		b := &builder{document: d, path: path, url: url, key: key, text: newMarkdown(func(to string) (string, bool) { return to, true })}
		return b.build()
	})
	templates := sync.OnceValue(func() *template.Template { return parseTemplates(path) })
	pages := []*page{{path: path, route: routeAPI, title: d.Info.Title, body: func(*site) content {
		r := build()
		return content{HTML: execute(templates(), "overview.html", r), Contents: []heading{{"authentication", "Authentication"}, {"operations", "Operations"}}}
	}}}
	for i, t := range d.Tags {
		pages = append(pages, &page{path: tagPath(path, t.Name), route: routeTag, title: capital(t.Name), parent: path, body: func(*site) content {
			r := build()
			c := content{HTML: execute(templates(), "tag.html", r.Sections[i])}
			for _, o := range r.Sections[i].Operations {
				c.Contents = append(c.Contents, heading{"op-" + o.ID, o.Summary})
				c.sections = append(c.sections, section{ID: "op-" + o.ID, Heading: o.Summary, Name: o.ID + " " + o.Path, Text: o.words()})
			}
			return c
		}})
	}
	return append(pages, &page{path: path + sharedPage, route: routeTag, title: "Schemas", parent: path, body: func(*site) content {
		r := build()
		c := content{HTML: execute(templates(), "shared.html", r), Contents: []heading{{"responses", "Shared responses"}, {"headers", "Shared headers"}, {"schemas", "Schemas"}}}
		for _, s := range r.Schemas {
			c.sections = append(c.sections, section{ID: "schema-" + s.Name, Heading: s.Name, Text: s.words()})
		}
		return c
	}})
}

// tagPath returns the URL path of the page of a tag.
func tagPath(api, tag string) string {
	return api + "/" + url.PathEscape(strings.ReplaceAll(tag, " ", "-"))
}

func capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

func (b *builder) build() *reference {
	r := &reference{document: b.document, Path: b.path, First: b.first(), Intro: b.text.text(b.Info.Description), ByVariable: b.key == ""}
	for _, path := range slices.Sorted(maps.Keys(b.Paths)) {
		if strings.HasSuffix(path, "/openapi.yaml") || strings.HasSuffix(path, "/openapi.json") || b.Paths[path].isDefinition() {
			r.Downloads = append(r.Downloads, path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Components.SecuritySchemes)) {
		r.Schemes = append(r.Schemes, b.scheme(name))
	}
	// The scheme of most operations first.
	slices.SortStableFunc(r.Schemes, func(x, y schemeView) int { return cmp.Compare(rank(x.Default), rank(y.Default)) })
	r.Sections = b.sections()
	for _, name := range slices.Sorted(maps.Keys(b.Components.Responses)) {
		r.Responses = append(r.Responses, b.answer(name, "", b.Components.Responses[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(b.Components.Headers)) {
		r.Headers = append(r.Headers, b.header(name, b.Components.Headers[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(b.Components.Schemas)) {
		r.Schemas = append(r.Schemas, b.schema(name, b.Components.Schemas[name]))
	}
	return r
}

// isDefinition reports whether a path is that of an OpenAPI document, by its media type.
func (p pathItem) isDefinition() bool {
	if p.Get == nil {
		return false
	}
	for kind := range p.Get.Responses["200"].Content {
		if strings.HasPrefix(kind, "application/vnd.oai.openapi") {
			return true
		}
	}
	return false
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

func (b *builder) scheme(name string) schemeView {
	s := b.Components.SecuritySchemes[name]
	v := schemeView{Name: name, securityScheme: s, Text: b.text.line(s.Description)}
	v.Default = slices.ContainsFunc(b.Security, func(one map[string][]string) bool { _, is := one[name]; return is })
	if s.Type == "http" {
		v.Means = "Authorization: " + strings.ToUpper(s.Scheme[:1]) + s.Scheme[1:] + " " + s.BearerFormat
	} else {
		v.Means = s.Name + ": …"
	}
	return v
}

// sections groups the operations by tag, in the order of the tags.
func (b *builder) sections() []tagView {
	var all []tagView
	for _, t := range b.Tags {
		s := tagView{Path: tagPath(b.path, t.Name), Name: capital(t.Name), API: b.path, Document: b.Info.Title, Text: b.text.line(t.Description)}
		for _, path := range slices.Sorted(maps.Keys(b.Paths)) {
			item := b.Paths[path]
			for _, o := range item.operations() {
				if slices.Contains(o.operation.Tags, t.Name) {
					s.Operations = append(s.Operations, b.operation(path, item, o))
				}
			}
		}
		all = append(all, s)
	}
	return all
}

// Scopes are in the text of an operation: OpenAPI has them only for OAuth.
var scopeText = regexp.MustCompile("Needs\\s+the\\s+scope\\s+`([^`]+)`")

func (b *builder) operation(path string, item pathItem, m methodOperation) operationView {
	o := m.operation
	v := operationView{ID: o.ID, Method: m.method, Path: path, Summary: o.Summary, Text: b.text.text(o.Description), Keys: b.keys(o)}
	if found := scopeText.FindStringSubmatch(o.Description); found != nil {
		v.Scope = found[1]
	}
	for _, p := range b.parameters(item, o) {
		v.Parameters = append(v.Parameters, b.parameter(p))
	}
	if o.RequestBody != nil {
		v.Body = &bodyView{Required: o.RequestBody.Required, Text: b.text.line(o.RequestBody.Description), Contents: b.contents(o.RequestBody.Content)}
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		answer, name := o.Responses[status], ""
		if answer.Ref != "" {
			name, answer = lookUp(toResponses, answer.Ref, b.Components.Responses)
			answer.Headers, answer.Content = nil, nil // shown once, among the shared responses
		}
		v.Responses = append(v.Responses, b.answer(name, status, answer))
	}
	v.Curl = b.curl(path, item, m)
	return v
}

// keys returns the names of the security schemes that permit an operation.
func (b *builder) keys(o *operation) []string {
	needs := b.Security
	if o.Security != nil {
		needs = *o.Security
	}
	var names []string
	for _, one := range needs {
		names = append(names, slices.Sorted(maps.Keys(one))...)
	}
	return names
}

// parameters returns those of the path and of the operation, with references resolved.
func (b *builder) parameters(item pathItem, o *operation) []parameter {
	all := slices.Concat(item.Parameters, o.Parameters)
	for i, p := range all {
		if p.Ref != "" {
			_, all[i] = lookUp(toParameters, p.Ref, b.Components.Parameters)
		}
	}
	return all
}

func (b *builder) parameter(p parameter) field {
	f := b.value(p.Schema)
	f.Name, f.In, f.Required = p.Name, p.In, p.Required
	if p.Description != "" {
		f.Text = b.text.line(p.Description)
	}
	if p.Explode != nil && !*p.Explode {
		f.Limits = append(f.Limits, limit{Text: "separated by commas (" + p.Style + ")"})
	}
	if p.Example != nil {
		f.Limits = append(f.Limits, limit{"for example", []string{plain(p.Example)}})
	}
	return f
}

func (b *builder) answer(name, status string, r response) responseView {
	v := responseView{Name: name, Status: status, Text: b.text.line(r.Description), Contents: b.contents(r.Content)}
	for _, h := range slices.Sorted(maps.Keys(r.Headers)) {
		v.Headers = append(v.Headers, b.header(h, r.Headers[h]))
	}
	return v
}

func (b *builder) header(name string, h header) headerView {
	if h.Ref != "" {
		shared, _ := lookUp(toHeaders, h.Ref, b.Components.Headers)
		return headerView{field{Name: name}, shared}
	}
	f := b.value(h.Schema)
	f.Name, f.Required, f.Text = name, h.Required, b.text.line(h.Description)
	return headerView{field: f}
}

// mediaTypes returns the media types of a content, JSON first: it is the default.
func mediaTypes(content map[string]mediaType) []string {
	const first = "application/json"
	kinds := slices.Sorted(maps.Keys(content))
	if i := slices.Index(kinds, first); i > 0 {
		kinds = slices.Insert(slices.Delete(kinds, i, i+1), 0, first)
	}
	return kinds
}

func (b *builder) contents(content map[string]mediaType) []contentView {
	var all []contentView
	for _, kind := range mediaTypes(content) {
		m := content[kind]
		v := contentView{Media: kind, Type: words(m.Schema), Limits: limits(m.Schema)}
		if m.Schema != nil {
			v.Fields = b.inner("", m.Schema)
		}
		for _, name := range slices.Sorted(maps.Keys(m.Examples)) {
			e := m.Examples[name]
			v.Examples = append(v.Examples, exampleView{cmp.Or(e.Summary, name), b.example(e.Value, m.Schema)})
		}
		all = append(all, v)
	}
	return all
}

func (b *builder) schema(name string, s *schema) schemaView {
	return schemaView{
		Name: name, Type: words(s), Limits: limits(s), Text: b.text.text(s.Description), Fields: b.inner("", s),
		Closed: s.AdditionalProperties.none,
	}
}
