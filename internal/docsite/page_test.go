package docsite_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/beacon-wifi/beacon/internal/docsite"
)

// get asks the documentation as a client that takes only what the header says.
func get(t *testing.T, d *docsite.Docs, method, path string, header ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if !d.Handles(r) {
		t.Fatalf("%s %s is not the documentation's", method, path)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	response := w.Result()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// element is a part of a page.
type element struct {
	name     string
	attr     map[string]string
	text     strings.Builder // of all that is in it
	children []*element
}

// read parses a page, which is also well-formed XML.
func read(t *testing.T, page string) *element {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(page))
	decoder.Entity = xml.HTMLEntity
	open := []*element{{name: "document"}}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return open[0]
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attr: map[string]string{}}
			for _, a := range token.Attr {
				if _, twice := e.attr[a.Name.Local]; twice {
					t.Errorf("<%s> has two %s", e.name, a.Name.Local)
				}
				e.attr[a.Name.Local] = a.Value
			}
			open[len(open)-1].children = append(open[len(open)-1].children, e)
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for _, e := range open {
				e.text.Write(token)
			}
		}
		// What is shown apart is not one word.
		if !slices.Contains([]string{"code", "a", "em", "strong", "del", "span", "mark"}, open[len(open)-1].name) {
			for _, e := range open {
				e.text.WriteByte(' ')
			}
		}
	}
}

// all calls f for an element and all in it.
func (e *element) all(f func(*element)) {
	f(e)
	for _, c := range e.children {
		c.all(f)
	}
}

// byID lists the elements that can be jumped to.
func (e *element) byID(t *testing.T) map[string]*element {
	t.Helper()
	found := map[string]*element{}
	e.all(func(e *element) {
		id, has := e.attr["id"]
		if has && found[id] != nil {
			t.Errorf("the id %s is there twice", id)
		}
		if has {
			found[id] = e
		}
	})
	return found
}

// named lists the elements of a name.
func (e *element) named(name string) []*element {
	var found []*element
	e.all(func(e *element) {
		if e.name == name {
			found = append(found, e)
		}
	})
	return found
}

// wordsOf makes texts comparable, whatever marks and breaks are in them.
func wordsOf(text string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ") + " "
}

// shows reports whether the words of a text stand in the element, one after the
// other; or, where it has no words, the text as it is.
func (e *element) shows(text string) bool {
	if wordsOf(text) == wordsOf("") {
		return strings.Contains(e.text.String(), strings.TrimSpace(text))
	}
	return strings.Contains(wordsOf(e.text.String()), wordsOf(text))
}
