package hotspots

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/registry"
)

// enrol issues a device its key in exchange for an enrolment key.
func (a *API) enrol(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	var unknown edge.Ignored
	decode := func(w http.ResponseWriter, r *http.Request) (form beacon.EnrolForm, err error) {
		form, unknown, err = DecodeEnrolment(w, r)
		a.fieldsIgnored.Add(int64(unknown.Count))
		return form, err
	}
	encode := func(_ http.Header, done registry.Linked) edge.Payload {
		return edge.Payload{Data: client.Enrolled{Linked: showLinked(done, unknown.Names), Registered: done.Registered}}
	}
	return edge.ServeOnce(a.Edge, http.StatusOK, decode, a.registry.Enrol, encode, byEnrolled)(w, r, p)
}

func DecodeEnrolment(w http.ResponseWriter, r *http.Request) (form beacon.EnrolForm, unknown edge.Ignored, err error) {
	o, err := edge.ReadDeviceBody(w, r)
	if err != nil {
		return form, unknown, err
	}
	form = beacon.EnrolForm{
		MAC: o.Text("mac_address"), Agent: edge.Inner(o, "agent", readAgent),
		Name: o.Text("name"), SSID: o.Text("ssid"), Type: o.Text("type"), Location: edge.Inner(o, "location", readPoint),
	}
	return form, *o.Ignored, o.Conclude(form.Validate)
}

func readPoint(o *edge.Object) beacon.PointForm {
	return beacon.PointForm{Latitude: o.Number("latitude"), Longitude: o.Number("longitude")}
}

// byEnrolled is the sender of an enrolment. Many devices have the same key, so the response is
// sealed with the Idempotency-Key too, of which only a hash is kept, as in byDevice.
func byEnrolled(r *http.Request, p beacon.Principal, form beacon.EnrolForm, key string) (*beacon.Once, time.Duration) {
	secret, _ := edge.Bearer(r)
	owner := sha256.Sum256([]byte(string(p.Key) + "\n" + beacon.MAC(form.MAC.V).Canonical()))
	name := sha256.Sum256([]byte(key))
	return &beacon.Once{
		Owner: "device_" + hex.EncodeToString(owner[:]), Key: hex.EncodeToString(name[:]), Secret: secret + "\n" + key,
	}, registry.LinkCodeLasts
}
