package statement_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// spot is where a value stands in a document.
type spot struct {
	pointer    string
	start, end int
	depth      int
}

// spots finds every value that is neither an object nor an array; and every
// element of rows.
func spots(t *testing.T, text []byte) (scalars, rows []spot) {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	begun := 0
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return scalars, rows
		}
		if err != nil {
			t.Fatal(err)
		}
		at := spot{string(dec.StackPointer()), 0, int(dec.InputOffset()), dec.StackDepth()}
		isRow := strings.HasPrefix(at.pointer, "/rows/") && strings.Count(at.pointer, "/") == 2
		switch kind, length := dec.StackIndex(dec.StackDepth()); {
		case token.Kind() == '{' && isRow:
			begun = at.end - 1
		case token.Kind() == '}' && isRow:
			at.start = begun
			rows = append(rows, at)
		case strings.ContainsRune("{}[]", rune(token.Kind())):
		case kind == '{' && length%2 == 1: // a name
		default:
			at.start = at.end - len(token.String())
			if token.Kind() == '"' {
				at.start -= 2
			}
			scalars = append(scalars, at)
		}
	}
}

func (s spot) in(text []byte) string { return string(text[s.start:s.end]) }

func (s spot) replace(text []byte, by string) []byte {
	return fmt.Appendf(nil, "%s%s%s", text[:s.start], by, text[s.end:])
}

// changesOf are other values, most of which could stand in the place of one.
func changesOf(value string) []string {
	odd := []string{`true`, `{}`, `[]`, `""`, `[` + value + `]`, `1e0`, `-1`, `1e999999`, `99999999999999999999999`, `"\u0000"`}
	switch {
	case value == "null":
		return append(odd, `"`+strings.Repeat("ab", 32)+`"`, `"`+strings.Repeat("00", 32)+`"`)
	case value[0] == '"':
		text := strings.Trim(value, `"`)
		last := text[len(text)-1]
		changed := append(odd, `null`, `"`+text[:len(text)-1]+`"`, `"`+text+`0"`, `"`+strings.ToUpper(text)+`"`)
		for _, other := range "012389abz" {
			if byte(other) != last {
				changed = append(changed, `"`+text[:len(text)-1]+string(other)+`"`)
			}
		}
		return append(changed, `"standard"`, `"enhanced"`, `"premium"`)
	default:
		return append(odd, `null`, `"`+value+`"`, "-"+value, value+"1", "1"+value, `0`, `1`, `2`, `1440`, `0.000001`, `18446744073709551615`)
	}
}

// Whatever is changed in a statement is noticed, and where it was in a row, the
// row is named. Only when a month was settled is not under its hash.
func TestVerify_Tamper(t *testing.T) {
	level.Repeats(t)
	for _, previous := range []ledger.Hash{{}, {5}} {
		text := sample(4, 4, 3, previous).json(t)
		scalars, _ := spots(t, text)
		tried := map[string]int{}
		for _, s := range scalars {
			value := s.in(text)
			for _, other := range changesOf(value) {
				if other == value || value == "0" && other == "-0" || s.pointer == "/settled_at" && strings.Contains(other, "000") {
					continue
				}
				_, err := verify(s.replace(text, other))
				if err == nil {
					t.Errorf("%s was changed from %s to %s, and nobody noticed", s.pointer, value, other)
					continue
				}
				tried[kindOf(s.pointer)]++
				checkNamed(t, s.pointer, other, err)
			}
		}
		for _, kind := range []string{"rows", "totals", "policies", "user_id", "period", "unit", "status", "hash", "previous_hash"} {
			if tried[kind] < 10 {
				t.Errorf("%s was changed in %d ways only", kind, tried[kind])
			}
		}
	}
}

func kindOf(pointer string) string { return strings.Split(pointer, "/")[1] }

func checkNamed(t *testing.T, pointer, other string, err error) {
	t.Helper()
	parts := strings.Split(pointer, "/")[1:]
	want := ""
	switch parts[0] {
	case "rows":
		var n int
		if _, err := fmt.Sscan(parts[1], &n); err != nil {
			t.Fatal(err)
		}
		want = fmt.Sprintf("row %d", n+1)
	case "totals", "policies", "status", "unit":
		want = parts[0]
	default:
		return
	}
	if !strings.HasPrefix(err.Error(), want+" (") && !strings.HasPrefix(err.Error(), want+":") {
		t.Errorf("%s was changed to %s: %v; want %s", pointer, other, err, want)
	}
}

func TestVerify_TamperWithRows(t *testing.T) {
	text := sample(4, 4, 5, ledger.Hash{5}).json(t)
	_, rows := spots(t, text)
	if len(rows) < 8 {
		t.Fatalf("only %d rows", len(rows))
	}
	for i, row := range rows[:len(rows)-1] {
		next := rows[i+1]
		named := fmt.Sprintf("row %d ", i+1)
		for name, changed := range map[string][]byte{
			"left out": append(bytes.Clone(text[:row.start]), text[next.start:]...),
			"swapped":  fmt.Appendf(nil, "%s%s,%s%s", text[:row.start], next.in(text), row.in(text), text[next.end:]),
		} {
			if _, err := verify(changed); err == nil || !strings.HasPrefix(err.Error(), named) {
				t.Errorf("%s: %s: %v", named, name, err)
			}
		}
		twice := row.replace(text, row.in(text)+","+row.in(text))
		if _, err := verify(twice); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("row %d ", i+2)) {
			t.Errorf("%s: twice: %v", named, err)
		}
	}
	last := rows[len(rows)-1]
	cut := append(bytes.Clone(text[:last.start-1]), text[last.end:]...)
	if _, err := verify(cut); err == nil || !strings.HasPrefix(err.Error(), "totals: rows is ") {
		t.Errorf("the last row left out: %v", err)
	}
}

// Every member is needed, and none may come twice or be unknown.
func TestVerify_Members(t *testing.T) {
	text := string(oneRow().json(t))
	names := 0
	for name := range strings.SplitSeq(text, `"`) {
		quoted := `"` + name + `":`
		if !strings.Contains(text, quoted) {
			continue
		}
		names++
		if _, err := verify([]byte(strings.Replace(text, quoted, `"other":`, 1))); err == nil ||
			!strings.Contains(err.Error(), `"other" is not a name`) && !strings.HasPrefix(err.Error(), "policies: policy 1: ") {
			t.Errorf("%s renamed: %v", name, err)
		}
		if _, err := verify([]byte(strings.Replace(text, quoted, quoted+"0,"+quoted, 1))); err == nil {
			t.Errorf("%s twice: no error", name)
		}
	}
	if names < 40 {
		t.Errorf("only %d names", names)
	}
	for _, test := range []struct{ old, changed, want string }{
		{`,"hash":"`, `,"hash":"0","hash":"`, "not a SHA-256"},
		{`"unit":"credit"`, `"unit":"credit","unit":"credit"`, "duplicate name: unit"},
		{`"served_minutes":600,`, `"served_minutes":600,"served_minutes":600,`, "row 1 (2026-09-30, hs_1): duplicate name"},
		{`"served_minutes":600,`, ``, "row 1 (2026-09-30, hs_1): served_minutes is missing"},
		{`"unit":"credit",`, ``, "unit is missing"},
		{`"period":"2026-09",`, ``, "rows: period is missing: user_id, period and policies must come before rows"},
		{`"total_earned":1.625`, `"total_earned":1.625000,"more":0`, `totals: "more" is not a name`},
		{`"settled_at":"2026-10-04`, `"settled_at":"2026-09-30`, "settled_at: must be after the end of the month"},
		{`{"user_id"`, `{"data":{},"user_id"`, "user_id: the statement must be either in data or at the top level"},
		{`"totals":`, `"data":{},"totals":`, "data: the statement must be either in data or at the top level"},
	} {
		changed := strings.Replace(text, test.old, test.changed, 1)
		if changed == text {
			t.Fatalf("%s is not in the statement", test.old)
		}
		if _, err := verify([]byte(changed)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s for %s: %v; want %s", test.changed, test.old, err, test.want)
		}
	}
}
