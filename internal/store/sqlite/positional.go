package sqlite

import (
	"strconv"
	"strings"
)

// positional replaces numbered placeholders by "?" if they count up from $1. To SQLite
// "$1" is a name, and the driver looks up each name in the list of all of them: a page
// of a day's rewards, in inserts of up to 256 rows of 14 columns, took 340 µs a row
// with names and 52 without, on a busy machine.
func positional(text string) string {
	var out strings.Builder
	rest := text
	for n := 1; ; n++ {
		before, after, found := strings.Cut(rest, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		number := strconv.Itoa(n)
		if !strings.HasPrefix(after, number) || startsWithDigit(after[len(number):]) {
			return text
		}
		out.WriteByte('?')
		rest = after[len(number):]
	}
}

func startsWithDigit(text string) bool {
	return text != "" && text[0] >= '0' && text[0] <= '9'
}
