package node

import (
	"context"
	"math"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// uptime returns the uptime of a hotspot by day, as public pages show it.
func (n *Node) uptime(ctx context.Context, id beacon.HotspotID, from, to time.Time) ([]float64, error) {
	h, err := n.telemetry.History(ctx, telemetry.HistoryQuery{Hotspot: id, From: from, To: to, Step: 24 * time.Hour})
	if err != nil {
		return nil, err
	}
	days := make([]float64, len(h.Points))
	for i, p := range h.Points {
		days[i] = p.Uptime
		if p.Expected == 0 {
			days[i] = math.NaN()
		}
	}
	return days, nil
}
