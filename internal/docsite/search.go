package docsite

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// searchPath is the URL path of the search.
const searchPath = base + "/search"

const (
	maxQuery     = 100 // bytes of a query that count
	maxHits      = 30
	maxHitsAlone = 8 // below the field, while someone types
	snippetBytes = 160
)

// section is a part of a page that a search finds: a heading and the text below it.
type section struct {
	ID, Heading, Text string
	Name              string // counts as the heading does, and is not shown

	page, to        string // title and path of the page
	heading, folded string // for comparing
}

// hit is a section that a search found.
type hit struct {
	To, Heading, Page string
	Snippet           []piece
	score             int
}

// piece is a part of a text. Match says whether it was searched for.
type piece struct {
	Text  string
	Match bool
}

// allSections returns the sections of all pages, in their order.
func (s *site) allSections() (all []section) {
	for _, p := range s.pages {
		for _, one := range p.body().sections {
			one.page, one.to = p.title, p.path
			if one.ID != "" {
				one.to += "#" + one.ID
			}
			one.heading, one.folded = fold(one.page+" "+one.Heading+" "+one.Name), fold(one.Text)
			all = append(all, one)
		}
	}
	return all
}

// renderSearch returns the page with what was found, or its part with the places alone.
func (s *site) renderSearch(query string, alone bool) []byte {
	query = strings.Join(strings.Fields(clip(strings.ToValidUTF8(query, ""), maxQuery)), " ")
	words, changed := s.corrected(strings.Fields(fold(query)))
	data := struct {
		Query, Instead string
		Hits           []hit
		More, Alone    bool
	}{Query: query, Alone: alone}
	if changed {
		data.Instead = strings.Join(words, " ")
	}
	hits, most := s.find(words), maxHits
	if alone {
		most = maxHitsAlone
	}
	data.Hits, data.More = hits[:min(len(hits), most)], len(hits) > most
	html := execute(s.templates(), "search.html", data)
	if alone {
		return []byte(html)
	}
	return s.frame(frame{Title: "Search", Query: query, content: content{HTML: html}})
}

// find returns the sections that have all the words, the best first.
func (s *site) find(words []string) (hits []hit) {
	if len(words) > 0 {
		for _, one := range s.sections() {
			if score := one.score(words); score > 0 {
				hits = append(hits, hit{To: one.to, Heading: cmp.Or(one.Heading, one.page), Page: one.page, Snippet: one.snippet(words), score: score})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.score - a.score })
	return hits
}

// score is zero unless the section has all the words. Words of the heading count most.
func (s *section) score(words []string) (score int) {
	for _, word := range words {
		here := min(strings.Count(s.folded, word), 5)
		if strings.Contains(s.heading, word) {
			here += 20
		}
		if here == 0 {
			return 0
		}
		score += here
	}
	return score
}

// snippet returns the text around the first of the words, with all of them marked.
func (s *section) snippet(words []string) (pieces []piece) {
	first := len(s.folded)
	for _, word := range words {
		if at := strings.Index(s.folded, word); at >= 0 {
			first = min(first, at)
		}
	}
	if first == len(s.folded) {
		first = 0 // they are in the heading
	}
	from := max(0, first-snippetBytes/4)
	from = strings.LastIndexByte(s.Text[:from], ' ') + 1 // whole words, if they are not too long
	text := clip(s.Text[from:], snippetBytes)
	if from+len(text) < len(s.Text) {
		text = text[:strings.LastIndexByte(text, ' ')+1] + "…"
	}
	if from > 0 {
		pieces = append(pieces, piece{Text: "… "})
	}
	folded := fold(text)
	for text != "" {
		start, end := len(text), len(text)
		for _, word := range words {
			if i := strings.Index(folded, word); i >= 0 && i < start {
				start, end = i, i+len(word)
			}
		}
		pieces = append(pieces, piece{Text: text[:start]}, piece{Text: text[start:end], Match: true})
		text, folded = text[end:], folded[end:]
	}
	return pieces
}

// fold returns a text in lower case, with every byte in its place: letters that do not
// fit stay as they are.
func fold(text string) string {
	lower := []byte(text)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return string(lower)
}

// clip returns at most n bytes of a text, and no part of a letter.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// endpointWords returns the text of an operation for the search.
func (r *reference) endpointWords(e node) string {
	fields, body := r.parameters(e), sub(e, "requestBody", "content")
	for _, media := range formats(body) {
		fields = append(fields, r.inner("", sub(body, media, "schema"))...)
	}
	return withFields(fields, textAt(e, "method"), textAt(e, "path"), textOf(r.text(textAt(e, "description"))), scope(e))
}

// schemaWords returns the text of a schema for the search.
func (r *reference) schemaWords(s node) string {
	return withFields(r.inner("", s), textOf(r.text(textAt(s, "description"))))
}

func withFields(fields []field, parts ...string) string {
	for _, f := range fields {
		parts = append(parts, f.Name, textOf(f.Text))
	}
	return join(parts)
}

// join joins parts of a text, without breaks.
func join(parts []string) string { return strings.Join(strings.Fields(strings.Join(parts, " ")), " ") }
