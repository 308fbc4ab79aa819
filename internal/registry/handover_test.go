package registry_test

import (
	"errors"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// A link code that another server writes for the former operator while the hotspot is handed
// over links no device.
func TestLink_CodeOfTheFormerOperator(t *testing.T) {
	d := open(t)
	buyer := ada
	buyer.User = beacon.UserID(id.Format(beacon.UserPrefix, storetest.Now, 2, 2))
	h := d.mustRegister(t, form("Sold", "02:00:5e:00:00:07"))
	made, err := d.Offer(t.Context(), ada, registry.Offering{Hotspot: h.ID})
	if err == nil {
		_, err = d.Accept(t.Context(), buyer, registry.Acceptance{Hotspot: h.ID, Code: made.Code})
	}
	if err != nil {
		t.Fatal(err)
	}
	link := func(operator beacon.UserID) error {
		t.Helper()
		plain, hash := access.MintLinkCode()
		code := beacon.LinkCode{Hotspot: h.ID, Operator: operator, Hash: hash, ExpiresAt: d.clock.Add(time.Minute)}
		if err := d.store.PutLinkCode(t.Context(), code, beacon.Actor{}, d.clock); err != nil {
			t.Fatal(err)
		}
		_, err := d.Link(t.Context(), registry.Link{Code: plain, MAC: "02:00:5e:00:00:07"})
		return err
	}
	if err := link(ada.User); !errors.Is(err, registry.ErrLink) {
		t.Errorf("a code of the former operator links a device: %v", err)
	}
	for _, operator := range []beacon.UserID{"", buyer.User} { // older programs did not say whose it was
		if err := link(operator); err != nil {
			t.Errorf("a code of %q: %v", operator, err)
		}
	}
}
