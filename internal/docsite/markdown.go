package docsite

import (
	"bytes"
	"fmt"
	stdhtml "html"
	"html/template"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown renders Markdown. HTML in it is treated as text.
type markdown struct {
	engine goldmark.Markdown
}

// newMarkdown returns a renderer. resolve returns the target of a link; a link without a
// target becomes plain text.
func newMarkdown(resolve func(to string) (string, bool), options ...parser.Option) *markdown {
	return &markdown{goldmark.New(
		goldmark.WithParser(parser.NewParser(append(options,
			parser.WithBlockParsers(without(parser.DefaultBlockParsers(), parser.NewHTMLBlockParser())...),
			parser.WithInlineParsers(without(parser.DefaultInlineParsers(), parser.NewRawHTMLParser())...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
			parser.WithASTTransformers(util.Prioritized(linker(resolve), 100)),
		)...)),
		goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithRendererOptions(html.WithXHTML(), renderer.WithNodeRenderers(util.Prioritized(wide{}, 10))),
	)}
}

// without removes a parser, identified by its type.
func without(parsers []util.PrioritizedValue, one any) []util.PrioritizedValue {
	return slices.DeleteFunc(parsers, func(p util.PrioritizedValue) bool {
		return fmt.Sprintf("%T", p.Value) == fmt.Sprintf("%T", one)
	})
}

// page renders a guide.
func (m *markdown) page(source []byte) content {
	context := parser.NewContext(parser.WithIDs(&slugs{used: map[string]bool{}}))
	tree := m.engine.Parser().Parse(text.NewReader(source), parser.WithContext(context))
	c := content{sections: []section{{}}}
	for node := tree.FirstChild(); node != nil; node = node.NextSibling() {
		text := join([]string{plainText(node, source)})
		if h, ok := node.(*ast.Heading); ok && h.Level > 1 {
			id, _ := h.AttributeString("id")
			c.sections = append(c.sections, section{ID: string(id.([]byte)), Heading: text})
			if h.Level == 2 {
				c.Contents = append(c.Contents, heading{ID: string(id.([]byte)), Text: text})
			}
			continue
		}
		last := &c.sections[len(c.sections)-1]
		last.Text = join([]string{last.Text, text})
	}
	var buf bytes.Buffer
	if err := m.engine.Renderer().Render(&buf, source, tree); err != nil {
		panic(fmt.Errorf("docsite: %w", err)) // cannot happen: it writes to memory
	}
	c.HTML = template.HTML(buf.String()) // the parser accepts no HTML, and the renderer escapes text
	return c
}

// text renders a description within a page.
func (m *markdown) text(source string) template.HTML {
	var buf bytes.Buffer
	if err := m.engine.Convert([]byte(source), &buf); err != nil {
		panic(fmt.Errorf("docsite: %w", err))
	}
	return template.HTML(buf.String())
}

// line renders a description inline, without a paragraph of its own.
func (m *markdown) line(source string) template.HTML {
	whole := strings.TrimSpace(string(m.text(source)))
	inner, found := strings.CutPrefix(whole, "<p>")
	inner, closed := strings.CutSuffix(inner, "</p>")
	if !found || !closed || strings.Contains(inner, "<p>") {
		return template.HTML(whole)
	}
	return template.HTML(inner)
}

// plainText returns the text of a node and of what is in it, code included.
func plainText(n ast.Node, source []byte) string {
	var text strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if t, ok := n.(*ast.Text); ok {
			text.Write(t.Segment.Value(source))
			if t.SoftLineBreak() || t.HardLineBreak() {
				text.WriteByte(' ')
			}
		} else if n.Type() == ast.TypeBlock {
			text.WriteByte(' ') // cells and items are apart
		}
		if n.Kind() == ast.KindFencedCodeBlock || n.Kind() == ast.KindCodeBlock {
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				text.Write(line.Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	return text.String()
}

var tags = regexp.MustCompile(`<[^>]*>`)

// textOf returns the text of what the renderer wrote.
func textOf(rendered template.HTML) string {
	return stdhtml.UnescapeString(tags.ReplaceAllString(string(rendered), " "))
}

// linker rewrites the links between guides to page URLs, and finds their pictures.
type linker func(to string) (string, bool)

// Transform is called by the parser.
func (l linker) Transform(tree *ast.Document, _ text.Reader, _ parser.Context) {
	var links []*ast.Link
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if found, ok := n.(*ast.Link); ok && entering {
			links = append(links, found)
		}
		if picture, ok := n.(*ast.Image); ok && entering {
			if to, served := l(string(picture.Destination)); served {
				picture.Destination = []byte(to)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, found := range links {
		to, leads := l(string(found.Destination))
		if leads {
			found.Destination = []byte(to)
			continue
		}
		parent := found.Parent()
		for child := found.FirstChild(); child != nil; child = found.FirstChild() {
			parent.InsertBefore(parent, found, child)
		}
		parent.RemoveChild(parent, found)
	}
}

// resolver returns a function that resolves the links of guides. Guides link to files of
// the repository; a file that is not served has no target.
func resolver(cfg Config) func(string) (string, bool) {
	served := map[string]string{}
	for _, api := range cfg.APIs {
		served[api.Folder+"/openapi.yaml"] = apiPath(api.Name)
		served[api.Folder+"/openapi.json"] = apiPath(api.Name)
	}
	for _, f := range cfg.Files {
		served[f.Source] = filePath(f.Path)
	}
	return func(to string) (string, bool) {
		u, err := url.Parse(to)
		if err != nil {
			return "", false
		}
		if u.IsAbs() || u.Host != "" || u.Path == "" || strings.HasPrefix(u.Path, "/") {
			return to, true
		}
		source := path.Join("docs", u.Path)
		fragment := ""
		if u.Fragment != "" {
			fragment = "#" + u.EscapedFragment()
		}
		if at, found := served[source]; found {
			return at + fragment, true
		}
		// A guide that does not exist stays a link, so that the link test finds it.
		if dir, name := path.Split(source); dir == "docs/" && path.Ext(name) == ".md" {
			return guidePath(name) + fragment, true
		}
		return "", false
	}
}

// wide renders elements that may be wider than a phone. They scroll by themselves, and
// are reachable by keyboard.
type wide struct{}

// RegisterFuncs is called by the renderer.
func (wide) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindCodeBlock, renderCode)
	r.Register(east.KindTable, renderTable)
	r.Register(east.KindTableCell, renderCell)
}

func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	class := ""
	if block, ok := n.(*ast.FencedCodeBlock); ok && string(block.Language(source)) == "console" {
		class = ` class="output"`
	}
	_, _ = w.WriteString("<pre" + class + ` tabindex="0"><code>`)
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		_, _ = w.Write(util.EscapeHTML(line.Value(source)))
	}
	_, err := w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, err
}

func renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	text := "</table></div>\n"
	if entering {
		text = `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>`
	}
	_, err := w.WriteString(text)
	return ast.WalkContinue, err
}

// renderCell aligns by attribute, since the content security policy of the pages allows
// no inline styles. A header cell without text becomes a plain cell.
func renderCell(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	cell, tag := n.(*east.TableCell), "td"
	if n.Parent().Kind() == east.KindTableHeader && n.HasChildren() {
		tag = "th"
	}
	text := "</" + tag + ">\n"
	if entering {
		text = "<" + tag + ">"
		if cell.Alignment != east.AlignNone {
			text = "<" + tag + ` align="` + cell.Alignment.String() + `">`
		}
	}
	_, err := w.WriteString(text)
	return ast.WalkContinue, err
}

// slugs names headings as GitHub does, so that links to them work there too.
type slugs struct{ used map[string]bool }

// Generate is called by the parser with the text of a heading.
func (s *slugs) Generate(text []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(string(text)))
	unique := name
	for i := 1; s.used[unique]; i++ {
		unique = name + "-" + strconv.Itoa(i)
	}
	s.used[unique] = true
	return []byte(unique)
}

// Put is called with the id of a heading that already has one.
func (s *slugs) Put(name []byte) { s.used[string(name)] = true }
