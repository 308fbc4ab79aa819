package api

import (
	"context"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/registry"
)

func decodeVerification(r *http.Request, o *object) (registry.Verification, error) {
	in := registry.Verification{Hotspot: beacon.HotspotID(r.PathValue("id"))}
	in.Form = beacon.VerificationForm{
		Lat: o.number("lat"), Lng: o.number("lng"), AccuracyM: o.number("accuracy_m"), Method: o.text("method"),
		Type: o.text("type"), SpeedTest: inner(o, "speedtest", speedTest),
	}
	return in, o.settle(func() error {
		_, err := in.Form.Validate()
		return err
	})
}

type linkCode struct {
	Code      string `json:"code"`
	ExpiresAt stamp  `json:"expires_at"`
}

func decodeWithdrawal(r *http.Request, q *query) registry.Withdrawal {
	in := registry.Withdrawal{Hotspot: beacon.HotspotID(r.PathValue("id"))}
	if text, ok := q.get("reason"); ok {
		reason, err := beacon.CleanReason(text)
		q.faults.Check("reason", err)
		in.Reason = reason
	}
	return in
}

func encodeLinkCode(_ http.Header, made registry.LinkCode) payload {
	return payload{Data: linkCode{made.Code, stamp(made.ExpiresAt)}}
}

func idOfCode(registry.LinkCode) string { return "a link code" }

// link issues a device its key (decision X2). The device has no key yet, so attempts
// are counted by address, before the body is read.
func (a *API) link(w http.ResponseWriter, r *http.Request) {
	w.Header()["Cache-Control"] = noStore
	err := a.limits.spendLinkTry(w.Header(), r, time.Now())
	if err == nil {
		var unknown ignored
		decode := func(w http.ResponseWriter, r *http.Request) (in registry.Link, err error) {
			in, unknown, err = decodeLink(w, r)
			a.fieldsIgnored.Add(int64(unknown.count))
			return in, err
		}
		verb := func(ctx context.Context, p beacon.Principal, in registry.Link) (registry.Linked, error) {
			in.Once = p.Once
			return a.registry.Link(ctx, in)
		}
		encode := func(_ http.Header, done registry.Linked) payload { return encodeLinked(done, unknown.names) }
		err = serveOnce(a, http.StatusOK, decode, verb, encode, byDevice, idOfLinked)(w, r, beacon.Principal{})
	}
	if err != nil {
		a.fail(w, r, err)
	}
}

func decodeLink(w http.ResponseWriter, r *http.Request) (in registry.Link, unknown ignored, err error) {
	o, err := readDeviceBody(w, r)
	if err != nil {
		return in, unknown, err
	}
	form := beacon.LinkForm{Code: o.text("code"), MAC: o.text("mac_address"), Agent: inner(o, "agent", readAgent)}
	err = o.conclude(form.Validate)
	return registry.Link{Code: form.Code.V, MAC: form.MAC.V, Agent: beacon.ReportOf(form.Agent), Request: httpserver.RequestID(w)}, *o.ignored, err
}

type linked struct {
	HotspotID     beacon.HotspotID `json:"hotspot_id"`
	DeviceKey     string           `json:"device_key"`
	LinkedAt      stamp            `json:"linked_at"`
	HeartbeatPath string           `json:"heartbeat_path"`
	NextInS       int              `json:"next_in_s"`
	Accepts       jsontext.Value   `json:"accepts"`
	Ignored       []string         `json:"ignored,omitempty"`
}

func encodeLinked(done registry.Linked, unknown []string) payload {
	return payload{Data: linked{
		HotspotID: done.Hotspot.ID, DeviceKey: done.Key, LinkedAt: stamp(done.Hotspot.Device.LinkedAt),
		HeartbeatPath: beatPrefix + string(done.Hotspot.ID) + beatSuffix, NextInS: beacon.HeartbeatInterval,
		Accepts: jsontext.Value(accepts), Ignored: unknown,
	}}
}

func idOfLinked(done registry.Linked) string { return "the device key of " + string(done.Hotspot.ID) }
