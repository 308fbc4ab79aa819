package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/metrics"
)

// scrape is what Prometheus is shown.
func scrape(t *testing.T, set *metrics.Set) string {
	t.Helper()
	w := httptest.NewRecorder()
	set.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func want(t *testing.T, set *metrics.Set, lines ...string) {
	t.Helper()
	shown := scrape(t, set)
	for _, line := range lines {
		if !strings.Contains(shown, "\n"+line+"\n") {
			t.Errorf("there is no %s", line)
		}
	}
}

// Figures are read when they are asked for, and those of one name stand side by side.
func TestFigures(t *testing.T) {
	set, waiting := metrics.New(), 1.0
	set.Gauge("waiting", "Those who wait.", nil, func() float64 { return waiting })
	set.Gauge("rooms", "Rooms.", metrics.Labels{"state": "free"}, func() float64 { return 3 })
	set.Gauge("rooms", "Rooms.", metrics.Labels{"state": "taken"}, func() float64 { return 4 })
	set.Counter("guests_total", "Guests.", nil, func() float64 { return 7 })
	want(t, set, "waiting 1", `rooms{state="free"} 3`, `rooms{state="taken"} 4`, "# TYPE guests_total counter", "guests_total 7")
	waiting = 2
	want(t, set, "waiting 2")
}

// What never happened is shown as never: only then is its first time an increase.
func TestTimings(t *testing.T) {
	set := metrics.New()
	observe := set.Timings("work_seconds", "Work.", []string{"kind", "outcome"}, []string{"a", "good"}, []string{"a", "bad"})
	observe(300*time.Microsecond, "a", "good")
	observe(2*time.Second, "a", "good")
	want(t, set,
		`work_seconds_bucket{kind="a",outcome="good",le="0.0001"} 0`, `work_seconds_bucket{kind="a",outcome="good",le="0.0005"} 1`,
		`work_seconds_bucket{kind="a",outcome="good",le="1"} 1`, `work_seconds_bucket{kind="a",outcome="good",le="5"} 2`,
		`work_seconds_count{kind="a",outcome="good"} 2`, `work_seconds_count{kind="a",outcome="bad"} 0`)
}

// A client that makes up methods and paths makes no series of its own.
func TestObserve_LabelsAreOurs(t *testing.T) {
	set := metrics.New()
	for _, method := range []string{"GET", "BREW", "WHEN"} {
		r := httptest.NewRequest(method, "/made/up/"+method, nil)
		set.Observe(r, httpserver.RequestInfo{Status: http.StatusNotFound, Took: time.Millisecond})
	}
	want(t, set,
		`beacon_http_requests_total{method="GET",route="none",status="404"} 1`,
		`beacon_http_requests_total{method="other",route="none",status="404"} 2`,
		`beacon_http_request_duration_seconds_count{route="none"} 3`)
	if shown := scrape(t, set); strings.Contains(shown, "made") || strings.Contains(shown, "BREW") {
		t.Error("text of a client's is a label")
	}
}
