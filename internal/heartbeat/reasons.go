package heartbeat

// reasons says why the hotspot was not expected to serve in minutes of a day: it was
// closed by its own hours, excused by an outage of the service, or outside its time in
// service. Each reason is the one found when the minute was sealed.
//
// A minute that nodes sealed separately can have several reasons. It then counts as
// outside before closed, and as closed before excused.
type reasons struct{ closed, excused, outside dayBits }

// word returns the minutes of word i that have a reason.
func (w *reasons) word(i int) uint64 { return w.closed[i] | w.excused[i] | w.outside[i] }

// from returns 64 bits starting at a minute, set where there is a reason.
func (w *reasons) from(minute int) uint64 {
	return w.closed.from(minute) | w.excused.from(minute) | w.outside.from(minute)
}

func (w *reasons) join(other *reasons) {
	w.closed.join(&other.closed)
	w.excused.join(&other.excused)
	w.outside.join(&other.outside)
}

// add takes over the reasons of the minutes from..to, to excluded.
func (w *reasons) add(other *reasons, from, to int) {
	for i := from / 64; i < len(w.closed) && i*64 < to; i++ {
		some := rangeWord(i, from, to)
		w.closed[i] |= other.closed[i] & some
		w.excused[i] |= other.excused[i] & some
		w.outside[i] |= other.outside[i] & some
	}
}
