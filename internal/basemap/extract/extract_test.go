package extract_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/basemap/extract"
	"github.com/beacon-wifi/beacon/internal/basemap/pmtiles"
)

// today is in the middle of a month.
var today = time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)

// server serves builds by their paths, in ranges.
type server struct {
	*httptest.Server
	files  map[string][]byte
	tag    string
	sent   atomic.Int64 // bytes
	before atomic.Pointer[hook]
	count  atomic.Int64
}

// hook is called before each request is served, with its number. If it fails, the request
// is not.
type hook func(w http.ResponseWriter, n int64) error

func serve(t *testing.T, body []byte) *server {
	s := &server{files: map[string][]byte{"/earth.pmtiles": body}, tag: `"one"`}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before := s.before.Load(); before != nil && (*before)(w, s.count.Add(1)) != nil {
			return
		}
		body, ok := s.files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", s.tag)
		counted := &counter{w, &s.sent}
		http.ServeContent(counted, r, "", time.Time{}, bytes.NewReader(body))
	}))
	t.Cleanup(s.Close)
	return s
}

type counter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

func order(s *server, file string) extract.Order {
	return extract.WithoutWaiting(extract.Order{
		From: s.URL + "/earth.pmtiles", Box: pmtiles.Bounds{West: -180, South: -85, East: 180, North: 85}, MaxZoom: 15, File: file, Now: today,
	}, time.Hour)
}

func get(ctx context.Context, o extract.Order) (p *extract.Plan, err error) {
	if p, err = extract.Make(ctx, o); err != nil {
		return nil, err
	}
	err = p.Run(ctx, func(int64) {})
	return p, errors.Join(err, p.Close())
}

// Each tile of the region is in the file as it is in the build, and no other is; the
// metadata is kept.
func TestGet(t *testing.T) {
	tiles := world(7, 400)
	build := encode(tiles, 7, 200, about)
	s := serve(t, build)
	for _, tc := range []struct {
		west, south, east, north float64
		maxZoom                  int
	}{
		{-180, -85, 180, 85, 15}, {13.08, 52.33, 13.77, 52.68, 7}, {-30, -20, 40, 35, 7}, {-30, -20, 40, 35, 4}, {-140, -60, 10, 80, 6}, {0, 0, 0.001, 0.001, 1}, {179, -84, 180, -80, 7},
	} {
		path := filepath.Join(t.TempDir(), "region.pmtiles")
		o := order(s, path)
		o.Box, o.MaxZoom = pmtiles.Bounds{West: tc.west, South: tc.south, East: tc.east, North: tc.north}, tc.maxZoom
		before := s.sent.Load()
		p, err := get(t.Context(), o)
		if err != nil {
			t.Errorf("%+v: %v", tc, err)
			continue
		}
		got := decode(t, path)
		want := 0
		for at, body := range tiles {
			if !at.in(tc.west, tc.south, tc.east, tc.north) || at.z > tc.maxZoom {
				continue
			}
			want++
			if !bytes.Equal(got.tiles[at.number()], body) {
				t.Errorf("%+v: tile %v has %d bytes, want %d", tc, at, len(got.tiles[at.number()]), len(body))
			}
		}
		if want == 0 || len(got.tiles) != want || p.Tiles != int64(want) {
			t.Errorf("%+v: %d tiles, announced %d, want %d", tc, len(got.tiles), p.Tiles, want)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != p.Size {
			t.Errorf("%+v: %v bytes, announced %d", tc, info.Size(), p.Size)
		}
		if got.minZoom != 0 || got.maxZoom != min(tc.maxZoom, 7) || got.bounds != [4]float64{tc.west, tc.south, tc.east, tc.north} {
			t.Errorf("%+v: zooms %d to %d, bounds %v", tc, got.minZoom, got.maxZoom, got.bounds)
		}
		var said map[string]any
		if err := json.Unmarshal([]byte(about), &said); err != nil {
			t.Fatal(err)
		}
		said["beacon:source"] = map[string]any{"url": o.From, "tag": `"one"`, "size": float64(len(build))}
		if !reflect.DeepEqual(got.metadata, said) {
			t.Errorf("the metadata is %v", got.metadata)
		}
		if few := int64(len(build)) / 3; want < 100 && s.sent.Load()-before > few {
			t.Errorf("%+v: %d bytes were sent for %d tiles", tc, s.sent.Load()-before, want)
		}
		if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	}
}

// So many tiles need directories below the first one.
func TestGet_ManyTiles(t *testing.T) {
	tiles := world(8, 8)
	path := filepath.Join(t.TempDir(), "region.pmtiles")
	if _, err := get(t.Context(), order(serve(t, encode(tiles, 8, 4000, about)), path)); err != nil {
		t.Fatal(err)
	}
	got := decode(t, path)
	if got.leaves < 2 || len(got.tiles) != len(tiles) {
		t.Errorf("%d tiles in %d directories, want %d", len(got.tiles), got.leaves, len(tiles))
	}
	for at, body := range tiles {
		if !bytes.Equal(got.tiles[at.number()], body) {
			t.Fatalf("tile %v differs", at)
		}
	}
}

// large is a build whose region takes several pieces.
func large() (map[tile][]byte, []byte) {
	tiles := world(4, 200_000)
	return tiles, encode(tiles, 4, 50, about)
}

// childOrder is where a child of the test finds what to download.
const childOrder = "BEACON_TEST_EXTRACT"

func TestMain(m *testing.M) {
	if text := os.Getenv(childOrder); text != "" {
		from, file, _ := strings.Cut(text, " ")
		_, err := get(context.Background(), extract.Order{From: from, Box: pmtiles.Bounds{West: -180, South: -85, East: 180, North: 85}, MaxZoom: 15, File: file, Now: today})
		fmt.Println(err)
		return
	}
	os.Exit(m.Run())
}

// downloaded serves a large build, and returns how all of it is downloaded at once.
func downloaded(t *testing.T) (s *server, full *extract.Plan, file []byte) {
	t.Helper()
	_, build := large()
	s = serve(t, build)
	whole := filepath.Join(t.TempDir(), "whole.pmtiles")
	full, err := get(t.Context(), order(s, whole))
	if err != nil {
		t.Fatal(err)
	}
	return s, full, read(t, whole)
}

// A download that was killed goes on where it was, with the same build.
func TestGet_Killed(t *testing.T) {
	s, full, want := downloaded(t)
	path := filepath.Join(t.TempDir(), "region.pmtiles")
	ctx, end := context.WithCancel(t.Context()) // by SIGKILL
	defer end()
	child := exec.CommandContext(ctx, os.Args[0])
	child.Env = append(os.Environ(), childOrder+"="+s.URL+"/earth.pmtiles "+path)
	half := s.sent.Load() + int64(len(s.files["/earth.pmtiles"]))/2
	killed := make(chan struct{})
	kill := hook(func(http.ResponseWriter, int64) error { // the child has half of it
		if s.sent.Load() < half {
			return nil
		}
		end()
		<-killed
		return errors.New("nobody is there")
	})
	s.before.Store(&kill)
	out, err := child.CombinedOutput()
	close(killed)
	if err == nil {
		t.Fatalf("the child was not killed: %s", out)
	}
	s.before.Store(nil)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a file that is not complete has its name: %v", err)
	}
	before := s.sent.Load()
	p, err := get(t.Context(), order(s, path))
	if err != nil {
		t.Fatal(err)
	}
	if p.Kept < 4<<20 || p.Download >= full.Download || s.sent.Load()-before > full.Download-p.Kept/2 {
		t.Errorf("it went on with %d of %d bytes, and %d were sent", p.Kept, p.Size, s.sent.Load()-before)
	}
	if !bytes.Equal(read(t, path), want) {
		t.Error("the file differs from one that was downloaded at once")
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// Whatever a machine that stopped left of the last piece, the file becomes whole. Of
// another build, region or zoom nothing is kept.
func TestGet_GoesOn(t *testing.T) {
	s, full, want := downloaded(t)
	path := filepath.Join(t.TempDir(), "region.pmtiles")
	const lost = 1 << 20 // of what was written last
	for _, length := range []int{0, 50, 127, 3000, 5 << 20, 9<<20 + 1, len(want) - 1, len(want), len(want) + lost/2} {
		left := make([]byte, length)
		copy(left[:max(length-lost, min(length, 2000))], want)
		if err := os.WriteFile(path+".part", left, 0o600); err != nil {
			t.Fatal(err)
		}
		o := order(s, path)
		o.Replace = true
		p, err := get(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(read(t, path), want) {
			t.Errorf("after %d bytes the file differs", length)
		}
		if length > 9<<20 && length <= len(want) && (p.Kept < int64(length)-10<<20 || p.Kept == 0) || p.Kept > int64(max(2000, length-lost/2)) {
			t.Errorf("of %d bytes %d were kept", length, p.Kept)
		}
	}
	for name, change := range map[string]func(*extract.Order){
		"another build":  func(*extract.Order) { s.tag = `"two"` },
		"another region": func(o *extract.Order) { o.Box.East = 100 },
		"another zoom":   func(o *extract.Order) { o.MaxZoom = 3 },
	} {
		if err := os.WriteFile(path+".part", want[:len(want)-1], 0o600); err != nil {
			t.Fatal(err)
		}
		o := order(s, path)
		o.Replace = true
		change(&o)
		if p, err := get(t.Context(), o); err != nil || p.Kept != 0 {
			t.Errorf("%s: %v, %d bytes were kept of %d", name, err, p.Kept, full.Size)
		}
		decode(t, path)
		s.tag = `"one"`
	}
}

// The newest build that is there is taken, and one that was begun before is gone on with.
func TestGet_Dates(t *testing.T) {
	_, build := large()
	s := serve(t, build)
	s.files = map[string][]byte{"/20261112.pmtiles": build, "/20261116.pmtiles": build, "/20261120.pmtiles": nil}
	path := filepath.Join(t.TempDir(), "region.pmtiles")
	o := order(s, path)
	o.From = s.URL + "/{date}.pmtiles?key=secret"
	p, err := get(t.Context(), o)
	if err != nil || p.From != s.URL+"/20261116.pmtiles" {
		t.Fatalf("%v: from %v", err, p.From)
	}
	body := read(t, path)
	if err := os.WriteFile(path+".part", body[:len(body)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	s.files["/20261119.pmtiles"] = build
	o.Replace = true
	if p, err := get(t.Context(), o); err != nil || p.From != s.URL+"/20261116.pmtiles" || p.Kept < 4<<20 {
		t.Errorf("%v: went on from %v with %d bytes", err, p.From, p.Kept)
	}
	if p, err := get(t.Context(), o); err != nil || p.From != s.URL+"/20261119.pmtiles" {
		t.Errorf("%v: from %v", err, p.From)
	}
	o.Now = today.AddDate(0, 0, 20)
	if _, err := get(t.Context(), o); err == nil || !strings.Contains(err.Error(), "has no build of the last 10 days") {
		t.Errorf("without a build: %v", err)
	}
}

// A file that exists stays, unless it may be replaced; two commands do not write one file.
func TestGet_OthersFiles(t *testing.T) {
	s := serve(t, encode(world(3, 100), 3, 50, about))
	path := filepath.Join(t.TempDir(), "region.pmtiles")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := order(s, path)
	if _, err := extract.Make(t.Context(), o); !errors.Is(err, fs.ErrExist) || string(read(t, path)) != "mine" {
		t.Errorf("the file exists: %v", err)
	}
	o.Replace = true
	p, err := extract.Make(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := extract.Make(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another command is writing") {
		t.Errorf("two at once: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
		t.Errorf("after a look, %v is left", left)
	}
	if _, err := get(t.Context(), o); err != nil {
		t.Error(err)
	}
	decode(t, path)
}
