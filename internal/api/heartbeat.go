package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/registry"
)

// Heartbeats are most of the traffic of a live network: a million devices send 16,700 a
// second. So their path bypasses the mux, their usual form bypasses the general parser,
// and buffers are pooled.

const (
	heartbeatPattern = "POST /v1/hotspots/{id}/heartbeats"
	beatPrefix       = Base + "/hotspots/"
	beatSuffix       = "/heartbeats"
	hotspotIDLength  = len(beacon.HotspotPrefix) + id.Length
)

// heartbeatPath reports whether a request is a heartbeat, and returns the hotspot. A
// request it does not recognize may still be one, in an unusual spelling: the mux
// decides that.
func heartbeatPath(r *http.Request) (hotspot beacon.HotspotID, ok bool) {
	path := r.URL.Path
	if len(path) != len(beatPrefix)+hotspotIDLength+len(beatSuffix) || r.Method != http.MethodPost || r.URL.RawPath != "" ||
		path[:len(beatPrefix)] != beatPrefix || path[len(beatPrefix)+hotspotIDLength:] != beatSuffix {
		return "", false
	}
	name := path[len(beatPrefix) : len(beatPrefix)+hotspotIDLength]
	return beacon.HotspotID(name), name[:len(beacon.HotspotPrefix)] == beacon.HotspotPrefix && strings.IndexByte(name, '/') < 0
}

// IsHeartbeat reports whether a request is a heartbeat. Heartbeats have priority when
// the machine is overloaded.
func IsHeartbeat(r *http.Request) bool {
	if r.Pattern == heartbeatPattern { // ServeHTTP has recognized it
		return true
	}
	_, ok := heartbeatPath(r)
	return ok
}

// heartbeat is beat for requests that come through the mux.
func (a *API) heartbeat(w http.ResponseWriter, r *http.Request) {
	a.beat(w, r, beacon.HotspotID(r.PathValue("id")))
}

// beat receives a heartbeat (decision X3) and responds once it is durable.
func (a *API) beat(w http.ResponseWriter, r *http.Request, hotspot beacon.HotspotID) {
	w.Header()["Cache-Control"] = noStore
	room := a.beats.Get().(*beatRoom)
	defer a.beats.Put(room)
	taken, err := a.takeBeat(w, r, hotspot, room)
	if err != nil {
		a.failBeat(w, r, err)
		return
	}
	if room.ignored.count > 0 {
		a.fieldsIgnored.Add(int64(room.ignored.count))
	}
	room.response = appendBeat(room.response[:0], taken, room.ignored.names, a.meta(w))
	w.Header()["Content-Length"] = decimal(len(room.response))
	httpserver.WriteBody(w, http.StatusOK, room.response)
}

// takeBeat runs the checks of decision N3 and stores the heartbeat.
func (a *API) takeBeat(
	w http.ResponseWriter, r *http.Request, id beacon.HotspotID, room *beatRoom,
) (taken beacon.Taken, err error) {
	now := time.Now() // machine clock: limits count real time
	hotspot, err := a.device(w, r, id, now)
	if err != nil {
		return taken, err
	}
	if err := a.limits.spendDevice(w.Header(), id, now); err != nil {
		return taken, err
	}
	beat, err := room.read(w, r)
	if err != nil {
		return taken, err
	}
	taken, err = a.telemetry.Take(r.Context(), hotspot, beat)
	if err == nil && taken.Why == beacon.Counted {
		a.checkins.Heard(hotspot, Address(r))
	}
	if err == nil && room.reports {
		a.report(w, r, id, room)
	}
	return taken, err
}

// report stores what a device says about itself. The heartbeat counts in any case: if
// this cannot be stored, or not so soon again, it is ignored (decision D122).
func (a *API) report(w http.ResponseWriter, r *http.Request, hotspot beacon.HotspotID, room *beatRoom) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	stored, err := a.registry.Report(ctx, registry.Report{Hotspot: hotspot, Agent: room.agent, Request: httpserver.RequestID(w)})
	if !stored {
		room.ignored.add("agent")
	}
	if err == nil {
		return
	}
	if more, ok := a.complains.pass(time.Now()); ok {
		a.log.Error("the report of a device cannot be stored", "request_id", httpserver.RequestID(w), "err", err, "refused_since_last_line", more)
	}
}

func appendBeat(out []byte, taken beacon.Taken, ignored []string, m meta) []byte {
	out = append(out, `{"data":{"status":"`...)
	out = append(out, taken.Status...)
	out = append(out, `","next_in_s":`+nextBeat...)
	if taken.Why != beacon.Counted {
		out = append(out, `,"counted":false,"reason":"`...)
		out = append(out, taken.Why.String()...)
		out = append(out, '"')
	}
	if taken.Fell {
		out = append(out, `,"warning":"counters_fell"`...)
	}
	out = append(out, `,"accepts":`+accepts...)
	if len(ignored) > 0 {
		out = appendIgnored(append(out, `,"ignored":[`...), ignored)
	}
	out = append(out, '}')
	return appendMeta(out, m)
}

// accepts has the fields of a heartbeat, each with the version of its meaning. A device
// sends no others (decision D120).
const accepts = `{"agent":1,"boot_id":1,"clients":1,"counter_bits":1,"counter_epoch":1,"rssi_dbm":1,"rx_bytes":1,"seq":1,"speedtest":1,"tx_bytes":1}`

func appendIgnored(out []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendText(out, name)
	}
	return append(out, ']')
}

// FieldsIgnored returns how many fields of devices were ignored since startup.
func (a *API) FieldsIgnored() int64 { return a.fieldsIgnored.Load() }

// nextBeat is beacon.HeartbeatInterval in decimal.
const nextBeat = "60"

// device returns the hotspot whose device sent the request. It must be the hotspot in
// the path.
func (a *API) device(w http.ResponseWriter, r *http.Request, id beacon.HotspotID, now time.Time) (*fleet.Hotspot, error) {
	key, _ := bearer(r)
	presented, ok := access.Split(key)
	if !ok || !presented.IsOf(id) {
		return nil, a.refuseCaller(w, r, now)
	}
	hash := presented.Hash()
	if hotspot, ok := a.fleet.Find(id); ok && hotspot.Opens(hash) {
		return hotspot, nil
	}
	// Another server may have just linked the device.
	if err := a.limits.checkFailures(w.Header(), r, now); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if err := a.registry.Device(ctx, id); err != nil && kindOf(err) != beacon.NotFound {
		return nil, err
	}
	if hotspot, ok := a.fleet.Find(id); ok && hotspot.Opens(hash) {
		return hotspot, nil
	}
	return nil, a.unauthorized(w, r, now)
}

var errNotThisDevice = &beacon.Error{Kind: beacon.Forbidden, Message: "only the device of a hotspot may send its heartbeats, with the key it got when it was linked"}

// refuseCaller returns the error for a caller that is not the device.
func (a *API) refuseCaller(w http.ResponseWriter, r *http.Request, now time.Time) error {
	if _, err := a.admit(w, r, now); err != nil && err != errDevice {
		return err
	}
	return errNotThisDevice
}

// failBeat responds with an error. If no heartbeat can be stored, it does not log a line
// for each.
func (a *API) failBeat(w http.ResponseWriter, r *http.Request, err error) {
	e := classify(err)
	if e.Kind != beacon.Overloaded || r.Context().Err() != nil {
		a.fail(w, r, err)
		return
	}
	if more, ok := a.complains.pass(time.Now()); ok {
		a.log.Error("heartbeats cannot be taken", "request_id", httpserver.RequestID(w), "err", err, "refused_since_last_line", more)
	}
	a.answerFailure(w, r, e)
}

// throttle lets one event per second pass and counts the others.
type throttle struct {
	last    atomic.Int64 // Unix second of the last event that passed
	skipped atomic.Int64
}

func (t *throttle) pass(now time.Time) (skipped int64, ok bool) {
	last := t.last.Load()
	if second := now.Unix(); second == last || !t.last.CompareAndSwap(last, second) {
		t.skipped.Add(1)
		return 0, false
	}
	return t.skipped.Swap(0), true
}

// beatRoom is the memory for reading one heartbeat and responding to it.
type beatRoom struct {
	body     [usualBeat]byte
	ignored  ignored // of the heartbeat that was read last
	reports  bool    // whether that has a report in agent
	agent    beacon.Agent
	response []byte
}

// usualBeat exceeds the length of any heartbeat body, unless it is padded with spaces.
const usualBeat = 1024

type beatPool struct{ sync.Pool }

func newBeatPool() beatPool {
	return beatPool{sync.Pool{New: func() any { return new(beatRoom) }}}
}

// read reads a heartbeat. Anything unusual, valid or not, is left to the general
// parser, so that errors are reported as everywhere else (decision N7).
func (room *beatRoom) read(w http.ResponseWriter, r *http.Request) (beacon.Heartbeat, error) {
	room.ignored, room.reports = ignored{}, false
	if r.ContentLength <= 0 || r.ContentLength > usualBeat || !isPlainJSON(r.Header) {
		return room.decode(w, r)
	}
	body := room.body[:r.ContentLength]
	n, err := io.ReadFull(r.Body, body)
	if err == nil {
		var form beacon.HeartbeatForm
		if scanBeat(body, &form) {
			if beat, err := form.Validate(); err == nil {
				return beat, nil
			}
		}
	}
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:n]), ended{err}))
	return room.decode(w, r)
}

// isPlainJSON reports whether the headers of a body are the usual ones.
func isPlainJSON(h http.Header) bool {
	types := h["Content-Type"]
	return len(types) == 1 && (types[0] == "application/json" || types[0] == "application/json; charset=utf-8") &&
		len(h["Content-Encoding"]) == 0
}

// ended is the end of a body: io.EOF, or an error.
type ended struct{ err error }

func (e ended) Read([]byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	return 0, io.EOF
}

func speedTest(o *object) beacon.SpeedTestForm {
	return beacon.SpeedTestForm{DownMbps: o.number("down_mbps"), UpMbps: o.number("up_mbps"), LatencyMs: o.number("latency_ms")}
}

// decode reads a heartbeat in any valid form.
func (room *beatRoom) decode(w http.ResponseWriter, r *http.Request) (beacon.Heartbeat, error) {
	o, err := readDeviceBody(w, r)
	if err != nil {
		return beacon.Heartbeat{}, err
	}
	form := beacon.HeartbeatForm{
		BootID:       o.text("boot_id"),
		Seq:          o.number("seq"),
		Clients:      o.number("clients"),
		RxBytes:      o.number("rx_bytes"),
		TxBytes:      o.number("tx_bytes"),
		CounterEpoch: o.text("counter_epoch"),
		CounterBits:  o.number("counter_bits"),
		RSSI:         o.number("rssi_dbm"),
		SpeedTest:    inner(o, "speedtest", speedTest),
		Agent:        inner(o, "agent", readAgent),
	}
	err = o.settle(func() error {
		_, err := form.Validate()
		return err
	})
	if err != nil {
		return beacon.Heartbeat{}, err
	}
	room.ignored, room.agent = *o.ignored, beacon.ReportOf(form.Agent)
	room.reports = room.agent != (beacon.Agent{})
	return form.Validate()
}

func readAgent(o *object) beacon.AgentForm {
	return beacon.AgentForm{
		Version: o.text("version"), Model: o.text("model"), Firmware: o.text("firmware"), Kernel: o.text("kernel"), BSSID: o.text("bssid"),
		Channel: o.number("channel"), Radios: o.number("radios"),
	}
}
