package beacon

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// MapSettings say what maps of the network show at first (decision D191). Where they say
// nothing, maps show where its hotspots are, with names as people there write them.
type MapSettings struct {
	Start    *StartView
	Language string // a code of two or three letters, or empty
}

// StartView is the middle of a map, and its zoom.
type StartView struct {
	Lat, Lng, Zoom float64
}

// maxStartZoom is the closest zoom of the console's map.
const maxStartZoom = 20

// StartViewForm is a start view as it was sent.
type StartViewForm struct {
	Lat, Lng, Zoom Opt[float64]
}

// Validate checks the form, whose members are below the field start_view.
func (s StartViewForm) Validate(f *Faults) StartView {
	member := func(o Opt[float64], name string, least, most float64) float64 {
		v, ok := Required(o, "start_view."+name, f)
		if ok && !(v >= least && v <= most) {
			f.Add("start_view."+name, fmt.Sprintf("must be between %v and %v", least, most))
		}
		return positiveZero(v)
	}
	return StartView{member(s.Lat, "lat", -90, 90), member(s.Lng, "lng", -180, 180), member(s.Zoom, "zoom", 0, maxStartZoom)}
}

var language = regexp.MustCompile(`^[a-z]{2,3}$`)

// CheckLanguage rejects what is not a code of ISO 639.
func CheckLanguage(code string) error {
	if !language.MatchString(code) {
		return errors.New("must be a code of two or three letters, such as de")
	}
	return nil
}

// String returns the start view as ParseStartView reads it.
func (s StartView) String() string {
	n := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return n(s.Lat) + "," + n(s.Lng) + "," + n(s.Zoom)
}

// ParseStartView reads a latitude, a longitude and a zoom with commas between them.
func ParseStartView(text string) (StartView, error) {
	bad := fmt.Errorf("%q is not a start view: write latitude, longitude and zoom, such as 52.52,13.405,12", text)
	var numbers []Opt[float64]
	for part := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return StartView{}, bad
		}
		numbers = append(numbers, Some(v))
	}
	if len(numbers) != 3 {
		return StartView{}, bad
	}
	var f Faults
	view := StartViewForm{numbers[0], numbers[1], numbers[2]}.Validate(&f)
	if f.Any() {
		return StartView{}, bad
	}
	return view, nil
}
