package basemap_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"

	"github.com/beacon-wifi/beacon/internal/basemap"
)

func get(t *testing.T, m *basemap.Map, method string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, basemap.Path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if !m.Handles(r) {
		t.Fatalf("%s is not the map's", method)
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	return w
}

func TestServe_Ranges(t *testing.T) {
	path := lumeford.Write(t)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := basemap.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	size := len(file)
	for _, tc := range []struct {
		asked    string
		from, to int // to: after the last; 0: refused
	}{
		{"bytes=0-126", 0, 127},
		{"bytes=100-100", 100, 101},
		{fmt.Sprintf("bytes=%d-", size-5), size - 5, size},
		{"bytes=0-", 0, size},
		{"bytes=0-99999999", 0, size},
		{fmt.Sprintf("bytes=%d-%d", size, size+1), 0, 0},
		{"bytes=5-4", 0, 0},
		{"bytes=-5", 0, 0},
		{"bytes=0-1,3-4", 0, 0},
		{"bytes=x-y", 0, 0},
		{"lines=0-1", 0, 0},
		{"bytes=0-99999999999999999999", 0, 0},
	} {
		w := get(t, m, http.MethodGet, "Range", tc.asked)
		if tc.to == 0 {
			if want := fmt.Sprintf("bytes */%d", size); w.Code != http.StatusRequestedRangeNotSatisfiable || w.Header().Get("Content-Range") != want || w.Header().Get("ETag") != "" {
				t.Errorf("%s is answered with %d %v", tc.asked, w.Code, w.Header())
			}
			continue
		}
		want := fmt.Sprintf("bytes %d-%d/%d", tc.from, tc.to-1, size)
		if w.Code != http.StatusPartialContent || w.Header().Get("Content-Range") != want || !bytes.Equal(w.Body.Bytes(), file[tc.from:tc.to]) {
			t.Errorf("%s is answered with %d, %s and %d bytes", tc.asked, w.Code, w.Header().Get("Content-Range"), w.Body.Len())
		}
	}
	if w := get(t, m, http.MethodGet); w.Code != http.StatusBadRequest || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("without a range: %d %v", w.Code, w.Header())
	}
	if w := get(t, m, http.MethodHead); w.Code != http.StatusOK || w.Header().Get("Content-Length") != strconv.Itoa(size) || w.Body.Len() > 0 {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
}

// A file that changes gets another tag, or pages would mix the two.
func TestServe_Tag(t *testing.T) {
	m := open(t, lumeford)
	first := get(t, m, http.MethodGet, "Range", "bytes=0-1").Header().Get("ETag")
	if w := get(t, m, http.MethodGet, "Range", "bytes=0-1", "If-None-Match", first); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("the known file is answered with %d", w.Code)
	}
	other := lumeford
	other.Lat = 48.1
	if again := get(t, open(t, lumeford), http.MethodGet, "Range", "bytes=0-1").Header().Get("ETag"); first == "" || again != first {
		t.Errorf("the same file has the tags %s and %s", first, again)
	}
	if tag := get(t, open(t, other), http.MethodGet, "Range", "bytes=0-1").Header().Get("ETag"); tag == first {
		t.Error("another file has the same tag")
	}
}

func TestHandles(t *testing.T) {
	m := open(t, lumeford)
	for _, tc := range []struct {
		method, path string
		m            *basemap.Map
		want         bool
	}{
		{"GET", "/basemap.pmtiles", m, true},
		{"HEAD", "/basemap.pmtiles", m, true},
		{"GET", "/basemap.pmtiles", nil, false},
		{"POST", "/basemap.pmtiles", m, false},
		{"OPTIONS", "/basemap.pmtiles", m, false},
		{"GET", "/basemap%2epmtiles", m, false},
		{"GET", "/basemap", m, false},
	} {
		if got := tc.m.Handles(httptest.NewRequest(tc.method, tc.path, nil)); got != tc.want {
			t.Errorf("%s %s: %t", tc.method, tc.path, got)
		}
	}
}
