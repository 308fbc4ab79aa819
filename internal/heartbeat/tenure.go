package heartbeat

import "github.com/beacon-wifi/beacon/internal/beacon"

// tenure returns since when a hotspot is in service, or 0 if it is not, and when it was
// before. A minute counts if any part of it was in service, including the first and the
// last.
func tenure(h *beacon.Hotspot) (active beacon.Minute, spans []Span) {
	past := h.PastService
	switch since := h.ActiveSince(); {
	case since.IsZero():
	case h.Deleted():
		past = append(past[:len(past):len(past)], beacon.Period{From: since, Until: h.DeletedAt})
	default:
		active = max(beacon.MinuteOf(since), 1)
	}
	for _, p := range past {
		if from, end := beacon.MinuteOf(p.From), firstFrom(p.Until); from < end {
			spans = append(spans, Span{From: from, To: end - 1})
		}
	}
	return active, spans
}

// serve records when a hotspot is in service, and when it was before.
func (t *Table) serve(l *Live, h *beacon.Hotspot) {
	active, past := tenure(h)
	l.active = active
	l.state &^= interrupted | deleted
	delete(t.past, l.slot)
	if h.Deleted() {
		l.state |= deleted
		l.marks[Announced].Store(false)
	}
	if len(past) > 0 {
		l.state |= interrupted
		t.past[l.slot] = past
	}
}
