package httpserver

import (
	"slices"
	"strings"
	"testing"
)

// Requests that net/http would refuse as text reach the handler, and the connection goes on.
func TestServe_Amends(t *testing.T) {
	addr, seen := startRecording(t)
	for request, want := range map[string]string{
		inLines("GET /v1/% HTTP/1.1", "Host: x"):                                                      "GET /v1/%",
		inLines("GET /% HTTP/1.1", "Host: x"):                                                         "GET /%",
		inLines("GET /a%zzb HTTP/1.1", "Host: x"):                                                     "GET /a%zzb",
		inLines("GET /a%4 HTTP/1.1", "Host: x"):                                                       "GET /a%4",
		inLines("GET /%%41%%4%4%A HTTP/1.1", "Host: x"):                                               "GET /%A%%4%4%A",
		inLines("GET /%25%2%41?% HTTP/1.1", "Host: x"):                                                "GET /%%2A",
		inLines("OPTIONS /%? HTTP/1.1", "Host: x"):                                                    "OPTIONS /%",
		inLines("PUT /% HTTP/1.1", "Host: x", "Content-Length: 3") + "%%%":                            "PUT /% %%%",
		inLines("GET /a HTTP/1.1", "Host: x", "Expect: 200-ok"):                                       "GET /a",
		inLines("GET /b HTTP/1.1", "expect:", "Host: x"):                                              "GET /b",
		inLines("GET /c HTTP/1.1", "Host: x", "EXPECT: "+strings.Repeat("x", 100), "X-A: %"):          "GET /c",
		inLines("PUT /d HTTP/1.1", "Host: x", "Expect: 100-CONTINUE", "Content-Length: 3") + "abc":    "PUT /d abc",
		inLines("PUT /e HTTP/1.1", "Host: x", "Expect: a, 100-continue", "Content-Length: 3") + "abc": "PUT /e abc",
	} {
		for _, packets := range [][]string{{request + request}, strings.Split(request, "")} {
			got := talk(t, addr, true, packets...)
			handled := seen()
			for _, one := range handled {
				if one != want {
					t.Errorf("%q: the handler saw %q; want %q", request, handled, want)
				}
			}
			answers := slices.DeleteFunc(statuses(got), func(status string) bool { return status == "100" })
			if len(packets) == 1 && len(handled) != 2 || len(handled) == 0 || slices.ContainsFunc(answers, func(status string) bool { return status != "200" }) {
				t.Errorf("%q: the handler saw %q; the client was answered %q", request, handled, got)
			}
		}
	}
}

// What ends where more is needed is still answered, or is none of our requests.
func TestServe_AmendsNoTorso(t *testing.T) {
	addr, seen := startRecording(t)
	for _, torso := range []string{"GET /%", "GET /%4", "GET / HTTP/1.1\r\nHost: x\r\nExpect: 1", "GET /%\r\n", "GET /%\n"} {
		if talk(t, addr, true, torso); len(seen()) != 0 {
			t.Errorf("%q was taken for a request", torso)
		}
	}
}
