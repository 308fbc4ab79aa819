package extract_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/basemap/extract"
)

// Whatever a server sends, the error says what is wrong with it, nothing gets the name of
// the file, and no more is read or kept in memory than a region needs.
func TestGet_HostileServers(t *testing.T) {
	good := encode(world(3, 4000), 3, 50, about)
	ranged := func(change func(w http.ResponseWriter, r *http.Request, from, to int) bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var from, to int
			if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil {
				t.Error(err)
			}
			to = min(to, len(good)-1)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(good)))
			if change(w, r, from, to) {
				return
			}
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(good[from : to+1])
		}
	}
	// later calls change for what comes after the first range.
	later := func(change func(w http.ResponseWriter, from, to int) bool) http.HandlerFunc {
		return ranged(func(w http.ResponseWriter, _ *http.Request, from, to int) bool {
			return from > 0 && change(w, from, to)
		})
	}
	static := func(body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", today, bytes.NewReader(body))
		}
	}
	bomb := zip(make([]byte, 64<<20))
	whole := zip(directory([]row{{0, 1, 10, 0}}))
	huge := func(at int, value uint64) []byte {
		body := bytes.Clone(good)
		binary.LittleEndian.PutUint64(body[at:], value)
		return body
	}
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"no ranges":          {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(good) }, "does not send ranges"},
		"endless, no ranges": {endless(http.StatusOK), "does not send ranges"},
		"missing":            {http.NotFound, "the server does not have it: status 404"},
		"not satisfiable":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(416) }, "status 416"},
		"overloaded":         {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "status 503"},
		"overloaded later":   {later(func(w http.ResponseWriter, _, _ int) bool { w.WriteHeader(503); return true }), "tried 5 times: status 503"},
		"another range": {ranged(func(w http.ResponseWriter, _ *http.Request, _, _ int) bool {
			w.Header().Set("Content-Range", "bytes 5-9/1000")
			return false
		}), "another range than the one asked for"},
		"no range": {ranged(func(w http.ResponseWriter, _ *http.Request, _, _ int) bool {
			w.Header().Del("Content-Range")
			return false
		}), "another range"},
		"a negative range": {ranged(func(w http.ResponseWriter, _ *http.Request, _, _ int) bool {
			w.Header().Set("Content-Range", "bytes 0--5/-9")
			return false
		}), "another range"},
		"a range too large": {ranged(func(w http.ResponseWriter, _ *http.Request, _, _ int) bool {
			w.Header().Set("Content-Range", "bytes 0-99999999/999999999")
			return false
		}), "another range"},
		"an unknown size": {ranged(func(w http.ResponseWriter, _ *http.Request, _, to int) bool {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/*", to))
			return false
		}), "another range"},
		"crumbs": {ranged(func(w http.ResponseWriter, _ *http.Request, from, _ int) bool {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, from, len(good)))
			return false
		}), "sends only 1 bytes at a time"},
		"a wrong length": {ranged(func(w http.ResponseWriter, _ *http.Request, _, _ int) bool {
			w.Header().Set("Content-Length", "7")
			w.WriteHeader(206)
			return true
		}), "bytes has 7"},
		"compressed": {ranged(func(w http.ResponseWriter, _ *http.Request, _, _ int) bool {
			w.Header().Set("Content-Encoding", "gzip")
			return false
		}), "compresses ranges (gzip)"},
		"cut": {later(func(w http.ResponseWriter, from, to int) bool {
			w.Header().Set("Content-Length", fmt.Sprint(to-from+1))
			w.WriteHeader(206)
			_, _ = w.Write(good[from : from+1])
			return true
		}), "tried 5 times: the response was cut"},
		"another build": {later(func(w http.ResponseWriter, _, _ int) bool { w.Header().Set("ETag", `"x"`); return false }), "the build has changed meanwhile"},
		"another size": {later(func(w http.ResponseWriter, from, to int) bool {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(good)+1))
			return false
		}), "the build has changed meanwhile"},
		"silent": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "the server was silent"},
		"silent in the body": {ranged(func(w http.ResponseWriter, r *http.Request, from, _ int) bool {
			if from > 0 {
				w.WriteHeader(206)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
			return from > 0
		}), "the server was silent"},
		"redirects to itself": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, "redirects again and again"},
		"redirects to a file": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, "unsupported protocol scheme"},
		"text":                {static(bytes.Repeat([]byte("streets"), 100)), "not a PMTiles file"},
		"short":               {static([]byte("PMTiles")), "not a PMTiles file"},
		"empty":               {static(nil), "does not send ranges"},
		"version 2":           {static(slices.Concat([]byte("PMTiles\x02"), good[8:])), "version 2 of PMTiles"},
		"bomb of metadata":    {static(file(whole, bomb, nil, make([]byte, 10), 1, 3)), "metadata: too large"},
		"bomb of directories": {static(file(bomb, zip([]byte("{}")), nil, make([]byte, 10), 1, 3)), "directory of tiles: too large"},
		"metadata of a list":  {static(file(whole, zip([]byte("[1]")), nil, make([]byte, 10), 1, 3)), "metadata: "},
		"beyond the file":     {static(huge(64, 1<<62)), "the file is not complete"},
		"a negative offset":   {static(huge(56, math.MaxUint64)), "the file is not complete"},
		"a tile beyond":       {static(file(zip(directory([]row{{0, 1, 10, 5}})), zip([]byte("{}")), nil, make([]byte, 10), 1, 3)), "a directory of tiles is damaged"},
		"a huge tile":         {static(file(zip(directory([]row{{0, 1, 9 << 20, 0}})), zip([]byte("{}")), nil, make([]byte, 9<<20), 1, 3)), "a tile has 9437184 bytes"},
		"tiles that overlap":  {static(file(zip(directory([]row{{0, 1, 10, 0}, {1, 1, 10, 0}, {2, 1, 10, 1}})), zip([]byte("{}")), nil, make([]byte, 12), 1, 3)), "a directory of tiles is damaged"},
		"a directory in itself": {static(func() []byte {
			leaf := zip(directory([]row{{0, 0, 30, 0}}))
			return file(zip(directory([]row{{0, 0, len(leaf), 0}})), zip([]byte("{}")), leaf, make([]byte, 10), 1, 3)
		}()), "a directory of tiles is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			remote := httptest.NewServer(tc.handler)
			t.Cleanup(remote.CloseClientConnections)
			path := filepath.Join(t.TempDir(), "region.pmtiles")
			o := order(&server{Server: remote}, path)
			if strings.HasPrefix(name, "silent") { // and so it ends, however busy the machine is
				o = extract.WithoutWaiting(o, time.Millisecond)
			}
			_, err := get(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if left, globErr := filepath.Glob(path); globErr != nil || len(left) > 0 {
				t.Errorf("there is %v", left)
			}
		})
	}
}

// endless sends a body without end, until the client leaves.
func endless(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}
}

// A body that goes on beyond its range is left there; one connection that fails is not the
// end.
func TestGet_OddServers(t *testing.T) {
	tiles := world(3, 4000)
	good := encode(tiles, 3, 50, about)
	s := serve(t, good)
	abort := hook(func(_ http.ResponseWriter, n int64) error {
		if n == 1 || n%2 == 1 {
			return nil
		}
		panic(http.ErrAbortHandler)
	})
	s.before.Store(&abort)
	path := filepath.Join(t.TempDir(), "region.pmtiles")
	if _, err := get(t.Context(), order(s, path)); err != nil {
		t.Error(err)
	} else if got := decode(t, path); len(got.tiles) != len(tiles) {
		t.Errorf("%d tiles, want %d", len(got.tiles), len(tiles))
	}
	long := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var from, to int
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil {
			t.Error(err)
		}
		to = min(to, len(good)-1)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(good)))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(good[from : to+1])
		endless(0)(quiet{w}, r)
	}))
	t.Cleanup(long.Close)
	path = filepath.Join(t.TempDir(), "region.pmtiles")
	if _, err := get(t.Context(), order(&server{Server: long}, path)); err != nil {
		t.Error(err)
	} else if got := decode(t, path); len(got.tiles) != len(tiles) {
		t.Errorf("%d tiles, want %d", len(got.tiles), len(tiles))
	}
}

// quiet has its status already.
type quiet struct{ http.ResponseWriter }

func (quiet) WriteHeader(int) {}

func TestRegion(t *testing.T) {
	for text, want := range map[string][4]float64{
		"berlin": {13.08, 52.33, 13.77, 52.68}, "New York": {-74.27, 40.48, -73.68, 40.93}, "new-york": {-74.27, 40.48, -73.68, 40.93}, "SAO PAULO": {-46.85, -23.8, -46.35, -23.35},
		" -74.03,40.69, -73.9,40.88": {-74.03, 40.69, -73.9, 40.88}, "-180,-90,180,90": {-180, -90, 180, 90},
	} {
		if b, err := extract.Region(text); err != nil || [4]float64{b.West, b.South, b.East, b.North} != want {
			t.Errorf("%q is %v, %v", text, b, err)
		}
	}
	for text, want := range map[string]string{
		"": "is not one of the cities", "atlantis": "give a box in degrees, west,south,east,north, such as 13.08,52.33,13.77,52.68, or one of", "1,2,3": "is not a box", "1,2,3,4,5": "is not a box", "1,2,3,x": "is not a box", "NaN,1,2,3": "is not a box",
		"52.33,13.08,52.68,181": "reaches beyond the Earth", "-181,0,1,1": "reaches beyond the Earth", "13,53,14,52": "south", "14,52,13,53": "west", "177,-19,-179,-16": "cannot cross 180°", "1,1,1,1": "south",
	} {
		if b, err := extract.Region(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %v, %v, want %q", text, b, err, want)
		}
	}
	seen := map[string]bool{}
	for _, p := range extract.Places {
		if b := p.Box; seen[p.Name] || b.West >= b.East || b.South >= b.North || b.East-b.West > 1 || b.North-b.South > 1 {
			t.Errorf("%s is %v", p.Name, b)
		}
		seen[p.Name] = true
	}
}

// Nobody is sent from https to http, where anyone could change what comes.
func TestGet_RedirectsWithoutTLS(t *testing.T) {
	good := encode(world(3, 100), 3, 50, about)
	plain := serve(t, good)
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL+"/earth.pmtiles", http.StatusFound))
	t.Cleanup(secure.Close)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	transport := http.DefaultTransport.(*http.Transport)
	before := transport.TLSClientConfig
	transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	t.Cleanup(func() { transport.TLSClientConfig = before })
	path := filepath.Join(t.TempDir(), "region.pmtiles")
	if _, err := get(t.Context(), order(&server{Server: secure}, path)); err == nil || !strings.Contains(err.Error(), "redirects to an address without https") {
		t.Error(err)
	}
	other := httptest.NewServer(http.RedirectHandler(plain.URL+"/earth.pmtiles", http.StatusFound))
	t.Cleanup(other.Close)
	if _, err := get(t.Context(), order(&server{Server: other}, path)); err != nil {
		t.Errorf("a redirect: %v", err)
	}
	decode(t, path)
}
