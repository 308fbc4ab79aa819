package heartbeat

import "github.com/beacon-wifi/beacon/internal/beacon"

// serve records when a hotspot is in service, and when it was before. A minute counts
// if any part of it was in service, including the first and the last.
func (t *Table) serve(l *Live, h *beacon.Hotspot) {
	l.active = 0
	l.state &^= interrupted | departed
	delete(t.past, l.slot)
	past := h.PastService
	since := h.ActiveSince()
	switch {
	case h.Deleted():
		l.state |= departed
		l.announced.Store(false)
		if !since.IsZero() {
			past = append(past[:len(past):len(past)], beacon.Period{From: since, Until: h.DeletedAt})
		}
	case !since.IsZero():
		l.active = max(beacon.MinuteOf(since), 1)
	}
	var spans []Span
	for _, p := range past {
		if from, end := beacon.MinuteOf(p.From), firstFrom(p.Until); from < end {
			spans = append(spans, Span{From: from, To: end - 1})
		}
	}
	if len(spans) > 0 {
		l.state |= interrupted
		t.past[l.slot] = spans
	}
}
