package beacon_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestCleanName(t *testing.T) {
	for _, test := range []struct{ raw, want string }{
		{"abc", "abc"},
		{"  Corner Café \t\n", "Corner Café"},
		{"Cafe\u0301 Nord", "Café Nord"},
		{"\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165", "\ud55c\uad6d\uc5b4"}, // 8 letters are 3 syllables
		{"日本語", "日本語"},
		{strings.Repeat("é", 50), strings.Repeat("é", 50)},
		{strings.Repeat("e\u0301", 50), strings.Repeat("é", 50)},
		{" " + strings.Repeat("x", 50) + " ", strings.Repeat("x", 50)},
		{"👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"مقهى\u200f!", "مقهى\u200f!"}, // a mark gives direction, it reverses nothing
		{"a\u200b\u200b", "a\u200b\u200b"},
	} {
		if got, err := beacon.CleanName(test.raw); err != nil || got != test.want {
			t.Errorf("CleanName(%q) = %q, %v; want %q", test.raw, got, err, test.want)
		}
	}
}

func TestCleanName_Refuses(t *testing.T) {
	for _, raw := range []string{
		"", "ab", " ab ", "日本", "   ", "e\u0301e\u0301", strings.Repeat("x", 51), strings.Repeat("é", 51),
		"a\x00b", "a\x1bbc", "ab\u0085c", "ab\nc", "abc\u2028d", "abc\u2029d",
		"abc\xff", "\xed\xa0\x80abc", "abc\ufffe", "abc\U0010ffff",
		"abc\u202ecba", "abc\u202ad", "abc\u2066d", "abc\u2069d",
		"\u200b\u200b\u200b", "\u200d\u2060\ufeff", "\u3164\u3164\u3164", "\u2800\u2800\u2800",
		"\ufe0f\ufe0f\ufe0f", "\u200b \u00a0 \u200b", "\u034f\u034f\u034f", "\u115f\u1160\u115f",
	} {
		if got, err := beacon.CleanName(raw); err == nil {
			t.Errorf("CleanName(%q) = %q; want an error", raw, got)
		}
	}
}

// A new name has nothing in it that nobody sees, and everything that languages and emoji need.
func TestCleanKeyName_Hidden(t *testing.T) {
	const scotland = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
	for raw, fits := range map[string]bool{
		"Cor\u034fner": false, "Corner\U000e0041": false, "Corner\U000e0001": false, "Cor\u00adner": false, "Cor\u200bner": false, "Cor\u2060ner": false,
		"Cor\u2063ner": false, "Cor\u206fner": false, "\ufeffCorner": false, "Cor\u115fner": false, "Cor\u3164ner": false, "Cor\uffa0ner": false,
		"Cor\u17b4ner": false, "Cor\u180ener": false, "Cor\ufff9ner": false, "Corner\U0001d173": false, "Corner\U000e0100\U000e0041": false,
		"Pub " + scotland[:len(scotland)-4]: false, "Pub " + scotland + "\U000e007f": false,

		"Pub " + scotland: true, "👨\u200d👩\u200d👧 home": true, "می\u200cخواهم": true, "مقهى\u200f!": true, "☕\ufe0f Café": true, "葛\U000e0100城": true, "क\u094dषत्र\u200dि": true,
	} {
		if _, err := beacon.CleanKeyName(raw); (err == nil) != fits {
			t.Errorf("a new name %q: %v; want it to fit: %t", raw, err, fits)
		}
	}
}

func FuzzCleanName(f *testing.F) {
	for _, seed := range []string{"abc", " é\u0301\u0301 ", "\u1100\u1161\u11a8", strings.Repeat("\u0301", 70), "\xff", "\u2000abc"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		name, err := beacon.CleanName(raw)
		if err != nil {
			return
		}
		if n := len([]rune(name)); n < 3 || n > 50 || !utf8.ValidString(name) || !norm.NFC.IsNormalString(name) {
			t.Errorf("CleanName(%q) = %q: %d characters, or not NFC", raw, name, n)
		}
		if again, err := beacon.CleanName(name); again != name {
			t.Errorf("CleanName(%q) = %q, and of that %q, %v", raw, name, again, err)
		}
	})
}

func TestCleanKeyName(t *testing.T) {
	for raw, want := range map[string]string{
		"": "", " ci ": "ci", "Cafe\u0301": "Café", strings.Repeat("e\u0301", 50): strings.Repeat("é", 50),
	} {
		if got, err := beacon.CleanKeyName(raw); err != nil || got != want {
			t.Errorf("CleanKeyName(%q) = %q, %v; want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{strings.Repeat("x", 51), "a\x00", "\xff"} {
		if got, err := beacon.CleanKeyName(raw); err == nil {
			t.Errorf("CleanKeyName(%q) = %q; want an error", raw, got)
		}
	}
}

func TestCheckSSID(t *testing.T) {
	for _, ssid := range []string{"x", " ", strings.Repeat("x", 32), strings.Repeat("é", 16), "Guest \u202e"} {
		if err := beacon.CheckSSID(ssid); err != nil {
			t.Errorf("CheckSSID(%q): %v", ssid, err)
		}
	}
	for _, ssid := range []string{"", strings.Repeat("x", 33), strings.Repeat("é", 17), "a\x00", "a\n", "a\u0085", "\xff"} {
		if beacon.CheckSSID(ssid) == nil {
			t.Errorf("CheckSSID accepts %q", ssid)
		}
	}
}

func TestCleanAddress(t *testing.T) {
	for raw, want := range map[string]string{
		"":                       "",
		" \u200b ":               "",
		" 1 Main St ":            " 1 Main St ",
		strings.Repeat("é", 200): strings.Repeat("é", 200),
	} {
		if got, err := beacon.CleanAddress(raw); err != nil || got != want {
			t.Errorf("CleanAddress(%q) = %q, %v; want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{strings.Repeat("é", 201), "1 Main St\nNew York", "a\x00", "\xff", "a\u202eb"} {
		if got, err := beacon.CleanAddress(raw); err == nil {
			t.Errorf("CleanAddress(%q) = %q; want an error", raw, got)
		}
	}
}

func TestCleanSearch(t *testing.T) {
	for _, test := range []struct{ raw, want string }{
		{"a", "a"},
		{" Corner CAF\u00c9 ", "corner café"},
		{"E\u0301", "é"},
		{"STRASSE", "strasse"},
		{"Stra\u00dfe", "strasse"},
		{"\u1e9e", "ss"},
		{"ΟΔΟΣ", "οδοσ"},
		{"οδος", "οδοσ"},
		{"日本", "日本"},
		{"ﬁ", "fi"},
		{"%_", "%_"},
		{strings.Repeat("É", 50), strings.Repeat("é", 50)},
	} {
		if got, err := beacon.CleanSearch(test.raw); err != nil || got != test.want {
			t.Errorf("CleanSearch(%q) = %q, %v; want %q", test.raw, got, err, test.want)
		}
	}
	for _, raw := range []string{"", " ", "\t\u3000", strings.Repeat("x", 51), "a\x00", "\xff", "a\u202eb"} {
		if got, err := beacon.CleanSearch(raw); err == nil {
			t.Errorf("CleanSearch(%q) = %q; want an error", raw, got)
		}
	}
}

// Folding is its own end, and case makes no difference.
func FuzzFoldName(f *testing.F) {
	for _, seed := range []string{"Café", "STRASSE", "ẞ", "ǅ", "\u0345\u0301", "İ", "ſ", "K"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		name, err := beacon.CleanName(raw)
		if err != nil {
			t.Skip()
		}
		folded := beacon.FoldName(name)
		if again := beacon.FoldName(folded); again != folded || !norm.NFC.IsNormalString(folded) {
			t.Errorf("%q is folded to %q, and that to %q", name, folded, again)
		}
		for _, other := range []string{strings.ToUpper(name), strings.ToLower(name)} {
			if isASCII(name) && beacon.FoldName(other) != folded {
				t.Errorf("%q and %q are told apart", name, other)
			}
		}
	})
}

func isASCII(text string) bool { return len(text) == utf8.RuneCountInString(text) }
