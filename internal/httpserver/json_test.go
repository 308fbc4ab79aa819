package httpserver_test

import (
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/httpserver"
)

func read(contentType, body string) ([]byte, error) {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	return httpserver.ReadJSONObject(httptest.NewRecorder(), r, 1024, 4)
}

func TestReadJSONObject_Accepts(t *testing.T) {
	for _, body := range []string{
		`{}`, ` {"a":1} ` + "\n", `{"a":{"b":{"c":{}}}}`, `{"a":[[[1]]]}`, `{"é":"\ud83d\ude00","n":-1.5e3,"t":true,"z":null}`,
		`{"a":1,"A":2}`, `{"x":"` + strings.Repeat("y", 1000) + `"}`,
	} {
		if got, err := read("application/json; charset=utf-8", body); err != nil || string(got) != body {
			t.Errorf("%s: %q, %v", body, got, err)
		}
	}
}

func TestReadJSONObject_Refuses(t *testing.T) {
	const typ = "application/json"
	for _, tc := range []struct {
		name, contentType, body string
		status                  int
		pointer                 string
	}{
		{"no type", "", `{}`, 415, ""},
		{"another type", "text/plain", `{}`, 415, ""},
		{"a type cut short", "application/json; charset", `{}`, 415, ""},
		{"too large", typ, `{"a":"` + strings.Repeat("x", 1024) + `"}`, 413, ""},
		{"empty", typ, ``, 400, ""},
		{"null", typ, `null`, 400, ""},
		{"an array", typ, `[]`, 400, ""},
		{"a string", typ, `"{}"`, 400, ""},
		{"cut short", typ, `{"a":1`, 400, ""},
		{"cut in a string", typ, `{"a":"b`, 400, "/a"},
		{"something behind", typ, `{} {}`, 400, ""},
		{"garbage behind", typ, `{}x`, 400, ""},
		{"a comma behind", typ, `{},`, 400, ""},
		{"a byte order mark", typ, "\ufeff{}", 400, ""},
		{"a duplicate name", typ, `{"a":{"b":1,"b":2}}`, 400, "/a/b"},
		{"a duplicate by escape", typ, `{"a":1,"\u0061":2}`, 400, "/a"},
		{"bad UTF-8", typ, "{\"a\":\"\xff\"}", 400, "/a"},
		{"a lone surrogate", typ, `{"a":"\ud800"}`, 400, "/a"},
		{"a comment", typ, `{/**/}`, 400, ""},
		{"a trailing comma", typ, `{"a":1,}`, 400, ""},
		{"single quotes", typ, `{'a':1}`, 400, ""},
		{"NaN", typ, `{"a":NaN}`, 400, "/a"},
		{"a leading zero", typ, `{"a":01}`, 400, ""},
		{"a plus", typ, `{"a":+1}`, 400, "/a"},
		{"a raw line break", typ, "{\"a\":\"\n\"}", 400, "/a"},
		{"too deep", typ, `{"a":{"b":{"c":{"d":{}}}}}`, 400, "/a/b/c/d"},
		{"too deep by arrays", typ, `{"a":[[[[]]]]}`, 400, "/a/0/0/0"},
	} {
		_, err := read(tc.contentType, tc.body)
		fault, ok := errors.AsType[*httpserver.BodyError](err)
		if !ok || fault.Status != tc.status || fault.Message == "" {
			t.Errorf("%s: %v; want a fault of status %d", tc.name, err, tc.status)
			continue
		}
		if fault.Pointer != tc.pointer {
			t.Errorf("%s: the fault is at %q; want %q", tc.name, fault.Pointer, tc.pointer)
		}
	}
	r := httptest.NewRequest("POST", "/", strings.NewReader(`{}`))
	r.Header.Set("Content-Type", typ)
	r.Header.Set("Content-Encoding", "gzip")
	if _, err := httpserver.ReadJSONObject(httptest.NewRecorder(), r, 1024, 4); err == nil {
		t.Error("a compressed body is accepted")
	}
}

// A value that JSON cannot carry is an error before anything is written.
func TestWriteJSON_WritesAllOrNothing(t *testing.T) {
	w := httptest.NewRecorder()
	if err := httpserver.WriteJSON(w, http.StatusOK, map[string]any{"a": 1, "b": math.NaN()}); err == nil {
		t.Error("NaN was written")
	}
	if w.Body.Len() != 0 || len(w.Header()) != 0 {
		t.Errorf("something was written before: %v %q", w.Header(), w.Body)
	}
	if err := httpserver.WriteJSON(w, http.StatusTeapot, map[string]string{"a": "<&é>"}); err != nil {
		t.Fatal(err)
	}
	if w.Code != http.StatusTeapot || w.Body.String() != `{"a":"<&é>"}`+"\n" {
		t.Errorf("wrote %d %v %q", w.Code, w.Header(), w.Body)
	}
}

// Whatever comes in, ReadJSONObject answers with a fault or an object.
func FuzzReadJSONObject(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[{"b":null}]}`, `[1]`, `{"a":1,"a":2}`, "{\"\xff\":1}", `{"a":"\u0000"}`, `{"a":{"b":{"c":{"d":{}}}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, err := read("application/json", body)
		if err == nil && !strings.HasPrefix(strings.TrimLeft(string(got), " \t\r\n"), "{") {
			t.Errorf("%q is accepted", body)
		}
		if _, ok := errors.AsType[*httpserver.BodyError](err); err != nil && !ok {
			t.Errorf("%q gives %T", body, err)
		}
	})
}
