package docsite

import (
	"cmp"
	"strings"
)

// Limits of the work that one search with typos makes.
const (
	leastTypo   = 4  // a shorter word is taken as it is
	mostTypos   = 4  // words of a query that are compared with all others
	longestWord = 24 // of the words that are known
)

// vocabulary counts the words of all sections, folded. Words are letters, digits and underscores.
func vocabulary(sections []section) map[string]int {
	known := map[string]int{}
	for _, one := range sections {
		for _, text := range []string{one.heading, one.folded} {
			for word := range strings.FieldsFuncSeq(text, isBreak) {
				if len(word) >= leastTypo && len(word) <= longestWord {
					known[word]++
				}
			}
		}
	}
	return known
}

func isBreak(r rune) bool {
	return r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z') && r != '_'
}

// corrected returns the words of a query, with each that is nowhere in the documentation
// replaced by the most like it that is: as typed with one letter too many, too few, wrong
// or in its neighbour's place, or two if it is long. The last may be the beginning of a word.
func (s *site) corrected(words []string) (_ []string, changed bool) {
	words, tried := append([]string(nil), words...), 0
	for i, word := range words {
		if len(word) < leastTypo || len(word) > longestWord || tried == mostTypos || s.knows(word) {
			continue
		}
		tried++
		most := 1
		if len(word) >= 8 {
			most = 2
		}
		var best candidate
		for known, n := range s.words() {
			away, whole := typos(word, known, most+1)
			c := candidate{known, away, !whole, max(len(known)-len(word), len(word)-len(known)), n}
			if c.typos <= most && (best.word == "" || c.compare(best) < 0) {
				best = c
			}
		}
		if best.word != "" {
			words[i], changed = best.word, true
		}
	}
	return words, changed
}

// candidate is a word that may have been meant.
type candidate struct {
	word           string
	typos          int
	begun          bool // the typed word is like its beginning only
	longer, occurs int
}

func (c candidate) compare(other candidate) int {
	if c.typos == other.typos && c.begun != other.begun {
		if c.begun {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(c.typos, other.typos), cmp.Compare(c.longer, other.longer), cmp.Compare(other.occurs, c.occurs), strings.Compare(c.word, other.word))
}

// knows reports whether a word is anywhere, also within another one.
func (s *site) knows(word string) bool {
	for _, one := range s.sections() {
		if strings.Contains(one.folded, word) || strings.Contains(one.heading, word) {
			return true
		}
	}
	return false
}

// typos returns how many typing errors turn known, or the beginning of it, into word, and
// whether it is all of known; limit, if they are not fewer.
func typos(word, known string, limit int) (fewest int, whole bool) {
	if len(known) < len(word)-limit {
		return limit, false
	}
	cut := len(known) > len(word)+limit
	known = known[:min(len(known), len(word)+limit)]
	var rows [3][longestWord + 8]int
	before, last, row := rows[0][:len(known)+1], rows[1][:len(known)+1], rows[2][:len(known)+1]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(word); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(known); j++ {
			same := 1
			if word[i-1] == known[j-1] {
				same = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+same)
			if i > 1 && j > 1 && word[i-1] == known[j-2] && word[i-2] == known[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least >= limit {
			return limit, false
		}
		before, last, row = last, row, before
	}
	fewest = limit
	for _, n := range last {
		fewest = min(fewest, n)
	}
	return fewest, !cut && last[len(known)] == fewest
}
