package review

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// emptyNetwork is a store without hotspots. It records which days were reviewed.
type emptyNetwork struct {
	Store
	days []beacon.Day
}

func (*emptyNetwork) MACsAgain(context.Context, time.Time, int) (map[beacon.HotspotID]int, error) {
	return nil, nil
}

func (*emptyNetwork) OwnedPage(context.Context, beacon.Owned, int) ([]beacon.Owned, error) {
	return nil, nil
}

func (*emptyNetwork) HotspotsByID(context.Context, []beacon.HotspotID) ([]beacon.Hotspot, error) {
	return nil, nil
}

func (*emptyNetwork) Records(context.Context, beacon.Day, []beacon.HotspotID) (map[beacon.HotspotID][]byte, error) {
	return nil, nil
}

func (*emptyNetwork) DeviceAddresses(context.Context, []beacon.HotspotID) (map[beacon.HotspotID]beacon.DeviceAddress, error) {
	return nil, nil
}

func (*emptyNetwork) Earned(context.Context, []beacon.UserID, beacon.Month, beacon.Month) (map[beacon.UserID]beacon.Amount, error) {
	return nil, nil
}

func (*emptyNetwork) PutFlags(context.Context, lease.Lease, []beacon.Flag) error { return nil }

func (s *emptyNetwork) FinishReview(_ context.Context, _ lease.Lease, day, _ beacon.Day, _ time.Time) error {
	s.days = append(s.days, day)
	return nil
}

func (s *emptyNetwork) Reviewed(context.Context) (beacon.Day, bool, error) {
	if len(s.days) == 0 {
		return 0, false, nil
	}
	return s.days[len(s.days)-1], true, nil
}

// Each day is reviewed once, by whichever server. After a clock was ahead, days are reviewed
// as before.
func TestStep_EachDayOnce(t *testing.T) {
	store := &emptyNetwork{}
	now, lag := today, beacon.Day(0)
	server := func() *Review {
		return New(Config{
			Store: store, Log: slog.New(slog.DiscardHandler),
			Now:   func() time.Time { return now.Time().Add(time.Hour) },
			Final: func() (beacon.Day, bool) { return now - lag, true },
			Lease: func() (lease.Lease, bool) { return lease.Lease{}, true },
		})
	}
	one, other := server(), server()
	step := func(servers ...*Review) {
		t.Helper()
		for range 2 {
			for _, r := range servers {
				if err := r.Step(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	step(one, other)
	now++
	step(one, other)
	now += 40 // the clock of one is ahead
	step(one)
	now -= 40
	step(one, other)
	now++
	step(other, one)
	lag = 1 // one that has just begun does not know yet what is final
	step(server())
	if want := []beacon.Day{today - 1, today, today + 40, today, today + 1}; !slices.Equal(store.days, want) {
		t.Errorf("reviewed %v; want %v", store.days, want)
	}
}
