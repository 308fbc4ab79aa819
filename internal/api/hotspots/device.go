package hotspots

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/registry"
)

func DecodeVerification(r *http.Request, o *edge.Object) (registry.Verification, error) {
	in := registry.Verification{Hotspot: beacon.HotspotID(r.PathValue("id"))}
	in.Form = beacon.VerificationForm{
		Lat: o.Number("lat"), Lng: o.Number("lng"), AccuracyM: o.Number("accuracy_m"), Method: o.Text("method"),
		Type: o.Text("type"), SpeedTest: edge.Inner(o, "speedtest", speedTest), Moved: o.Flag("moved"),
		VisitedAt: edge.ReadTime(o, "visited_at"), Note: o.Text("note"),
	}
	return in, o.Finish(func() error {
		_, err := in.Form.Validate()
		return err
	})
}

func decodeWithdrawal(r *http.Request, q *edge.Query) registry.Withdrawal {
	in := registry.Withdrawal{Hotspot: beacon.HotspotID(r.PathValue("id"))}
	if text, ok := q.Get("reason"); ok {
		reason, err := beacon.CleanReason(text)
		q.Faults.Check("reason", err)
		in.Reason = reason
	}
	return in
}

func encodeLinkCode(_ http.Header, made registry.LinkCode) edge.Payload {
	return edge.Payload{Data: client.LinkCode{Code: made.Code, ExpiresAt: made.ExpiresAt}}
}

// link issues a device its key (decision X2). The device has no key yet, so attempts
// are counted by address, before the body is read.
func (a *API) link(w http.ResponseWriter, r *http.Request) {
	w.Header()["Cache-Control"] = edge.NoStore
	err := a.Limits.SpendLinkTry(w.Header(), r, time.Now())
	if err == nil {
		var unknown edge.Ignored
		decode := func(w http.ResponseWriter, r *http.Request) (in registry.Link, err error) {
			in, unknown, err = DecodeLink(w, r)
			a.fieldsIgnored.Add(int64(unknown.Count))
			return in, err
		}
		verb := func(ctx context.Context, p beacon.Principal, in registry.Link) (registry.Linked, error) {
			in.Once = p.Once
			return a.registry.Link(ctx, in)
		}
		encode := func(_ http.Header, done registry.Linked) edge.Payload { return encodeLinked(done, unknown.Names) }
		err = edge.ServeOnce(a.Edge, http.StatusOK, decode, verb, encode, byDevice)(w, r, beacon.Principal{})
	}
	if err != nil {
		a.Fail(w, r, err)
	}
}

func DecodeLink(w http.ResponseWriter, r *http.Request) (in registry.Link, unknown edge.Ignored, err error) {
	o, err := edge.ReadDeviceBody(w, r)
	if err != nil {
		return in, unknown, err
	}
	form := beacon.LinkForm{Code: o.Text("code"), MAC: o.Text("mac_address"), Agent: edge.Inner(o, "agent", readAgent)}
	err = o.Conclude(form.Validate)
	return registry.Link{Code: form.Code.V, MAC: form.MAC.V, Agent: beacon.ReportOf(form.Agent), Request: httpserver.RequestID(w)}, *o.Ignored, err
}

func encodeLinked(done registry.Linked, unknown []string) edge.Payload {
	return edge.Payload{Data: showLinked(done, unknown)}
}

func showLinked(done registry.Linked, unknown []string) client.Linked {
	return client.Linked{
		HotspotID: string(done.Hotspot.ID), DeviceKey: done.Key, LinkedAt: done.Hotspot.Device.LinkedAt,
		HeartbeatPath: edge.BeatPrefix + string(done.Hotspot.ID) + edge.BeatSuffix, NextInS: beacon.HeartbeatInterval,
		Accepts: accepted, Ignored: unknown,
	}
}

// byDevice is the sender of a code, which has no API key. The response is sealed with the
// code and the Idempotency-Key, so of the latter only a hash is kept; and not for longer
// than a code can be used (decision D115).
func byDevice(_ *http.Request, _ beacon.Principal, in registry.Link, key string) (*beacon.Once, time.Duration) {
	code, _ := beacon.CanonicalLinkCode(in.Code)
	owner, name := sha256.Sum256([]byte(code)), sha256.Sum256([]byte(key))
	return &beacon.Once{
		Owner: "code_" + hex.EncodeToString(owner[:]), Key: hex.EncodeToString(name[:]), Secret: code + "\n" + key,
	}, registry.LinkCodeLasts
}
