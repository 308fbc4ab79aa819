package hotspots

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/fragments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/devices"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// Heartbeats are most of the traffic of a live network: a million devices send 16,700 a
// second. So their path bypasses the mux, their usual form bypasses the general parser,
// and buffers are pooled.

// heartbeat is Beat for requests that come through the mux.
func (a *API) heartbeat(w http.ResponseWriter, r *http.Request) {
	a.Beat(w, r, beacon.HotspotID(r.PathValue("id")))
}

// Beat receives a heartbeat (decision X3) and responds once it is durable.
func (a *API) Beat(w http.ResponseWriter, r *http.Request, hotspot beacon.HotspotID) {
	w.Header()["Cache-Control"] = edge.NoStore
	buffer := a.beats.Get().(*BeatBuffer)
	defer a.beats.Put(buffer)
	taken, err := a.takeBeat(w, r, hotspot, buffer)
	if err != nil {
		a.failBeat(w, r, err)
		return
	}
	if buffer.Ignored.Count > 0 {
		a.fieldsIgnored.Add(int64(buffer.Ignored.Count))
	}
	buffer.response = AppendBeat(buffer.response[:0], taken, buffer.Ignored.Names, a.Meta(w))
	w.Header()["Content-Length"] = edge.Decimal(len(buffer.response))
	httpserver.WriteBody(w, http.StatusOK, buffer.response)
}

// takeBeat runs the checks of decision N3 and stores the heartbeat.
func (a *API) takeBeat(
	w http.ResponseWriter, r *http.Request, id beacon.HotspotID, buffer *BeatBuffer,
) (taken beacon.Taken, err error) {
	now := time.Now() // machine clock: limits count real time
	hotspot, err := a.device(w, r, id, now)
	if err != nil {
		return taken, err
	}
	if err := a.Limits.SpendDevice(w.Header(), id, now); err != nil {
		return taken, err
	}
	if buffer.sent.Beat, err = buffer.Read(w, r); err != nil {
		return taken, err
	}
	buffer.sent.From, buffer.sent.Request, buffer.sent.Patience = edge.Address(r), httpserver.RequestID(w), a.Patience
	out, err := a.devices.Take(r.Context(), hotspot, &buffer.sent)
	if out.Dropped {
		buffer.Ignored.Add("agent")
	}
	if out.Err != nil {
		if more, ok := a.complains.pass(time.Now()); ok {
			a.Log.Error("the report of a device cannot be stored", "request_id", httpserver.RequestID(w), "err", out.Err, "refused_since_last_line", more)
		}
	}
	return out.Taken, err
}

func AppendBeat(out []byte, taken beacon.Taken, ignored []string, m client.Meta) []byte {
	out = append(out, `{"data":{"status":"`...)
	out = append(out, taken.Status...)
	out = strconv.AppendInt(append(out, `","next_in_s":`...), beacon.HeartbeatInterval, 10)
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
	return edge.AppendMeta(out, m)
}

// accepts has the fields of a heartbeat, each with the version of its meaning. A device
// sends no others (decision D120).
const accepts = `{"agent":1,"boot_id":1,"clients":1,"counter_bits":1,"counter_epoch":1,"rssi_dbm":1,"rx_bytes":1,"seq":1,"speedtest":1,"tx_bytes":1}`

// accepted is the same as a value.
var accepted = client.Accepts{Agent: 1, BootID: 1, Clients: 1, CounterBits: 1, CounterEpoch: 1, RSSIdBm: 1, RxBytes: 1, Seq: 1, Speedtest: 1, TxBytes: 1}

func appendIgnored(out []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = fragments.AppendText(out, name)
	}
	return append(out, ']')
}

// FieldsIgnored returns how many fields of devices were ignored since startup.
func (a *API) FieldsIgnored() int64 { return a.fieldsIgnored.Load() }

// device returns the hotspot whose device sent the request. It must be the hotspot in
// the path.
func (a *API) device(w http.ResponseWriter, r *http.Request, id beacon.HotspotID, now time.Time) (*fleet.Hotspot, error) {
	key, _ := edge.Bearer(r)
	presented, ok := access.Split(key)
	if !ok || !presented.IsOf(id) {
		return nil, a.refuseCaller(w, r, now)
	}
	hash := presented.Hash()
	if hotspot, ok := a.fleet.Find(id); ok && hotspot.Opens(hash) {
		return hotspot, nil
	}
	// Another server may have just linked the device.
	if err := a.Limits.CheckFailures(w.Header(), r, now); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Patience)
	defer cancel()
	if err := a.registry.Device(ctx, id); err != nil && edge.KindOf(err) != beacon.NotFound {
		return nil, err
	}
	if hotspot, ok := a.fleet.Find(id); ok && hotspot.Opens(hash) {
		return hotspot, nil
	}
	return nil, a.Unauthorized(w, r, now)
}

var errNotThisDevice = &beacon.Error{Kind: beacon.Forbidden, Message: "only the device of a hotspot may send its heartbeats, with the key it got when it was linked"}

// refuseCaller returns the error for a caller that is not the device.
func (a *API) refuseCaller(w http.ResponseWriter, r *http.Request, now time.Time) error {
	if _, err := a.Admit(w, r, now); err != nil && err != edge.ErrDevice {
		return err
	}
	return errNotThisDevice
}

// failBeat responds with an error. If no heartbeat can be stored, it does not log a line
// for each.
func (a *API) failBeat(w http.ResponseWriter, r *http.Request, err error) {
	e := edge.Classify(err)
	if e.Kind != beacon.Overloaded || r.Context().Err() != nil {
		a.Fail(w, r, err)
		return
	}
	if more, ok := a.complains.pass(time.Now()); ok {
		a.Log.Error("heartbeats cannot be taken", "request_id", httpserver.RequestID(w), "err", err, "refused_since_last_line", more)
	}
	a.AnswerFailure(w, r, e)
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

// BeatBuffer is the memory for reading one heartbeat and responding to it.
type BeatBuffer struct {
	body     [usualBeat]byte
	Ignored  edge.Ignored // of the heartbeat that was read last
	sent     devices.Sent
	response []byte
}

// usualBeat exceeds the length of any heartbeat body, unless it is padded with spaces.
const usualBeat = 1024

type beatPool struct{ sync.Pool }

func newBeatPool() beatPool {
	return beatPool{sync.Pool{New: func() any { return new(BeatBuffer) }}}
}

// Reports reports whether the heartbeat that was read last has a report of its device.
func (buffer *BeatBuffer) Reports() bool { return buffer.sent.Agent != (beacon.Agent{}) }

// Read reads a heartbeat. Anything unusual, valid or not, is left to the general
// parser, so that errors are reported as everywhere else (decision N7).
func (buffer *BeatBuffer) Read(w http.ResponseWriter, r *http.Request) (beacon.Heartbeat, error) {
	buffer.Ignored, buffer.sent = edge.Ignored{}, devices.Sent{}
	if r.ContentLength <= 0 || r.ContentLength > usualBeat || !isPlainJSON(r.Header) {
		return buffer.Decode(w, r)
	}
	body := buffer.body[:r.ContentLength]
	n, err := io.ReadFull(r.Body, body)
	if err == nil {
		var form beacon.HeartbeatForm
		if ScanBeat(body, &form) {
			if beat, err := form.Validate(); err == nil {
				return beat, nil
			}
		}
	}
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:n]), ended{err}))
	return buffer.Decode(w, r)
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

func speedTest(o *edge.Object) beacon.SpeedTestForm {
	return beacon.SpeedTestForm{DownMbps: o.Number("down_mbps"), UpMbps: o.Number("up_mbps"), LatencyMs: o.Number("latency_ms")}
}

// Decode reads a heartbeat in any valid form.
func (buffer *BeatBuffer) Decode(w http.ResponseWriter, r *http.Request) (beacon.Heartbeat, error) {
	o, err := edge.ReadDeviceBody(w, r)
	if err != nil {
		return beacon.Heartbeat{}, err
	}
	form := beacon.HeartbeatForm{
		BootID:       o.Text("boot_id"),
		Seq:          o.Number("seq"),
		Clients:      o.Number("clients"),
		RxBytes:      o.Number("rx_bytes"),
		TxBytes:      o.Number("tx_bytes"),
		CounterEpoch: o.Text("counter_epoch"),
		CounterBits:  o.Number("counter_bits"),
		RSSI:         o.Number("rssi_dbm"),
		SpeedTest:    edge.Inner(o, "speedtest", speedTest),
		Agent:        edge.Inner(o, "agent", readAgent),
	}
	err = o.Finish(func() error {
		_, err := form.Validate()
		return err
	})
	if err != nil {
		return beacon.Heartbeat{}, err
	}
	buffer.Ignored, buffer.sent.Agent = *o.Ignored, beacon.ReportOf(form.Agent)
	return form.Validate()
}

func readAgent(o *edge.Object) beacon.AgentForm {
	return beacon.AgentForm{
		Version: o.Text("version"), Model: o.Text("model"), Firmware: o.Text("firmware"), Kernel: o.Text("kernel"), BSSID: o.Text("bssid"),
		Channel: o.Number("channel"), Radios: o.Number("radios"),
	}
}
