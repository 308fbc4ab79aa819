//go:build linux

package harness

// Diary is a device that remembers when it was heard.
type Diary struct {
	*Device
	Active Minute
	Chance float64 // of a beat in a minute
	Heard  []Hearing
}

// Hearing is between which minutes a beat was taken, and whether for sure.
type Hearing struct {
	From, To Minute
	Surely   bool
}

// Note remembers that a beat was taken between two minutes.
func (d *Diary) Note(from, to Minute, surely bool) {
	d.Heard = append(d.Heard, Hearing{from, to, surely})
}

// Served is in which minutes a hotspot served.
type Served struct{ Surely, Maybe map[Minute]bool }

// Served is the oracle of decision N16: a beat serves its minute and the three
// after it.
func (d *Diary) Served() Served {
	out := Served{map[Minute]bool{}, map[Minute]bool{}}
	for _, h := range d.Heard {
		for m := h.From; m <= h.To+3; m++ {
			out.Maybe[m] = true
		}
		for m := h.To; m <= h.From+3 && h.Surely; m++ {
			out.Surely[m] = true
		}
	}
	return out
}
