package beacon

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Lengths of decision N8. Names and addresses count code points, since that is what
// people see; an SSID counts bytes, since that is what a radio sends.
const (
	MinName    = 3
	MaxName    = 50
	MaxSSID    = 32
	MaxAddress = 200
)

var (
	errEncoding   = errors.New("must be valid UTF-8")
	errCharacters = errors.New("must not contain control characters, line breaks or characters that reorder text")
	errInvisible  = errors.New("must contain a visible character")
	errHidden     = errors.New("must not contain invisible characters such as U+200B")
)

// CleanName returns a hotspot's name in the form in which it is stored: trimmed, and
// in NFC, so that names that look alike are equal (decision N8).
func CleanName(raw string) (string, error) {
	name, err := cleanText(raw, MinName, MaxName)
	if err != nil {
		return "", err
	}
	if !strings.ContainsFunc(name, visible) {
		return "", errInvisible
	}
	return name, nil
}

// hidden reports whether a character shows nothing and joins nothing: two names that differ
// only in such characters look alike. The zero-width joiners are not among them, since Persian
// words and families of emoji are written with them, nor are the marks of direction, nor
// variation selectors, which choose the form of the character before them.
func hidden(r rune) bool {
	const softHyphen, vowelSeparator, zeroWidthSpace, byteOrderMark = '\u00ad', '\u180e', '\u200b', '\ufeff'
	switch r {
	case softHyphen, vowelSeparator, zeroWidthSpace, byteOrderMark:
		return true
	}
	return r >= '\u2060' && r <= '\u206f' || // word joiner, invisible operators, deprecated controls
		r >= '\ufff0' && r <= '\ufffb' || // annotations
		r >= 0x1bca0 && r <= 0x1bca3 || r >= 0x1d173 && r <= 0x1d17a || // controls of shorthand and of music
		r >= 0xe0000 && r <= 0xe007f || // tags
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// flags removes the flags that are written with tags: England, Scotland and Wales.
var flags = strings.NewReplacer(flag("gbeng"), "", flag("gbsct"), "", flag("gbwls"), "")

func flag(region string) string {
	const blackFlag, tags, end = '\U0001f3f4', 0xe0000, 0xe007f
	text := []rune{blackFlag}
	for _, c := range region {
		text = append(text, tags+c)
	}
	return string(append(text, end))
}

// checkHidden refuses what is hidden in a new name. Names of before may have such
// characters, so CleanName, by which the doctor judges, accepts them.
func checkHidden(name string) error {
	if strings.ContainsFunc(flags.Replace(name), hidden) {
		return errHidden
	}
	return nil
}

// CleanSearch returns a search text in the form in which names are compared: see
// FoldName.
func CleanSearch(raw string) (string, error) {
	text, err := cleanText(raw, 1, MaxName)
	return FoldName(text), err
}

// FoldName returns a form of a name that is the same for names that differ only in
// case, by Unicode's rules for all languages: "STRASSE" and "Straße" are equal. It is
// not left to the databases, because each has its own rules of case.
func FoldName(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(name))
		}
	}
	return strings.ToLower(name) // the same for ASCII, and a million names are folded at start
}

// CleanKeyName returns the name of an API key in the form in which it is stored. It
// may be empty.
func CleanKeyName(raw string) (string, error) {
	name, err := cleanLine(raw)
	if err != nil {
		return "", err
	}
	if utf8.RuneCountInString(name) > MaxName {
		return "", fmt.Errorf("must be at most %d characters", MaxName)
	}
	return name, checkHidden(name)
}

// CheckSSID checks that a radio can send the network name and a log can show it. The
// name is kept as sent: leading and trailing spaces are part of it.
func CheckSSID(ssid string) error {
	switch {
	case len(ssid) < 1 || len(ssid) > MaxSSID:
		return fmt.Errorf("must be 1 to %d letters long, where an accented one counts as two and an emoji as four", MaxSSID)
	case !utf8.ValidString(ssid):
		return errEncoding
	case strings.ContainsFunc(ssid, unicode.IsControl):
		return errors.New("must not contain control characters")
	}
	return nil
}

// CleanAddress returns an address as sent, or "" if it is blank.
func CleanAddress(raw string) (string, error) {
	switch {
	case !utf8.ValidString(raw):
		return "", errEncoding
	case strings.ContainsFunc(raw, unfit):
		return "", errCharacters
	case utf8.RuneCountInString(raw) > MaxAddress:
		return "", fmt.Errorf("must be at most %d characters", MaxAddress)
	case !strings.ContainsFunc(raw, visible):
		return "", nil
	}
	return raw, nil
}

// cleanText is cleanLine for a text that must have least to most characters.
func cleanText(raw string, least, most int) (string, error) {
	text, err := cleanLine(raw)
	if err != nil {
		return "", err
	}
	if n := utf8.RuneCountInString(text); n < least || n > most {
		return "", fmt.Errorf("must be %d to %d characters", least, most)
	}
	return text, nil
}

// cleanLine trims and normalizes one line of text, and rejects what no line may
// contain.
func cleanLine(raw string) (string, error) {
	if !utf8.ValidString(raw) {
		return "", errEncoding
	}
	line := norm.NFC.String(strings.TrimSpace(raw))
	if strings.ContainsFunc(line, unfit) {
		return "", errCharacters
	}
	return line, nil
}

// unfit reports whether a character does harm where the text is shown: controls
// (PostgreSQL cannot store U+0000 at all), line breaks, what reverses the text around
// it, and code points that Unicode promises never to assign.
func unfit(r rune) bool {
	switch {
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069': // bidi embeddings, overrides, isolates
		return true
	case r == '\u2028' || r == '\u2029': // line and paragraph separators
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Noncharacter_Code_Point, r)
}

// visible reports whether a character leaves a mark. Format characters such as the
// zero-width joiner are not graphic; fillers and variation selectors are, but show
// nothing.
func visible(r rune) bool {
	const brailleBlank = '\u2800'
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != brailleBlank &&
		!unicode.In(r, unicode.Zs, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
