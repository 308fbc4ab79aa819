package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
)

const (
	// maxAdditions is the maximum number of simulated hotspots (decision X8).
	maxAdditions = 100
	// additionsARequest is how many additions cost as much as one request: a key's limit
	// is a limit on work.
	additionsARequest = 10
)

// whatIf asks how much of a box would be covered with additional hotspots.
type whatIf struct {
	box geo.Box
	add []fleet.Addition
}

type whatIfForm struct {
	bounds beacon.Opt[boundsForm]
	add    beacon.Opt[[]additionForm]
}

type additionForm struct{ Lat, Lng, RadiusM beacon.Opt[float64] }

func decodeWhatIf(w http.ResponseWriter, r *http.Request) (whatIf, error) {
	o, _, err := readBody(w, r)
	if err != nil {
		return whatIf{}, err
	}
	form := whatIfForm{
		bounds: inner(o, "bounds", readBounds),
		add: objects(o, "add", func(o *object) additionForm {
			return additionForm{Lat: o.number("lat"), Lng: o.number("lng"), RadiusM: o.number("radius_m")}
		}),
	}
	in, invalid := form.validate()
	if err := o.settle(func() error { return invalid }); err != nil {
		return whatIf{}, err
	}
	return in, invalid
}

// validate returns the question, or all the faults of the form. If bounds is absent, its
// sides are reported as missing.
func (form whatIfForm) validate() (whatIf, error) {
	var f beacon.Faults
	var in whatIf
	if bounds, ok := beacon.Optional(form.bounds, "bounds", &f); ok || !form.bounds.Set {
		in.box = bounds.validate("bounds.", &f)
	}
	add, _ := beacon.Required(form.add, "add", &f)
	if len(add) > maxAdditions {
		f.Add("add", "must not have more than "+strconv.Itoa(maxAdditions)+" elements")
		add = nil
	}
	for i, a := range add {
		in.add = append(in.add, a.validate("add["+strconv.Itoa(i)+"].", &f))
	}
	return in, f.Err()
}

func (form additionForm) validate(path string, f *beacon.Faults) (a fleet.Addition) {
	a.Place.Lat, _ = required(form.Lat, path+"lat", -90, 90, f)
	a.Place.Lng, _ = required(form.Lng, path+"lng", -180, 180, f)
	a.RadiusM, _ = required(form.RadiusM, path+"radius_m", beacon.MinCoverageRadiusM, beacon.MaxCoverageRadiusM, f)
	return a
}

// gain is what the additions would change.
type gain struct {
	box                  geo.Box
	before, after, added km2
}

// whatIf simulates additional hotspots. Many additions count as several requests.
func (a *API) whatIf(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	in, err := decodeWhatIf(w, r)
	if err != nil {
		return err
	}
	for range len(in.add) / additionsARequest {
		if err := a.limits.spend(w.Header(), p, time.Now()); err != nil {
			return err
		}
	}
	before, after, err := a.fleet.WhatIf(in.box, in.add, a.now())
	if err != nil {
		return err
	}
	g := gain{box: in.box, before: km2Of(before), after: km2Of(max(before, after))}
	g.added = g.after.minus(g.before)
	return a.write(w, http.StatusOK, encodeGain(g))
}

func encodeGain(g gain) payload {
	out := appendBounds([]byte(`{"bounds":`), g.box)
	out = appendKm2(append(out, `,"before_km2":`...), g.before)
	out = appendKm2(append(out, `,"after_km2":`...), g.after)
	out = appendKm2(append(out, `,"added_km2":`...), g.added)
	return payload{Data: encoded(append(out, '}'))}
}
