package beacon_test

import (
	"errors"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestError_TellsLogsTheCause(t *testing.T) {
	cause := errors.New("disk full")
	err := error(&beacon.Error{
		Message: "2 fields are not valid", Err: cause,
		Fields: []beacon.FieldError{{Field: "a", Message: "is odd"}, {Field: "b", Message: "is required"}},
	})
	if want := "2 fields are not valid; a: is odd; b: is required: disk full"; err.Error() != want || !errors.Is(err, cause) {
		t.Errorf("got %q; want %q, with its cause", err, want)
	}
	if got := (&beacon.Error{Message: "no such key"}).Error(); got != "no such key" {
		t.Errorf("without a cause: %q", got)
	}
}

func TestHotspot_Deleted(t *testing.T) {
	if (beacon.Hotspot{}).Deleted() || !(beacon.Hotspot{DeletedAt: noon}).Deleted() {
		t.Error("a hotspot is deleted once it has a time of deletion")
	}
}
