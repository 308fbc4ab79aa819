// Package metrics counts what the process does, for Prometheus. It is the only
// package that knows the format; others hand it plain facts. Its one invariant:
// the number of series is bounded, since labels are routes, methods, statuses
// and other words of ours, and never text of a client's.
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

// Set is the metrics of one process.
type Set struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	series   sync.Map // seriesKey → *httpSeries: a look-up cheaper than the vectors'
}

type seriesKey struct {
	route, method string
	status        int
}

type httpSeries struct {
	count prometheus.Counter
	took  prometheus.Observer
}

// New makes an empty set with the figures of the Go runtime and the process.
func New() *Set {
	s := &Set{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "beacon_http_requests_total",
			Help: "Requests answered, by route, method and status.",
		}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "beacon_http_request_duration_seconds",
			Help:    "Time from a request's header being read to its answer being handed to the kernel, by route.",
			Buckets: []float64{25e-6, 100e-6, 500e-6, 2.5e-3, 10e-3, 50e-3, 250e-3, 1, 5},
		}, []string{"route"}),
	}
	s.registry.MustRegister(s.requests, s.duration,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// Labels tell the figures of one name apart: names and values, all words of ours.
type Labels = map[string]string

// Gauge shows a figure that is read whenever Prometheus asks. Labels may be nil.
func (s *Set) Gauge(name, help string, labels Labels, read func() float64) {
	s.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, read))
}

// Counter is Gauge for a figure that only grows while the process lives.
func (s *Set) Counter(name, help string, labels Labels, read func() float64) {
	s.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, read))
}

// Timings shows how long something takes; what it answers is to be called each
// time, and makes a series for each value of the labels when it is made known,
// so that the first trouble is an increase and no beginning.
func (s *Set) Timings(name, help string, labels []string, known ...[]string) func(took time.Duration, values ...string) {
	all := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: timingBuckets}, labels)
	for _, values := range known {
		all.WithLabelValues(values...)
	}
	s.registry.MustRegister(all)
	return func(took time.Duration, values ...string) { all.WithLabelValues(values...).Observe(took.Seconds()) }
}

// timingBuckets reach from a commit without a sync to one that fails by its deadline.
var timingBuckets = []float64{100e-6, 500e-6, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 1, 5}

// Observe counts one answer. It fits httpserver.Front.
func (s *Set) Observe(r *http.Request, e httpserver.Exchange) {
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
