package beacon_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestParseStartView(t *testing.T) {
	for text, want := range map[string]beacon.StartView{
		"52.52,13.405,12": {52.52, 13.405, 12}, "-90, 180, 0": {-90, 180, 0}, "0,-0,20": {0, 0, 20}, "1e1,2,3.5": {10, 2, 3.5},
	} {
		got, err := beacon.ParseStartView(text)
		if err != nil || got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
		if again, err := beacon.ParseStartView(got.String()); err != nil || again != want {
			t.Errorf("%q became %q, which is %v, %v", text, got, again, err)
		}
	}
	for _, bad := range []string{"", "1,2", "1,2,3,4", "91,0,1", "0,181,1", "0,0,21", "0,0,-1", "NaN,0,1", "0,Inf,1", "Berlin"} {
		if got, err := beacon.ParseStartView(bad); err == nil {
			t.Errorf("%q was read as %v", bad, got)
		}
	}
}
