package basemap

import (
	"html"
	"regexp"
	"strings"
)

var (
	link = regexp.MustCompile(`(?is)<a\s[^>]*?href\s*=\s*["']?(https?://[^"'\s<>]+)[^>]*>(.*?)</a>`)
	tag  = regexp.MustCompile(`(?s)<[^>]*>`)
)

// Credit returns the attribution as HTML that is safe to show: text and links, and nothing
// else that the file may contain.
func (i Info) Credit() string {
	var out strings.Builder
	rest := i.Attribution
	for {
		found := link.FindStringSubmatchIndex(rest)
		if found == nil {
			break
		}
		out.WriteString(plain(rest[:found[0]]))
		out.WriteString(`<a href="` + html.EscapeString(html.UnescapeString(rest[found[2]:found[3]])) + `">` + plain(rest[found[4]:found[5]]) + `</a>`)
		rest = rest[found[1]:]
	}
	out.WriteString(plain(rest))
	return out.String()
}

// plain returns the text of HTML, escaped.
func plain(text string) string {
	return html.EscapeString(html.UnescapeString(tag.ReplaceAllString(text, "")))
}
