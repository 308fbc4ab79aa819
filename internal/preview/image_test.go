package preview_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Every locationImage leads to a picture, for anyone: an <img> sends no key.
func TestImages(t *testing.T) {
	s := start(t)
	checked := 0
	for _, h := range s.all(t) {
		if h.LocationImage == "" {
			continue
		}
		path, ok := strings.CutPrefix(h.LocationImage, "http://127.0.0.1:8080")
		if !ok {
			t.Fatalf("%s does not begin with the public address", h.LocationImage)
		}
		a := s.call(t, "GET", path)
		if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "image/svg+xml" {
			t.Fatalf("%s answered %d, %s", path, a.StatusCode, a.Header.Get("Content-Type"))
		}
		if len(a.body) > 16<<10 {
			t.Errorf("%s has %d bytes; a thumbnail should be small", path, len(a.body))
		}
		shapes := countShapes(t, string(a.body))
		if shapes["path"] != 5 || shapes["circle"] != 2 {
			t.Errorf("%s shows %v; want five boroughs and a pin", path, shapes)
		}
		checked++
	}
	if checked == 0 {
		t.Error("no record has an image")
	}
}

func countShapes(t *testing.T, svg string) map[string]int {
	t.Helper()
	shapes := map[string]int{}
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return shapes
		}
		if err != nil {
			t.Fatal(err)
		}
		if element, ok := token.(xml.StartElement); ok {
			shapes[element.Name.Local]++
		}
	}
}
