//go:build linux

package torture_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// corpusBench is a server on each store, and hotspots to do things to.
type corpusBench struct {
	*modelMachine
	hotspot string // a path
}

// newCorpusBench registers what is changed again and again.
func newCorpusBench(t *testing.T) *corpusBench {
	t.Helper()
	m := &modelMachine{model: &model{keys: []*apiKey{adminKey}, once: map[string]*firstAnswer{}}}
	m.worlds = startWorlds(t, 1)
	m.settle(t, 0, modelPlaces[0], false)
	return &corpusBench{m, "/v1/hotspots/{" + m.hotspots[0].name + "}"}
}

// ask sends a request to all stores: the answer must be the same, and one that a
// client is to blame for, or a success. (A 5xx is neither.)
func (b *corpusBench) ask(t *testing.T, r request) answer {
	t.Helper()
	first := answer{}
	for i, w := range b.worlds {
		a := w.ask(r)
		if a.err != nil || a.status < 200 || a.status >= 500 {
			t.Fatalf("%s, on %s: %d %v %s", r, w.name, a.status, a.err, a.text)
		}
		byNetHTTP := a.status == 400 && string(a.text) == "400 Bad Request" // a path that cannot be read: decision D21
		if a.status >= 300 && faultsOf(a.text) == nil && !byNetHTTP {
			t.Errorf("%s, on %s: %d with no error that is documented: %s", r, w.name, a.status, a.text)
		}
		if i == 0 {
			first = a
		} else if x, y := b.worlds[0].neutral(first.text), w.neutral(a.text); first.status != a.status || outline(x) != outline(y) {
			t.Errorf("%s: the stores differ:\n%d %s\n%d %s", r, first.status, x, a.status, y)
		}
	}
	return first
}

// faultsOf reads an error: the fields at fault, or nothing if it is none.
func faultsOf(text []byte) []string {
	var body struct {
		Error struct {
			Code, Message string
			Details       []struct{ Field string }
		}
	}
	if json.Unmarshal(text, &body) != nil || body.Error.Code == "" || body.Error.Message == "" {
		return nil
	}
	fields := []string{}
	for _, d := range body.Error.Details {
		fields = append(fields, d.Field)
	}
	return fields
}

func readCorpus(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "corpora", name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestF20_JSON sends every file of JSONTestSuite as a body, and as a part of one:
// what is no JSON is never taken for a body with a fault in a field.
func TestF20_JSON(t *testing.T) {
	t.Parallel()
	var encoded map[string]string
	readCorpus(t, "jsontestsuite.json", &encoded)
	files := map[string]string{
		"n_structure_100000_opening_arrays": strings.Repeat("[", 100_000),
		"n_structure_open_array_object":     strings.Repeat(`[{"":`, 50_000) + "\n",
	}
	for name, text := range encoded {
		content, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(content)
	}
	if len(files) != 318 {
		t.Fatalf("%d files; JSONTestSuite has 318", len(files))
	}
	b := newCorpusBench(t)
	requests := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		for _, sent := range []struct{ form, body string }{
			{"as a body", text},
			{"as a member", `{"name":` + text + `}`},
			{"after a body", `{}` + text},
			{"as an element", `{"name":` + strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "["), "]") + `}`},
		} {
			for _, r := range []request{
				{method: http.MethodPatch, path: b.hotspot, key: adminKey, body: sent.body},
				{method: http.MethodPost, path: "/v1/hotspots", key: adminKey, body: sent.body},
			} {
				requests++
				b.judgeJSON(t, name, sent.form, r, b.ask(t, r))
			}
		}
	}
	t.Logf("%d requests to each store", requests)
}

// judgeJSON is what the suite says of a file, and decision N7 of a body.
func (b *corpusBench) judgeJSON(t *testing.T, name, form string, r request, a answer) {
	t.Helper()
	body, _ := r.body.(string)
	var sent struct{ Name any }
	_ = json.Unmarshal([]byte(body), &sent)
	at := fmt.Sprintf("%s, %s: %s %.100q: %d %.300s", name, form, r.method, body, a.status, a.text)
	switch faults, isJSON := faultsOf(a.text), json.Valid([]byte(body)); {
	case a.status == 413:
		if len(body) <= 64<<10 {
			t.Errorf("%s: that is not too large", at)
		}
	case a.status == 200: // a PATCH of what is stored, byte for byte
		text, _ := sent.Name.(string)
		var shown struct{ Data struct{ Name string } }
		if err := json.Unmarshal(a.text, &shown); err != nil || !isJSON || sent.Name != nil && shown.Data.Name != norm.NFC.String(strings.TrimSpace(text)) {
			t.Errorf("%s: it was accepted as %q", at, shown.Data.Name)
		}
	case a.status != 400:
		t.Errorf("%s; want 400", at)
	case !isJSON && len(faults) > 1: // where it ceases to be JSON may be told
		t.Errorf("%s: that is no JSON, and faults were found in it", at)
	case isJSON && len(faults) == 0 && strings.HasPrefix(name, "y_") && strings.HasPrefix(strings.TrimSpace(body), "{"):
		t.Errorf("%s: that is an object, and none of its members is named", at)
	}
}

// TestF20_Strings puts every naughty string wherever a text can be sent: it comes
// back as it was stored, or it is refused.
func TestF20_Strings(t *testing.T) {
	t.Parallel()
	var texts []string
	readCorpus(t, "naughtystrings.json", &texts)
	if len(texts) < 400 {
		t.Fatalf("only %d strings", len(texts))
	}
	b := newCorpusBench(t)
	kept, every := map[string]int{}, rounds(8, 4, 1)
	for i := 0; i < len(texts); i += every {
		for place, was := range b.storeEverywhere(t, i, texts[i]) {
			if was {
				kept[place]++
			}
		}
		b.queryEverywhere(t, escape(texts[i]))
	}
	for _, place := range []string{"name", "ssid", "address", "key", "method"} {
		if kept[place] < len(texts)/every/10 {
			t.Errorf("of %d strings only %d were accepted as %s", len(texts)/every, kept[place], place)
		}
	}
	t.Logf("accepted: %v", kept)
}

// escape writes every byte but letters and digits as %xx.
func escape(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if c := text[i]; c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// TestF20_Bytes sends what no text is: invalid UTF-8, half of a surrogate pair,
// zero bytes, broken escapes.
func TestF20_Bytes(t *testing.T) {
	t.Parallel()
	b := newCorpusBench(t)
	for _, raw := range []string{
		"\xff", "a\xc0\xafb", "abc\x80", "\xed\xa0\x80abc", "abc\xf4\x90\x80\x80", "abc\xe2\x82", "\xfe\xff\x00a", `abc\ud800`, `abc\udc00\ud800`, "abc\x00", `abc\u0000`, "abc\x1f", "abc\x7f\n",
	} {
		for _, body := range []string{
			`{"name":"` + raw + `"}`, `{"` + raw + `":"abc"}`, `{"settings":{"operating_hours":{"timezone":"` + raw + `","weekly":[]}}}`,
		} {
			if a := b.ask(t, request{method: http.MethodPatch, path: b.hotspot, key: adminKey, body: body}); a.status != 400 {
				t.Errorf("PATCH %q: %d %s; want 400", body, a.status, a.text)
			}
		}
		b.queryEverywhere(t, escape(raw))
	}
	for _, broken := range []string{"%", "%z", "%zz", "%f", "a;b", "%%%", "+", "%0", "%c0%ae%c0%ae%2f", "%u0041"} {
		b.queryEverywhere(t, broken)
	}
}

// accepted reports whether a request was taken, and if so holds what is shown to
// what was sent.
func accepted(t *testing.T, r request, a answer, wanted int, sent string, shown func(fields) any) bool {
	t.Helper()
	if a.status != wanted {
		if a.status != 400 {
			t.Errorf("%s: %d %s; want %d or 400", r, a.status, a.text, wanted)
		}
		return false
	}
	var body struct{ Data fields }
	if err := json.Unmarshal(a.text, &body); err != nil || shown(body.Data) != sent {
		t.Errorf("%s: %q was stored as %q", r, sent, shown(body.Data))
	}
	return true
}

// isPlain reports whether a text has nothing naughty about it.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
