package beacon

import (
	"fmt"
	"math"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// How far from its registered point a hotspot may be found (decision X1), in metres:
// verifyWithinM plus the accuracy of the measurement, but never more than
// verifyAtMostM.
const (
	verifyWithinM  = 100
	verifyAtMostM  = 200
	maxAccuracyM   = 1000
	maxMethodChars = 50
	maxRemarkChars = 200
)

// VerificationForm is a verification as sent by a member of staff.
type VerificationForm struct {
	Lat, Lng  Opt[float64]
	AccuracyM Opt[float64]
	Method    Opt[string]
	Type      Opt[string]
	SpeedTest Opt[SpeedTestForm]
	Moved     Opt[bool]
	VisitedAt Opt[time.Time]
	Note      Opt[string]
}

// Verification is what was found of a hotspot: where it is, and how that was measured.
type Verification struct {
	Point     geo.Point
	AccuracyM float64
	Method    string    // "gps", "survey": for the audit
	Type      Type      // empty: as registered
	Test      SpeedTest // of the visitor; may be none
	Moved     bool      // the visitor says that the hotspot is not where visits found it before
	At        time.Time // when the hotspot was visited; zero: just now
	Remark    string    // of the visitor, for the audit
}

// Validate returns the verification, or all the faults of the form.
func (form VerificationForm) Validate() (Verification, error) {
	var f Faults
	var v Verification
	readPoint(&v.Point, form.Lat, form.Lng, Required[float64], "", &f)
	if accuracy, ok := Required(form.AccuracyM, "accuracy_m", &f); ok {
		v.AccuracyM = positiveZero(accuracy)
		f.Check("accuracy_m", checkRange(accuracy, 0, maxAccuracyM))
	}
	if method, ok := Required(form.Method, "method", &f); ok {
		clean, err := cleanText(method, 1, maxMethodChars)
		f.Check("method", err)
		v.Method = clean
	}
	if kind, ok := Optional(form.Type, "type", &f); ok {
		v.Type = checkType(kind, &f)
	}
	if test, ok := Optional(form.SpeedTest, "speedtest", &f); ok {
		v.Test = test.check(&f)
	}
	v.Moved, _ = Optional(form.Moved, "moved", &f)
	v.At, _ = Optional(form.VisitedAt, "visited_at", &f)
	if note, ok := Optional(form.Note, "note", &f); ok {
		clean, err := cleanText(note, 1, maxRemarkChars)
		f.Check("note", err)
		v.Remark = clean
	}
	if err := f.Err(); err != nil {
		return Verification{}, err
	}
	return v, nil
}

// How long ago a visit may have been that is recorded, and how much the visitor's clock may
// be ahead.
const (
	visitDays    = 31
	visitAheadAt = 5 * time.Minute
)

// CheckTime returns what is wrong with when the hotspot was visited.
func (v Verification) CheckTime(now time.Time) error {
	var f Faults
	switch {
	case v.At.IsZero():
	case v.At.After(now.Add(visitAheadAt)):
		f.Add("visited_at", "must not be in the future")
	case now.Sub(v.At) > visitDays*24*time.Hour:
		f.Add("visited_at", fmt.Sprintf("must be in the last %d days: visit the hotspot again", visitDays))
	}
	return f.Err()
}

// Finding is a verification compared with where its hotspot is registered.
type Finding struct {
	Verification
	DistanceM float64
}

// Against measures how far from its registered point the hotspot was found.
func (v Verification) Against(h Hotspot) Finding {
	return Finding{v, geo.Distance(v.Point, h.Location.Point)}
}

// allowedM returns how far that may be.
func (v Verification) allowedM() float64 { return min(verifyWithinM+v.AccuracyM, verifyAtMostM) }

// Err returns nil if the hotspot is close enough to where it is registered.
func (f Finding) Err() error {
	if f.DistanceM <= f.allowedM() {
		return nil
	}
	return &Error{Kind: Conflict, Message: fmt.Sprintf(
		"this is %.0f m from where the hotspot is registered; with this accuracy, up to %.0f m are accepted: "+
			"measure again at the hotspot, or correct its registered location",
		math.Ceil(f.DistanceM), math.Floor(f.allowedM()),
	)}
}

// Note returns the finding as the audit keeps it.
func (f Finding) Note() string {
	note := fmt.Sprintf("%s, %.0f m away, accuracy %.0f m", f.Method, math.Ceil(f.DistanceM), math.Ceil(f.AccuracyM))
	if f.Moved {
		note += ", said to have moved"
	}
	if f.Type != "" {
		note += ", type " + string(f.Type)
	}
	if t := f.Test; t.Any() {
		note += fmt.Sprintf(", %.4g Mbps down, %.4g up, %.4g ms", t.DownMbps, t.UpMbps, t.LatencyMs)
	}
	if !f.At.IsZero() {
		note += ", visited " + f.At.UTC().Format("2006-01-02 15:04")
	}
	if f.Remark != "" {
		note += ": " + f.Remark
	}
	return note
}
