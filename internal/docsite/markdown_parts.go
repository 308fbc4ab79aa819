package docsite

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

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
	_, _ = w.WriteString(`<pre tabindex="0"><code>`)
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
