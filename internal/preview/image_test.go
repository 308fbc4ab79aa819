package preview_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every locationImage leads to a picture, for anyone: an <img> sends no key.
func TestImages(t *testing.T) {
	s, outlines := start(t), readOutlines(t)
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
		if title := outlines.boroughOf(h.Lat, h.Lng) + ", New York City</title>"; !strings.Contains(string(a.body), " on a map of "+title) {
			t.Errorf("%s is not of %s", path, title)
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

// The outlines that are drawn are those of the city: each of their points is one of the real
// ones, rounded to a unit of the picture.
func TestImages_Outlines(t *testing.T) {
	drawn, err := os.ReadFile("data/outlines.tsv")
	if err != nil {
		t.Fatal(err)
	}
	const scale = 440 / 0.58 // units a degree of longitude
	step := regexp.MustCompile(`([Mlz])(-?\d+)? ?(-?\d+)?`)
	for name, polygons := range readOutlines(t) {
		there := map[[2]int]bool{}
		for _, polygon := range polygons {
			for _, ring := range polygon {
				for _, p := range ring {
					there[[2]int{int(math.Round((p[0] + 74.27) * scale)), int(math.Round((40.92 - p[1]) * scale / 0.7587))}] = true
				}
			}
		}
		_, path, found := strings.Cut("\n"+string(drawn), "\n"+name+"\t")
		path, _, _ = strings.Cut(path, "\n")
		points := 0
		at := [2]int{}
		for _, s := range step.FindAllStringSubmatch(path, -1) {
			if s[1] == "z" {
				continue
			}
			if s[1] == "M" {
				at = [2]int{}
			}
			dx, _ := strconv.Atoi(s[2])
			dy, _ := strconv.Atoi(s[3])
			at[0], at[1] = at[0]+dx, at[1]+dy
			if points++; !there[at] {
				t.Errorf("%s has no point at %v", name, at)
			}
		}
		if !found || points < 40 {
			t.Errorf("%s has %d points", name, points)
		}
	}
}
