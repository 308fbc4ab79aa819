package basemap

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

// Path is where the file is served.
const Path = "/basemap.pmtiles"

// NamesPath is where names are searched.
const NamesPath = "/basemap/names"

const (
	route      = "GET " + Path
	namesRoute = "GET " + NamesPath
)

// maxRange is the most that one response has. Tiles and directories are smaller.
const maxRange = 4 << 20

// Routes lists the routes of the map. They are known without a file.
func (m *Map) Routes() []string { return []string{route, namesRoute} }

// Handles reports whether a request is for the file.
func (m *Map) Handles(r *http.Request) bool {
	path := r.URL.EscapedPath()
	return m != nil && (path == Path || path == NamesPath) && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// Header values are shared between responses: net/http only reads them.
var (
	ranges      = []string{"bytes"}
	forADay     = []string{"public, max-age=86400"}
	noStore     = []string{"no-store"}
	contentType = []string{"application/vnd.pmtiles"}
	noSniff     = []string{"nosniff"}
	sameOrigin  = []string{"same-origin"}
)

// ServeHTTP serves a request that the map handles.
func (m *Map) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.EscapedPath() == NamesPath {
		m.serveNames(w, r)
		return
	}
	m.serveRange(w, r)
}

// serveNames serves what has a name like q. What is near lat and lng comes first.
func (m *Map) serveNames(w http.ResponseWriter, r *http.Request) {
	r.Pattern = namesRoute
	asked := r.URL.Query()
	number := func(name string) float64 {
		v, err := strconv.ParseFloat(asked.Get(name), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return 0
		}
		return v
	}
	body, err := json.Marshal(map[string]any{"data": m.Search(asked.Get("q"), number("lat"), number("lng"))})
	if err != nil {
		http.Error(w, "the names cannot be written", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h["Content-Type"] = []string{"application/json; charset=utf-8"}
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may have left; that is not our fault
	}
}

// serveRange serves one range of bytes of the file (decision D190). There is no download
// of the whole file: it may have gigabytes.
func (m *Map) serveRange(w http.ResponseWriter, r *http.Request) {
	r.Pattern = route
	h := w.Header()
	h["Accept-Ranges"] = ranges
	h["Cache-Control"] = forADay
	h["Etag"] = []string{m.tag}
	h["X-Content-Type-Options"] = noSniff
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	asked := r.Header.Get("Range")
	from, length, ok := m.section(asked)
	switch {
	case static.HasTag(r.Header["If-None-Match"], m.tag):
		w.WriteHeader(http.StatusNotModified)
	case r.Method == http.MethodHead:
		h["Content-Type"] = contentType
		h.Set("Content-Length", strconv.FormatInt(m.Size, 10))
		w.WriteHeader(http.StatusOK)
	case !ok && asked == "":
		refuse(w, "ask for a range of bytes", http.StatusBadRequest)
	case !ok:
		h.Set("Content-Range", fmt.Sprintf("bytes */%d", m.Size))
		refuse(w, "the file has no such range", http.StatusRequestedRangeNotSatisfiable)
	default:
		m.send(w, from, length)
	}
}

// refuse responds with an error, which is not for caches.
func refuse(w http.ResponseWriter, message string, status int) {
	h := w.Header()
	delete(h, "Etag")
	h["Cache-Control"] = noStore
	http.Error(w, message, status)
}

func (m *Map) send(w http.ResponseWriter, from, length int64) {
	body := make([]byte, length)
	if _, err := m.in.ReadAt(body, from); err != nil {
		refuse(w, "the file cannot be read", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h["Content-Type"] = contentType
	h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, from+length-1, m.Size))
	h.Set("Content-Length", strconv.FormatInt(length, 10))
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(body) // the client may have left; that is not our fault
}

// section parses a Range with a first and, perhaps, a last byte. A response may have less
// than what was asked for (RFC 9110 §15.3.7): up to the end of the file, or maxRange.
func (m *Map) section(text string) (from, length int64, ok bool) {
	first, last, found := strings.Cut(strings.TrimPrefix(text, "bytes="), "-")
	if !found || !strings.HasPrefix(text, "bytes=") {
		return 0, 0, false
	}
	from, err := strconv.ParseInt(first, 10, 64)
	if err != nil || from < 0 || from >= m.Size {
		return 0, 0, false
	}
	to := m.Size - 1
	if last != "" {
		asked, err := strconv.ParseInt(last, 10, 64)
		if err != nil || asked < from {
			return 0, 0, false
		}
		to = min(to, asked)
	}
	return from, min(to-from+1, maxRange), true
}
