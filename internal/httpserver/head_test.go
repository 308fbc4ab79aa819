package httpserver

import (
	"net/http"
	"strings"
	"testing"
)

// headOf returns a request whose head, without the empty line at its end, has n bytes.
func headOf(n int, lines ...string) string {
	const pad = "X-Pad: "
	head := strings.Join(lines, "\r\n") + "\r\n"
	return head + pad + strings.Repeat("v", n-len(head)-len(pad)) + "\r\n\r\n"
}

// The limit of a request's head is the same for the first and for later requests of a
// connection, with and without the fast path. A longer head is refused in the form of the
// API that it is for.
func TestServe_HeadLimit(t *testing.T) {
	addrs := serveBoth(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.Path + "\n")) })
	before := map[string]string{
		"first":                  "",
		"after a plain request":  inLines("GET /before HTTP/1.1", "Host: x"),
		"after a special one":    inLines("PUT /before HTTP/1.1", "Host: x", "Content-Length: 5") + "abcde",
		"after many":             strings.Repeat(inLines("PUT /before HTTP/1.1", "Host: x", "Content-Length: 5000")+strings.Repeat("b", 5000), 3),
		"after one at the limit": headOf(MaxHeaderBytes, "GET /before HTTP/1.1", "Host: x"),
	}
	heads := map[string]struct {
		text, want string
	}{
		"at the limit":        {headOf(MaxHeaderBytes, "GET /a HTTP/1.1", "Host: x", "Connection: close"), "200"},
		"one more":            {headOf(MaxHeaderBytes+1, "GET /a HTTP/1.1", "Host: x", "Connection: close"), "431"},
		"22 KB":               {headOf(22_000, "GET /a HTTP/1.1", "Host: x"), "431"},
		"a megabyte":          {headOf(1<<20, "GET /a HTTP/1.1", "Host: x"), "431"},
		"with a body":         {headOf(22_000, "POST /a HTTP/1.1", "Host: x", "Content-Length: 3") + "abc", "431"},
		"in chunks":           {headOf(22_000, "POST /a HTTP/1.1", "Host: x", "Transfer-Encoding: chunked") + chunks, "431"},
		"host at the end":     {strings.TrimSuffix(headOf(22_000, "GET /a HTTP/1.1"), "\r\n") + "Host: x\r\n\r\n", "431"},
		"many lines":          {"GET /a HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X-A: 1\r\n", 4000) + "\r\n", "431"},
		"a long name":         {"GET /a HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X", 20_000) + ": 1\r\n\r\n", "431"},
		"a long line, folded": {"GET /a HTTP/1.1\r\nHost: x\r\nX: a\r\n" + strings.Repeat(" b\r\n", 5000) + "\r\n", "431"},
		"a long URL":          {"GET /" + strings.Repeat("%20", 10_000) + " HTTP/1.1\r\nHost: x\r\n\r\n", "431"},
		"a long method":       {strings.Repeat("G", 20_000) + " / HTTP/1.1\r\nHost: x\r\n\r\n", "431"},
	}
	for place, first := range before {
		for name, head := range heads {
			for server, addr := range addrs {
				got := talk(t, addr, true, first, head.text)
				all := statuses(got)
				if len(all) == 0 || len(all) != strings.Count(first, "/before")+1 || all[len(all)-1] != head.want {
					t.Errorf("%s, %s, %s: %q; want %s: %.300q", server, place, name, all, head.want, got)
				}
				if head.want == "431" && !strings.HasSuffix(got, "refused\n") {
					t.Errorf("%s, %s, %s: not refused by the interface: %.300q", server, place, name, got)
				}
			}
		}
	}
}
