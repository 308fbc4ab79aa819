package demo

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const longestName = 50 // decision N8

// names gives each hotspot a unique name.
type names map[string]int

func (n names) of(p place) string {
	name := shorten(baseName(p), longestName)
	n[name]++
	if again := n[name]; again > 1 {
		number := fmt.Sprintf(" %d", again)
		name = shorten(name, longestName-len(number)) + number
	}
	return name
}

func baseName(p place) string {
	switch {
	case p.placement == kiosk:
		return "Kiosk, " + readable(p.address)
	case p.placement == library && !strings.Contains(p.name, "Library"):
		return p.name + " Library"
	case utf8.RuneCountInString(p.name) < 3: // some have only a number, and some nothing
		return readable(p.address)
	}
	return readable(p.name)
}

// readable rewrites text in capitals as people write it.
func readable(text string) string {
	words := strings.Fields(strings.ReplaceAll(text, "_", " "))
	if strings.ContainsFunc(text, unicode.IsLower) {
		return strings.Join(words, " ")
	}
	for i, word := range words {
		words[i] = word[:1] + strings.ToLower(word[1:])
	}
	return strings.Join(words, " ")
}

func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimRight(string([]rune(text)[:most]), " ,-(")
}
