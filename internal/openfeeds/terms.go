package openfeeds

import (
	"bytes"
	"html"
)

// appendTerms writes the members of a file that say whose data they are and who may use them,
// those that are set. Every response names the license in a header, too.
func (f *Feeds) appendTerms(out []byte) []byte {
	who := f.who()
	for _, member := range []struct{ name, text string }{{`"network":`, who.Name}, {`"license":`, who.License}, {`"attribution":`, who.Attribution}} {
		if member.text != "" {
			out = append(appendText(append(out, member.name...), member.text), ',')
		}
	}
	return out
}

// appendText writes a text as JSON.
func appendText(out []byte, text string) []byte {
	return append(out, bytes.TrimSuffix(encode(text), []byte("\n"))...)
}

// licenseLinks returns a link to the license, if there is one.
func (f *Feeds) licenseLinks() []link {
	if license := f.who().License; license != "" {
		return []link{{Href: license, Rel: "license", Title: "the license of the data"}}
	}
	return nil
}

// credit is the attribution as maps show it: HTML, with a link to the license.
func (f *Feeds) credit() string {
	who := f.who()
	text := html.EscapeString(who.Attribution)
	if who.License == "" {
		return text
	}
	if text == "" {
		text = "license of the data"
	}
	return `<a href="` + html.EscapeString(who.License) + `">` + text + "</a>"
}
