package docs

import (
	"regexp"
	"strings"
)

var (
	space = regexp.MustCompile(`\s+`)
	// A bar of progress is there or not, by how fast the machine is.
	progress = regexp.MustCompile(`(?m)^\[=* *\] .*\n`)
)

// matches tells whether an output reads as a page says it does. "…" stands for
// anything within a line, and alone on a line for any number of lines.
func (b block) matches(printed string) bool {
	printed = strings.ReplaceAll(printed, "\r\n", "\n") // headers of HTTP
	printed = progress.ReplaceAllString(printed, "")
	if b.json {
		// In JSON as it is shown, lines and spaces are for the reader.
		return fits(space.ReplaceAllString(b.text, ""), space.ReplaceAllString(printed, ""), `.*?`)
	}
	var pattern strings.Builder
	for line := range strings.Lines(b.text) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:[^\n]*\n)*?`)
			continue
		}
		pattern.WriteString(quoted(strings.TrimRight(line, " \n"), `[^\n]*?`) + `[ ]*\n`)
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(strings.TrimRight(printed, "\n") + "\n")
}

func fits(want, got, wildcard string) bool {
	return regexp.MustCompile(`^` + quoted(want, wildcard) + `$`).MatchString(got)
}

func quoted(text, wildcard string) string {
	parts := strings.Split(text, "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return strings.Join(parts, wildcard)
}
