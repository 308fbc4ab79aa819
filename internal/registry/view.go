package registry

import (
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// View is a hotspot with the state that its heartbeats give it now.
type View struct {
	beacon.Hotspot
	Status  beacon.Status
	Metrics beacon.Metrics
}

// view adds to a hotspot from the database what only memory knows. A hotspot that is
// not in the fleet yet is shown as one without heartbeats.
func (r *Registry) view(h beacon.Hotspot) View {
	now := r.now()
	metrics, _ := r.fleet.Metrics(h.ID, now)
	return View{Hotspot: h, Status: h.StatusAt(metrics.Seen, now), Metrics: metrics}
}
