//go:build linux

package torture_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// yearHotspot is an honest hotspot: a device, and people who look after it.
type yearHotspot struct {
	deeds
	year   *year
	random *rand.Rand
	number int
	user   *yearUser

	name, id, key, mac string
	registered         int64 // the day
	lat                float64
	verified, linked   bool
	gone               bool
	beginsLater        bool
	notBefore          harness.Minute // nobody does anything with it, until its times are right (D114)

	habit       habit // how its device counts
	epoch       int
	absurd      bool           // its next number is
	bootsUntil  harness.Minute // it boots before each heartbeat
	boot        int
	seq         uint64
	bytes       uint64 // since the boot
	hourly      uint64 // what it carries in an hour
	quality     int    // how fast its line is: 0, 1 or 2
	phase       harness.Minute
	sleeps      bool           // it is switched off while closed
	silentUntil harness.Minute // it cannot be heard
	last        harness.Minute // when the counter was last moved on
	next        harness.Minute // when the device wants to beat
	testsAt     []harness.Minute
	later       []laterReport // reports that are still on their way
	url         *url.URL
	header      http.Header

	notes map[int64][]string // what happened on each day
}

// heartbeatReport is what a heartbeat says.
type heartbeatReport struct {
	boot  string
	epoch int
	seq   uint64
	bytes uint64
	test  *speedTest
	heard bool // it was acknowledged before: a repetition changes nothing
}

type laterReport struct {
	at     harness.Minute
	report *heartbeatReport
}

func (h *yearHotspot) note(m harness.Minute, format string, args ...any) {
	at := time.Unix(int64(m)*60, 0).UTC()
	h.notes[dayOf(m)] = append(h.notes[dayOf(m)], at.Format("15:04 ")+fmt.Sprintf(format, args...))
}

func (h *yearHotspot) chance(p float64) bool { return h.random.Float64() < p*h.year.eventful }

// isThere reports whether the hotspot was registered by the end of a day.
func (h *yearHotspot) isThere(day int64) bool { return h.id != "" && h.registered <= day }

// begins and ends note that the hotspot is in service. A minute of which a part is in
// service counts (D58). While the servers' clock is ahead, it begins when the clock is set
// right (D114).
func (h *yearHotspot) begins(m harness.Minute) {
	switch {
	case !h.verified || !h.linked:
	case !h.year.service.right():
		h.beginsLater = true
	default:
		h.service = append(h.service, minuteSpan{m, never})
	}
}

func (h *yearHotspot) clockRight(m harness.Minute) {
	h.deeds.clockRight(m) // what was carried before is no part of the service that begins
	if h.beginsLater {
		h.beginsLater, h.notBefore = false, m+30
		h.begins(m)
	}
}

func (h *yearHotspot) ends(m harness.Minute) {
	h.beginsLater = false
	if n := len(h.service); n > 0 && h.service[n-1].to == never {
		h.service[n-1].to = m
	}
}

// reboot starts all counters again.
func (h *yearHotspot) reboot(m harness.Minute) {
	h.boot++
	h.epoch, h.seq, h.bytes, h.last = 0, 0, 0, m
	h.note(m, "boot %d", h.boot)
}

func (h *yearHotspot) bootID() string { return fmt.Sprintf("%s-%d", h.mac, h.boot) }

// report moves the counter on and says what the device has to say.
func (h *yearHotspot) report(m harness.Minute) *heartbeatReport {
	if m < h.bootsUntil {
		h.later = nil
		h.reboot(m)
		h.last-- // it carries something
	}
	h.seq++
	if m > h.last && h.isOpen(m) {
		h.bytes += h.hourly * uint64(min(m-h.last, 120)) / 60 * uint64(50+h.random.IntN(100)) / 100
	}
	h.last = m
	r := &heartbeatReport{boot: h.bootID(), epoch: h.epoch, seq: h.seq, bytes: h.bytes}
	if len(h.testsAt) > 0 && h.testsAt[0] <= m && m%minutesADay < minutesADay-10 && h.year.service.ahead.Load() == 0 {
		h.testsAt = h.testsAt[1:]
		r.test = &speedTest{
			down: []int{20, 70, 150}[h.quality] + h.random.IntN(20), up: []int{3, 7, 20}[h.quality], latency: []int{90, 60, 20}[h.quality],
		}
	}
	return r
}

// device does what the device wants to do in a minute, and returns what it sends.
func (h *yearHotspot) device(m harness.Minute) (send []*heartbeatReport) {
	if !h.linked {
		return nil
	}
	if m < h.silentUntil {
		return nil
	}
	for len(h.later) > 0 && h.later[0].at <= m {
		send = append(send, h.later[0].report)
		h.later = h.later[1:]
	}
	if m < h.next {
		return send
	}
	h.next = m + 1
	for (h.next+h.phase)%4 != 0 {
		h.next++
	}
	if h.sleeps && !h.isOpen(m) {
		if !h.isOpen(m - 1) {
			return send
		}
		h.next = m + 1
		for limit := m + 3*minutesADay; !h.isOpen(h.next) && h.next < limit; h.next++ {
		}
		h.reboot(h.next)
		return send
	}
	r := h.report(m)
	if h.absurd {
		h.absurd = false
		absurd := *r
		absurd.seq, absurd.test = absurdSeq, nil
		send = append(send, &absurd)
	}
	switch p := h.random.Float64(); {
	case p < 0.004: // it is lost
		return send
	case p < 0.008: // it arrives, but its response does not
		h.later = append(h.later, laterReport{m + 1, r})
	case p < 0.012: // it takes long, and others overtake it
		h.later = append(h.later, laterReport{m + 1 + harness.Minute(h.random.IntN(30)), r})
		return send
	case p < 0.03: // the device is early or late with the next
		h.next = m + 1 + harness.Minute(h.random.IntN(5))
	case p < 0.035: // twice at once
		send = append(send, r)
	}
	return append(send, r)
}

// beat sends a report to a server. It reports whether it was acknowledged.
func (h *yearHotspot) beat(server *yearServer, r *heartbeatReport) bool {
	var body bytes.Buffer
	rx, tx := r.bytes/3, r.bytes-r.bytes/3
	if h.habit == wraps {
		rx, tx = rx%(1<<32), tx%(1<<32)
	}
	fmt.Fprintf(&body, `{"boot_id":%q,"seq":%d,"clients":%d,"rx_bytes":%d,"tx_bytes":%d,"rssi_dbm":-60`, r.boot, r.seq, r.seq%7, rx, tx)
	switch {
	case h.habit == wraps:
		body.WriteString(`,"counter_bits":32`)
	case r.epoch > 0:
		fmt.Fprintf(&body, `,"counter_epoch":"%d"`, r.epoch)
	}
	if r.test != nil {
		fmt.Fprintf(&body, `,"speedtest":{"down_mbps":%d,"up_mbps":%d,"latency_ms":%d}`, r.test.down, r.test.up, r.test.latency)
	}
	body.WriteByte('}')
	w := yearResponse{header: http.Header{}}
	server.handler.ServeHTTP(&w, &http.Request{
		Method: http.MethodPost, URL: h.url, Header: h.header, Host: "beacon", RemoteAddr: "192.0.2.1:1", RequestURI: h.url.Path,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(body.Len()), Body: io.NopCloser(&body),
	})
	if want := r.status(); w.status != want {
		h.year.t.Errorf("a heartbeat of %s got %d %s; want %d", h.name, w.status, w.body.Bytes(), want)
	}
	return w.status == http.StatusOK
}

// yearResponse keeps a response.
type yearResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *yearResponse) Header() http.Header { return w.header }

func (w *yearResponse) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *yearResponse) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// SetWriteDeadline and Flush are for responses in several pieces.
func (w *yearResponse) SetWriteDeadline(time.Time) error { return nil }

func (w *yearResponse) Flush() {}
