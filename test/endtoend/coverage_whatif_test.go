//go:build linux

package endtoend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// whatIfAnswer is what POST /coverage/simulate answers.
type whatIfAnswer struct {
	Before float64 `json:"before_km2"`
	After  float64 `json:"after_km2"`
	Added  float64 `json:"added_km2"`
}

// imagine asks what some more discs would cover.
func imagine(ctx context.Context, c *harness.Client, s *harness.Server, box groundBox, add []groundDisc) (got whatIfAnswer, err error) {
	list := []harness.Fields{}
	for _, d := range add {
		list = append(list, harness.Fields{"lat": d.lat, "lng": d.lng, "radius_m": d.radiusM})
	}
	a := insist(ctx, c, http.MethodPost, s.URL+"/v1/coverage/simulate", harness.Fields{"bounds": box.fields(), "add": list})
	if a.Status != http.StatusOK {
		return got, fmt.Errorf("what-if answered %d %s %w", a.Status, a.Code, a.Err)
	}
	return got, json.Unmarshal(a.Data, &got)
}

// checkWhatIf thinks of more hotspots, beside those that are there and on top of
// them, and compares what that would add with the oracle.
func (sc *scene) checkWhatIf(t testing.TB, s *harness.Server, boxes []groundBox, all []plotted) {
	t.Helper()
	discs := discsOf(all)
	gained := 0
	for i, box := range boxes {
		var add []groundDisc
		for range []int{1, 2, 7, 0, 100}[i%5] {
			add = append(add, sc.imagined(box))
		}
		got, err := imagine(t.Context(), sc.admin, s, box, add)
		if err != nil {
			t.Fatal(err)
		}
		after := box.covered(append(discs[:len(discs):len(discs)], add...)) / 1e6
		added := after - box.covered(discs)/1e6
		if got.Before != mustChart(t, sc.admin, s, box, anyZoom).AreaKm2 {
			t.Errorf("%+v: before, %v km² are covered, and coverage says otherwise", box, got.Before)
		}
		// The difference of two areas is as exact as they are.
		if !nearly(got.After, after) || math.Abs(got.Added-added) > 1e-6*added+1e-8*after+1e-11 || math.Abs(got.After-got.Before-got.Added) > 1e-9*got.After {
			t.Errorf("%+v with %d more: %+v; want %v km² more, %v in all", box, len(add), got, added, after)
		}
		if got.Added > 0 {
			gained++
		}
	}
	if gained < 4 {
		t.Errorf("only in %d boxes anything was added", gained)
	}
}

// imagined is a disc beside a hotspot, or near a box.
func (sc *scene) imagined(box groundBox) groundDisc {
	at := sc.sites[sc.random.IntN(len(sc.sites))]
	lat := at.lat + 0.002*sc.random.NormFloat64()
	lng := at.lng + 0.003*sc.random.NormFloat64()/max(0.01, math.Cos(at.lat*degree))
	if sc.random.IntN(2) == 0 {
		lat = box.south + (box.north-box.south)*(1.2*sc.random.Float64()-0.1)
		lng = box.west + box.width()*(1.2*sc.random.Float64()-0.1)
	}
	return groundDisc{max(-90, min(90, lat)), math.Remainder(lng, 360), 10 + 490*sc.random.Float64()}
}
