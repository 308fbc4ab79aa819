package fastpath

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"testing"
)

func TestPlain(t *testing.T) {
	var p plainRequest // one for all: nothing of a request may stay in it
	for _, sample := range plainSamples {
		if got := p.parse([]byte(sample)); got != plain {
			t.Errorf("%.100q is not plain: %d", sample, got)
			continue
		}
		compareWithStandard(t, []byte(sample))
		whole := p.size()
		for cut := range whole {
			if got := p.parse([]byte(sample[:cut])); got != unfinished {
				t.Fatalf("%.100q, cut to %d of %d bytes, is %d; want unfinished", sample, cut, whole, got)
			}
		}
	}
	for _, sample := range cutSamples {
		if got := p.parse([]byte(sample)); got != unfinished {
			t.Errorf("%.100q is %d; want unfinished", sample, got)
		}
	}
	for _, sample := range oddSamples {
		if got := p.parse([]byte(sample)); got != foreign {
			t.Errorf("%.100q is %d; want foreign", sample, got)
		}
	}
}

// Whatever the fast path takes for plain, net/http's own reader takes for the same
// request, and the next one begins at the same byte.
func FuzzPlain(f *testing.F) {
	for _, sample := range append(plainSamples, oddSamples...) {
		f.Add([]byte(sample))
		f.Add([]byte(sample + plainSamples[0]))
	}
	f.Fuzz(func(t *testing.T, data []byte) { compareWithStandard(t, data) })
}

func compareWithStandard(t *testing.T, data []byte) {
	t.Helper()
	var p plainRequest
	if p.parse(data) != plain {
		return
	}
	in := bufio.NewReader(bytes.NewReader(data))
	want, err := http.ReadRequest(in)
	if err != nil {
		t.Fatalf("%q is plain, and net/http says: %v", data, err)
	}
	wantBody, err := io.ReadAll(want.Body)
	if err != nil {
		t.Fatalf("%q is plain, and net/http says of its body: %v", data, err)
	}
	rest, _ := io.ReadAll(in)
	if !bytes.Equal(rest, data[p.size():]) {
		t.Errorf("%q: %q follows; net/http says %q", data, data[p.size():], rest)
	}
	if body := data[p.head:p.size()]; !bytes.Equal(body, wantBody) {
		t.Errorf("%q: the body is %q; net/http says %q", data, body, wantBody)
	}
	var got http.Request
	var values [maxFields]string
	p.fill(&got, &url.URL{}, http.Header{}, &values, data)
	want.Body = nil // compared already
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("%q gives\n%+v, %+v; net/http says\n%+v, %+v", data, got, got.URL, want, want.URL)
	}
}
