package statement_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
)

// endless says the same for ever, after a beginning.
type endless struct {
	begin, same string
	read        int64
	at          int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.begin)
	e.begin = e.begin[n:]
	for ; n < len(p); n++ {
		p[n] = e.same[e.at]
		e.at = (e.at + 1) % len(e.same)
	}
	e.read += int64(n)
	return n, nil
}

// A file without an end is given up soon, so it cannot fill the memory.
func TestVerify_Endless(t *testing.T) {
	text := string(oneRow().json(t))
	rows := strings.Index(text, `{"date"`)
	for name, test := range map[string]struct{ begin, same, want string }{
		"spaces":           {"", " ", "of white space"},
		"lines":            {"", "\n\r\t", "of white space"},
		"spaces in rows":   {text[:rows], " ", "of white space"},
		"spaces behind":    {text, " ", "of white space"},
		"more behind":      {text, " {}", "there is text after the statement"},
		"digits":           {text[:rows] + `{"policy":`, "1", "more than 1024 bytes"},
		"a text":           {`{"user_id":"`, "u", "more than 1024 bytes"},
		"quotes in a text": {`{"user_id":"`, `\"`, "more than 1024 bytes"},
		"brackets in text": {`{"user_id":"`, `\"{`, "more than 1024 bytes"},
		"a name":           {`{"`, "u", "more than 1024 bytes"},
		"brackets":         {"", "[", "must be an object"},
		"braces":           {"", `{"data":`, "not a name"},
		"deep meta":        {`{"meta":`, `[`, "meta: is larger"},
		"long meta":        {`{"meta":[`, `0,`, "meta: is larger"},
		"meta of objects":  {`{"meta":`, `{"a":`, "meta: is larger"},
		"empty rows":       {text[:rows], `{},`, "row 1: date is missing"},
		"policies":         {`{"policies":[`, text[strings.Index(text, `{"version"`):strings.Index(text, `],"previous`)] + ",", "versions must be in ascending order"},
		"zeros":            {"", "\x00", "not valid JSON at byte 0"},
	} {
		from := &endless{begin: test.begin, same: test.same}
		_, err := statement.Verify(from, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %s", name, err, test.want)
		}
		if from.read > 1<<20 {
			t.Errorf("%s: %d bytes were read", name, from.read)
		}
	}
}

func TestVerify_Truncated(t *testing.T) {
	text := sample(6, 4, 2, ledger.Hash{}).json(t)
	for n := range text {
		if _, err := verify(text[:n]); err == nil {
			t.Fatalf("nobody noticed that all after byte %d is missing", n)
		} else if n > 0 && !strings.Contains(err.Error(), "the end of the file is missing") {
			t.Fatalf("after byte %d: %v", n, err)
		}
	}
	if _, err := verify(nil); err == nil || !strings.Contains(err.Error(), "it is empty") {
		t.Errorf("empty: %v", err)
	}
}

func TestVerify_NoStatement(t *testing.T) {
	for text, want := range map[string]string{
		"date,hotspot_id\n":         "not valid JSON at byte 0",
		"null":                      "must be an object",
		"[]":                        "must be an object",
		"{}":                        "user_id is missing",
		`{"meta":{}}`:               "user_id is missing",
		`{"error":{"code":"x"}}`:    `"error" is not a name`,
		`{"data":null}`:             "data: must be an object",
		`{"data":{"user_id":"me"}}`: "data: user_id: must be an id such as usr_…",
		"\xef\xbb\xbf{}":            "not valid JSON at byte 0",
		`{"user_id":"usr_` + "\xff": "not valid JSON",
		`{"user_id":"usr_\ud800"}`:  "not valid JSON",
		`{"user_id":"usr_1\n"}`:     "must be an id",
		`{"previous_hash":"` + strings.Repeat("0", 64) + `"}`: "must be null for the first statement",
	} {
		if _, err := verify([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
	broken := errors.New("the disk is on fire")
	if _, err := statement.Verify(iotest.ErrReader(broken), nil); !errors.Is(err, broken) {
		t.Errorf("got %v; want %v", err, broken)
	}
	half := io.MultiReader(strings.NewReader(`{"user_id":`), iotest.ErrReader(broken))
	if _, err := statement.Verify(half, nil); !errors.Is(err, broken) {
		t.Errorf("got %v; want %v", err, broken)
	}
}

func FuzzVerify(f *testing.F) {
	text := sample(6, 4, 2, ledger.Hash{}).json(f)
	honest, err := verify(text)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(append(append([]byte(`{"data":`), text...), `,"meta":{}}`...))
	f.Add([]byte(`{"meta":[[]],"data":{"rows":[]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		report, err := verify(text)
		if err == nil && report.User == honest.User && report.Month == honest.Month && report.Hash == honest.Hash && report.Rows != honest.Rows {
			t.Errorf("another statement with the same hash: %s", text)
		}
		if (err == nil) == (report == statement.Report{}) {
			t.Errorf("%q: %+v, %v", text, report, err)
		}
	})
}
