package coding_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
)

func TestAccepted(t *testing.T) {
	for header, want := range map[string]coding.Coding{
		"":                                   coding.Identity,
		"gzip":                               coding.Gzip,
		"GZip":                               coding.Gzip,
		"x-gzip":                             coding.Gzip,
		"zstd":                               coding.Zstd,
		"gzip, deflate, br, zstd":            coding.Zstd,
		"gzip,zstd;q=0.9":                    coding.Gzip,
		"gzip;q=0.5, zstd;q=0.5":             coding.Zstd,
		"gzip ; q=1.000 , br":                coding.Gzip,
		"gzip;q=0":                           coding.Identity,
		"gzip;q=0.000":                       coding.Identity,
		"gzip;q=0, *":                        coding.Identity,
		"*":                                  coding.Gzip,
		"*;q=0":                              coding.Identity,
		"*;q=0, zstd":                        coding.Zstd,
		"identity":                           coding.Identity,
		"identity, gzip":                     coding.Gzip,
		"identity;q=1, gzip;q=0.5":           coding.Identity,
		"identity;q=0":                       coding.Identity,
		"identity;q=0, gzip;q=0.1":           coding.Gzip,
		"gzip;q=2":                           coding.Identity,
		"gzip;q=-1":                          coding.Identity,
		"gzip;q=1e0":                         coding.Identity,
		"gzip;q=NaN":                         coding.Identity,
		"gzip;level=9":                       coding.Identity,
		"gzip;q=x, zstd":                     coding.Zstd,
		"deflate, br":                        coding.Identity,
		"gzipped":                            coding.Identity,
		strings.Repeat(",", 4000) + "gzip":   coding.Gzip,
		strings.Repeat("a;q=1,", 500) + "br": coding.Identity,
	} {
		if got := coding.Accepted([]string{header}); got != want {
			t.Errorf("Accepted(%.60q) = %v; want %v", header, got, want)
		}
	}
	if got := coding.Accepted([]string{"br", "gzip"}); got != coding.Gzip {
		t.Errorf("two lines gave %v; want gzip", got)
	}
	if got := coding.Accepted(nil); got != coding.Identity {
		t.Errorf("no header gave %v", got)
	}
}

// decode reads a body that another implementation must be able to read.
func decode(t *testing.T, name string, body []byte) []byte {
	t.Helper()
	var in io.Reader = bytes.NewReader(body)
	var err error
	switch name {
	case "gzip":
		in, err = gzip.NewReader(in)
	case "zstd":
		var z *zstd.Decoder
		z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20)) // RFC 9659
		defer z.Close()
		in = z
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

func sample(size int) []byte {
	return []byte(strings.Repeat(`{"id":"hs_01kb3gzk00e9x8q6s5t4v3w2y1","lat":40.75},`, size/50+1)[:size])
}

func TestAppend(t *testing.T) {
	var all sync.WaitGroup
	for _, c := range []coding.Coding{coding.Identity, coding.Gzip, coding.Zstd} {
		for _, size := range []int{0, 1, 50, 5000, 200_000} {
			all.Go(func() {
				for range 20 {
					body := sample(size)
					out := c.Append([]byte("before"), body)
					rest, ok := bytes.CutPrefix(out, []byte("before"))
					if !ok || size > 0 && !bytes.Equal(decode(t, c.String(), rest), body) {
						t.Errorf("%v of %d bytes is not the body", c, size)
					}
				}
			})
		}
	}
	all.Wait()
}

func TestStream(t *testing.T) {
	for _, c := range []coding.Coding{coding.Identity, coding.Gzip, coding.Zstd} {
		var out bytes.Buffer
		body := sample(300_000)
		err := c.Stream(&out, func(w io.Writer) error {
			for piece := range bytes.SplitAfterSeq(body, []byte(",")) {
				if _, err := w.Write(piece); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || !bytes.Equal(decode(t, c.String(), out.Bytes()), body) {
			t.Errorf("%v: %v, or another body", c, err)
		}
		failed := errors.New("failed")
		if err := c.Stream(&out, func(io.Writer) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("%v: %v; want the error of the writer", c, err)
		}
	}
}

func TestOnce(t *testing.T) {
	body := sample(5000)
	o, tag := coding.NewOnce(body), coding.TagOf(body)
	for _, name := range []string{"identity", "gzip", "zstd"} {
		v := o.For([]string{name})
		h := http.Header{}
		v.SetHeader(h)
		wantTag, wantName := strings.TrimSuffix(tag, `"`)+"-"+name+`"`, name
		if name == "identity" {
			wantTag, wantName = tag, ""
		}
		if v.Tag[0] != wantTag || h.Get("Content-Encoding") != wantName || h.Get("Content-Length") != strconv.Itoa(len(v.Body)) {
			t.Errorf("%s: tag %s, header %v, %d bytes", name, v.Tag, h, len(v.Body))
		}
		if !bytes.Equal(decode(t, name, v.Body), body) {
			t.Errorf("%s is another body", name)
		}
	}
	// What does not shrink is sent as it is, under its own tag.
	const ofX = `"2d711642b726b04401627ca9"` // the start of its SHA-256
	if v := coding.NewOnce([]byte("x")).For([]string{"gzip"}); v.Coding != coding.Identity || v.Tag[0] != ofX || string(v.Body) != "x" {
		t.Errorf("one byte became %+v", v)
	}
}

func TestResponseWriter(t *testing.T) {
	whole := sample(coding.MinSize)
	write := func(status int, body []byte, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			if n, err := w.Write(body); n != len(body) || err != nil {
				t.Errorf("Write returned %d, %v; want %d", n, err, len(body))
			}
		}
	}
	length := strconv.Itoa(len(whole))
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		encoded bool
	}{
		"json":      {write(200, whole, "Content-Type", "application/json; charset=utf-8", "Content-Length", length), true},
		"geojson":   {write(200, whole, "Content-Type", "application/geo+json", "Content-Length", length), true},
		"csv":       {write(200, whole, "Content-Type", "text/csv; charset=utf-8; header=present", "Content-Length", length), true},
		"svg":       {write(200, whole, "Content-Type", "image/png", "Content-Length", length), false},
		"error":     {write(400, whole, "Content-Type", "application/json", "Content-Length", length), false},
		"no length": {write(200, whole, "Content-Type", "application/json"), false},
		"short":     {write(200, whole[1:], "Content-Type", "application/json", "Content-Length", strconv.Itoa(len(whole)-1)), false},
		"tagged":    {write(200, whole, "Content-Type", "application/json", "Content-Length", length, "ETag", `"1"`), false},
		"encoded":   {write(200, whole, "Content-Type", "application/json", "Content-Length", length, "Content-Encoding", "br"), false},
		"stream":    {write(200, whole, "Content-Type", "text/event-stream"), false},
	} {
		for _, c := range []coding.Coding{coding.Identity, coding.Gzip, coding.Zstd} {
			recorder := httptest.NewRecorder()
			w := &coding.ResponseWriter{ResponseWriter: recorder, Coding: c}
			test.handler(w, nil)
			w.Finish()
			got, want := recorder.Header().Get("Content-Encoding"), ""
			if test.encoded && c != coding.Identity {
				want = c.String()
			}
			if name == "encoded" {
				want = "br"
			}
			if got != want {
				t.Errorf("%s, %v: Content-Encoding %q; want %q", name, c, got, want)
			}
			body := recorder.Body.Bytes()
			if l := recorder.Header().Get("Content-Length"); l != "" && l != strconv.Itoa(len(body)) {
				t.Errorf("%s, %v: Content-Length %s of %d", name, c, l, len(body))
			}
			if plain := decode(t, got, body); !bytes.HasPrefix(whole, plain) && !bytes.HasSuffix(whole, plain) {
				t.Errorf("%s, %v: another body", name, c)
			}
		}
	}
}

// A handler that promises a body and writes none, or in pieces, is not disturbed.
func TestResponseWriter_InPieces(t *testing.T) {
	for pieces := range 3 {
		recorder := httptest.NewRecorder()
		w := &coding.ResponseWriter{ResponseWriter: recorder, Coding: coding.Gzip}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(2*coding.MinSize))
		w.WriteHeader(http.StatusOK)
		for range pieces {
			_, _ = w.Write(sample(coding.MinSize))
		}
		w.Finish()
		if recorder.Code != http.StatusOK || recorder.Header().Get("Content-Encoding") != "" || recorder.Body.Len() != pieces*coding.MinSize {
			t.Errorf("%d pieces: %d, %v, %d bytes", pieces, recorder.Code, recorder.Header(), recorder.Body.Len())
		}
	}
}
