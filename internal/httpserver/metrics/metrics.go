// Package metrics exports counters and timings of the process to Prometheus. It is the
// only package that knows the format; others pass it plain values. Its one invariant:
// the number of series is bounded, since labels are routes, methods, statuses and other
// words of ours, never text from a client.
package metrics

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// Set holds the metrics of one process.
type Set struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	series   sync.Map // seriesKey → *httpSeries: a cheaper lookup than the vectors'
}

type seriesKey struct {
	route, method string
	status        int
}

type httpSeries struct {
	count prometheus.Counter
	took  prometheus.Observer
}

// New returns a set with only the metrics of the Go runtime and the process.
func New() *Set {
	s := &Set{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "beacon_http_requests_total",
			Help: "Requests, by route, method and status.",
		}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "beacon_http_request_duration_seconds",
			Help:    "Time from reading a request's header to handing its response to the kernel, by route.",
			Buckets: []float64{25e-6, 100e-6, 500e-6, 2.5e-3, 10e-3, 50e-3, 250e-3, 1, 5},
		}, []string{"route"}),
	}
	s.registry.MustRegister(s.requests, s.duration,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// Labels distinguish metrics of the same name. Names and values are words of ours.
type Labels = map[string]string

// Gauge adds a metric that is read on every scrape. Labels may be nil.
func (s *Set) Gauge(name, help string, labels Labels, read func() float64) {
	s.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, read))
}

// Counter is Gauge for a value that only grows while the process lives.
func (s *Set) Counter(name, help string, labels Labels, read func() float64) {
	s.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, read))
}

// Timings adds a histogram of durations and returns a function that records one. It
// creates the series of the known label values immediately, so that the first problem
// shows as an increase, not as a new series.
func (s *Set) Timings(name, help string, labels []string, known ...[]string) func(took time.Duration, values ...string) {
	all := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: timingBuckets}, labels)
	for _, values := range known {
		all.WithLabelValues(values...)
	}
	s.registry.MustRegister(all)
	return func(took time.Duration, values ...string) { all.WithLabelValues(values...).Observe(took.Seconds()) }
}

// timingBuckets range from a commit without a sync to one that fails at its deadline.
var timingBuckets = []float64{100e-6, 500e-6, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 1, 5}

// Observe counts one response. It can be used as httpserver.Handler.Observe.
func (s *Set) Observe(r *http.Request, e httpserver.RequestInfo) {
	key := seriesKey{httpserver.Route(r), httpserver.Method(r), e.Status}
	found, ok := s.series.Load(key)
	if !ok {
		found, _ = s.series.LoadOrStore(key, &httpSeries{
			count: s.requests.WithLabelValues(key.route, key.method, strconv.Itoa(key.status)),
			took:  s.duration.WithLabelValues(key.route),
		})
	}
	series := found.(*httpSeries)
	series.count.Inc()
	series.took.Observe(e.Took.Seconds())
}

// Handler serves the set to Prometheus.
func (s *Set) Handler() http.Handler {
	return promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{})
}
