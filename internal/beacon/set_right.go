package beacon

import (
	"slices"
	"time"
)

// SetRight corrects the times at which the hotspot was changed while a clock was ahead:
// those after latest have not come, and become right. It reports whether there were any.
// UpdatedAt stays: it never goes back.
func (h *Hotspot) SetRight(latest, right time.Time) (changed bool) {
	set := func(t *time.Time) {
		if t.After(latest) {
			*t, changed = right, true
		}
	}
	set(&h.Location.VerifiedAt)
	set(&h.Device.LinkedAt)
	set(&h.Device.Agent.At)
	h.PastHours, h.PastService, h.Visits = slices.Clone(h.PastHours), slices.Clone(h.PastService), slices.Clone(h.Visits)
	for i := range h.PastHours {
		set(&h.PastHours[i].Until)
	}
	for i := range h.PastService {
		set(&h.PastService[i].From)
		set(&h.PastService[i].Until)
	}
	for i := range h.Visits {
		set(&h.Visits[i].At)
	}
	h.PastService = slices.DeleteFunc(h.PastService, func(p Period) bool { return !p.From.Before(p.Until) })
	return changed
}
