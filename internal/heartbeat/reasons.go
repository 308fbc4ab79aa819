package heartbeat

// reasons says why nobody was expected to serve in minutes of a day: the hotspot
// was closed by its own hours, an outage of the service excused it, or it was
// outside of its time in service. Each is as it was decided when the minute was.
//
// Where nodes decided apart, a minute has several reasons. Then it counts as
// outside before closed, and as closed before excused.
type reasons struct{ closed, excused, outside dayBits }

// word has all the minutes of a word that have a reason.
func (w *reasons) word(i int) uint64 { return w.closed[i] | w.excused[i] | w.outside[i] }

// from reads 64 bits beginning at a minute: those that have a reason.
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
