package httpserver

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const (
	aTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	aSpan  = "00f067aa0ba902b7"
)

// The access log names the trace of a request, and never text that a client made up.
func TestAccessLog_Trace(t *testing.T) {
	for header, want := range map[string]string{
		"00-" + aTrace + "-" + aSpan + "-01":                   aTrace + " " + aSpan,
		"00-" + aTrace + "-" + aSpan + "-00":                   aTrace + " " + aSpan,
		"cc-" + aTrace + "-" + aSpan + "-01-what-comes-later":  aTrace + " " + aSpan,
		"cc-" + aTrace + "-" + aSpan + "-01":                   aTrace + " " + aSpan,
		"":                                                     " ",
		"00-" + aTrace + "-" + aSpan + "-01-more":              " ",
		"cc-" + aTrace + "-" + aSpan + "-01x":                  " ",
		"ff-" + aTrace + "-" + aSpan + "-01":                   " ",
		"00-" + strings.ToUpper(aTrace) + "-" + aSpan + "-01":  " ",
		"00-" + strings.Repeat("0", 32) + "-" + aSpan + "-01":  " ",
		"00-" + aTrace + "-" + strings.Repeat("0", 16) + "-01": " ",
		"00-" + aTrace + "-" + aSpan:                           " ",
		"00_" + aTrace + "-" + aSpan + "-01":                   " ",
		"00-" + aTrace[1:] + `"` + "-" + aSpan + "-01":         " ",
		"00-" + aTrace[1:] + "\n" + "-" + aSpan + "-01":        " ",
		strings.Repeat("0", 10_000):                            " ",
		`00-` + aTrace + `-` + aSpan + `-01","level":"ERROR"}`: " ",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		if header != "" {
			r.Header.Set("Traceparent", header)
		}
		for _, text := range []bool{false, true} {
			var out bytes.Buffer
			NewAccessLog(&out, text).Observe(r, RequestInfo{RequestID: "req_1", Began: time.Unix(0, 0)})
			if text {
				if got := strings.Contains(out.String(), ` trace_id="`+aTrace+`" span_id="`+aSpan+`"`); got != (want != " ") {
					t.Errorf("%.80q: %s", header, out.String())
				}
				continue
			}
			var line map[string]any
			if err := json.Unmarshal(out.Bytes(), &line); err != nil {
				t.Fatalf("%.80q: %v in %s", header, err, out.String())
			}
			trace, _ := line["trace_id"].(string)
			span, _ := line["span_id"].(string)
			if got := trace + " " + span; got != want {
				t.Errorf("%.80q: %q; want %q", header, got, want)
			}
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header["Traceparent"] = []string{"00-" + aTrace + "-" + aSpan + "-01", "00-" + aTrace + "-" + aSpan + "-01"}
	if trace, span := traceOf(r); trace != "" || span != "" {
		t.Errorf("two headers: %q, %q", trace, span)
	}
}
