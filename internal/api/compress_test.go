package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// plain returns the body of a response that the client asked to be encoded.
func (a answer) plain(t testing.TB) []byte {
	t.Helper()
	var in io.Reader = bytes.NewReader(a.body)
	var err error
	switch name := a.Header.Get("Content-Encoding"); name {
	case "":
		return a.body
	case "gzip":
		in, err = gzip.NewReader(in)
	case "zstd":
		in, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
	default:
		t.Fatalf("%s: Content-Encoding %q", a.Request.URL, name)
	}
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// raw sends a request without the checks of call, which read JSON.
func (c client) raw(t testing.TB, method, path string, header ...string) answer {
	t.Helper()
	response := c.send(t.Context(), t, method, path, nil, header...)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response, body}
}

// send returns a response whose body the caller reads and closes.
func (c client) send(ctx context.Context, t testing.TB, method, path string, body io.Reader, header ...string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.plain)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := c.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

var anyMeta = regexp.MustCompile(`"meta":\{[^}]*\}`)

// Decision D106: long responses to GET are compressed as the client prefers, and are the
// same when they are unpacked.
func TestCompression(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.anyone(t, "hotspots:write", "hotspots:verify", "rewards:read", "keys:manage")
	for i := range 40 {
		c.post(t, "/v1/hotspots", registration(i)).want(t, http.StatusCreated)
	}
	x, y := tileAt(14, 40.7, -74)
	tile := at("/v1/coverage/tiles/14/%d/%d.mvt", x, y)
	for _, form := range []struct{ path, accept string }{
		{"/v1/hotspots/nearby?lat=40.7&lng=-74&status=all&radius=10000", ""},
		{"/v1/hotspots/nearby?lat=40.7&lng=-74&status=all&radius=10000", "application/geo+json"},
		{"/v1/coverage?north=41&south=40&east=-73&west=-75&zoom=14", ""},
		{"/v1/coverage?north=41&south=40&east=-73&west=-75&zoom=14", "application/geo+json"},
		{"/v1/hotspots", ""},
		{"/v1/users/me/hotspots", ""},
		{"/v1/openapi.json", ""},
		{"/v1/openapi.yaml", ""},
		{tile, ""},
	} {
		identity := c.raw(t, "GET", form.path, "Accept", form.accept, "Accept-Encoding", "identity")
		if identity.Header.Get("Content-Encoding") != "" || !strings.Contains(identity.Header.Get("Vary"), "Accept-Encoding") {
			t.Errorf("%s: identity has the header %v", form.path, identity.Header)
		}
		for _, name := range []string{"gzip", "zstd"} {
			for _, method := range []string{"GET", "HEAD"} {
				a := c.raw(t, method, form.path, "Accept", form.accept, "Accept-Encoding", name)
				if a.StatusCode != http.StatusOK || a.Header.Get("Content-Encoding") != name || a.Header.Get("Vary") != identity.Header.Get("Vary") {
					t.Errorf("%s %s, %s: %s, %v", method, form.path, name, a.Status, a.Header)
				}
				length, _ := strconv.Atoi(a.Header.Get("Content-Length"))
				if method == "HEAD" {
					if length < 100 || len(a.body) > 0 {
						t.Errorf("HEAD %s, %s: Content-Length %d, %d bytes", form.path, name, length, len(a.body))
					}
					continue
				}
				if length != len(a.body) || len(a.body) > len(identity.body)*2/3 {
					t.Errorf("%s, %s: %d bytes of %d, Content-Length %d", form.path, name, len(a.body), len(identity.body), length)
				}
				if got, want := anyMeta.ReplaceAll(a.plain(t), nil), anyMeta.ReplaceAll(identity.body, nil); !bytes.Equal(got, want) {
					t.Errorf("%s, %s is unpacked as\n%s\nnot\n%s", form.path, name, got, want)
				}
			}
		}
	}
}

// A short response, an error and a stream of events are sent as they are.
func TestCompression_WhatIsNot(t *testing.T) {
	s := onSQLite(t, alive)
	c := s.operator(t)
	m := c.install(t, 1)
	for _, path := range []string{"/v1/keys/self", m.hotspot, "/v1/hotspots/nearby?lat=40.7&lng=-74", "/v1/hotspots/nearby", "/v1/nope"} {
		if a := c.raw(t, "GET", path, "Accept-Encoding", "gzip, zstd"); a.Header.Get("Content-Encoding") != "" || a.Header.Get("Content-Length") != strconv.Itoa(len(a.body)) {
			t.Errorf("%s: %v", path, a.Header)
		}
	}
	events := c.send(t.Context(), t, "GET", "/v1/events", nil, "Accept-Encoding", "gzip, zstd")
	defer events.Body.Close()
	first := make([]byte, len(": events"))
	if _, err := io.ReadFull(events.Body, first); err != nil || string(first) != ": events" || events.Header.Get("Content-Encoding") != "" {
		t.Errorf("events began with %q, %v, %v", first, err, events.Header)
	}
	// A body that is sent compressed is not read: it could unpack to any size.
	wantFault(t, c.post(t, "/v1/hotspots", registration(2), "Content-Encoding", "gzip"), http.StatusUnsupportedMediaType, "unsupported_media_type")
}

// Each encoding of a tile has its own strong tag, and a client is told that it has the
// tile only if it has it in the encoding that it would get.
func TestCompression_Tags(t *testing.T) {
	s := onSQLite(t, options{limits: ample})
	c := s.operator(t)
	for i := range 40 {
		c.post(t, "/v1/hotspots", registration(i)).want(t, http.StatusCreated)
	}
	x, y := tileAt(14, 40.7, -74)
	for _, path := range []string{at("/v1/coverage/tiles/14/%d/%d.mvt", x, y), "/v1/openapi.json"} {
		tags := map[string]string{}
		for _, name := range []string{"identity", "gzip", "zstd"} {
			tag := c.raw(t, "GET", path, "Accept-Encoding", name).Header.Get("ETag")
			if other, seen := tags[tag]; seen || tag == "" {
				t.Errorf("%s: %s has the tag %s of %s", path, name, tag, other)
			}
			tags[tag] = name
		}
		for tag, name := range tags {
			for _, asked := range []string{"identity", "gzip", "zstd"} {
				a, want := c.raw(t, "GET", path, "Accept-Encoding", asked, "If-None-Match", tag), http.StatusOK
				if asked == name {
					want = http.StatusNotModified
				}
				if a.StatusCode != want || a.Header.Get("ETag") == "" || want == http.StatusNotModified && (len(a.body) > 0 || a.Header.Get("Content-Encoding") != "") {
					t.Errorf("%s: %s, asked for with the tag of %s: %s, %v", path, asked, name, a.Status, a.Header)
				}
			}
		}
	}
}
