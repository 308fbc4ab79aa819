package beacon_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func nineToFive() beacon.HoursForm {
	return beacon.HoursForm{
		Timezone: some("America/New_York"),
		Weekly:   some([]beacon.SpanForm{span("09:00", "17:00", "mon", "tue")}),
	}
}

func span(open, closing string, days ...string) beacon.SpanForm {
	return beacon.SpanForm{Days: some(days), Open: some(open), Close: some(closing)}
}

func weekly(spans ...beacon.SpanForm) beacon.HoursForm {
	return beacon.HoursForm{Timezone: some("UTC"), Weekly: some(spans)}
}

func exceptions(days ...beacon.ExceptionForm) beacon.HoursForm {
	form := nineToFive()
	form.Exceptions = some(days)
	return form
}

func closed(date string) beacon.ExceptionForm {
	return beacon.ExceptionForm{Date: some(date), Closed: some(true)}
}

// hours runs the form through a patch, as requests do.
func hours(form beacon.HoursForm) (*beacon.OperatingHours, error) {
	var h beacon.Hotspot
	_, err := settingsPatch(beacon.SettingsForm{OperatingHours: some(form)}).Apply(&h)
	return h.Settings.OperatingHours, err
}

func TestHours_Accepts(t *testing.T) {
	everyDay := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	var fifty []beacon.SpanForm
	for i := range 50 {
		fifty = append(fifty, span(beacon.FormatClock(i*20), beacon.FormatClock(i*20+20), "sun", "mon"))
	}
	var dates []beacon.ExceptionForm
	for i := range 100 {
		dates = append(dates, closed(fmt.Sprintf("2%03d-12-25", i)))
	}
	for name, form := range map[string]beacon.HoursForm{
		"never":                         weekly(),
		"all day":                       weekly(span("00:00", "24:00", everyDay...)),
		"all day, by running on":        weekly(span("08:00", "08:00", everyDay...)),
		"midnight to midnight":          weekly(span("00:00", "00:00", everyDay...)),
		"every night":                   weekly(span("22:00", "21:59", everyDay...)),
		"touching":                      weekly(span("08:00", "12:00", "mon"), span("12:00", "20:00", "mon")),
		"touching over midnight":        weekly(span("22:00", "02:00", "mon"), span("02:00", "03:00", "tue")),
		"touching over the week's end":  weekly(span("22:00", "02:00", "sun"), span("02:00", "03:00", "mon")),
		"fifty spans":                   weekly(fifty...),
		"a hundred exceptions":          exceptions(dates...),
		"no exceptions":                 exceptions(),
		"open on an exceptional day":    exceptions(beacon.ExceptionForm{Date: some("2026-12-24"), Open: some("10:00"), Close: some("14:00")}),
		"not closed on such a day":      exceptions(beacon.ExceptionForm{Date: some("2028-02-29"), Closed: some(false), Open: some("20:00"), Close: some("02:00")}),
		"the same time on another date": exceptions(closed("2026-12-25"), closed("2027-12-25")),
	} {
		if _, err := hours(form); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHours_Parsed(t *testing.T) {
	form := nineToFive()
	form.Weekly.V = append(form.Weekly.V, span("22:00", "24:00", "sun", "fri"))
	form.Exceptions = some([]beacon.ExceptionForm{
		closed("2026-12-25"), {Date: some("2026-12-24"), Open: some("10:05"), Close: some("14:00")},
	})
	got, err := hours(form)
	want := &beacon.OperatingHours{
		Timezone: "America/New_York",
		Weekly: []beacon.WeeklySpan{
			{Days: []beacon.Weekday{"mon", "tue"}, Open: 9 * 60, Close: 17 * 60},
			{Days: []beacon.Weekday{"sun", "fri"}, Open: 22 * 60, Close: 24 * 60},
		},
		Exceptions: []beacon.HoursException{
			{Date: "2026-12-25", Closed: true},
			{Date: "2026-12-24", Spans: []beacon.ExceptionSpan{{Open: 605, Close: 840}}},
		},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func TestHours_Zone(t *testing.T) {
	for _, zone := range []string{"UTC", "Etc/UTC", "Europe/Berlin", "Asia/Kathmandu", "America/Argentina/Ushuaia"} {
		form := nineToFive()
		form.Timezone = some(zone)
		if _, err := hours(form); err != nil {
			t.Errorf("%q: %v", zone, err)
		}
	}
	for _, zone := range []string{
		"", "Local", "localtime", "posixrules", "posix/Europe/Berlin", "right/Europe/Berlin", "Factory", "../etc/passwd",
		"/etc/localtime", "Mars/Olympus", "UTC+2", "+02:00", "europe/berlin", "Europe/Berlin ", "Europe", "zone.tab", "a\x00b",
	} {
		form := nineToFive()
		form.Timezone = some(zone)
		_, err := hours(form)
		if got := faultyFields(t, err); !slices.Equal(got, []string{"settings.operating_hours.timezone"}) {
			t.Errorf("%q: %v; want a fault of the zone", zone, err)
		}
	}
}

func TestHours_Faults(t *testing.T) {
	var missing beacon.Opt[string]
	many := make([]beacon.SpanForm, 51)
	tooMany := make([]beacon.ExceptionForm, 101)
	for _, test := range []struct {
		name string
		form beacon.HoursForm
		want []string
	}{
		{"empty", beacon.HoursForm{}, []string{"timezone", "weekly"}},
		{"nulls", beacon.HoursForm{
			Timezone: beacon.Null[string](), Weekly: beacon.Null[[]beacon.SpanForm](), Exceptions: beacon.Null[[]beacon.ExceptionForm](),
		}, []string{"timezone", "weekly"}},
		{"an empty span", weekly(beacon.SpanForm{}), []string{"weekly[0].days", "weekly[0].open", "weekly[0].close"}},
		{"too many spans", weekly(many...), []string{"weekly"}},
		{"no days", weekly(span("08:00", "09:00")), []string{"weekly[0].days"}},
		{"eight days", weekly(span("08:00", "09:00", "mon", "mon", "mon", "mon", "mon", "mon", "mon", "mon")), []string{"weekly[0].days"}},
		{"odd days", weekly(span("08:00", "09:00", "mon", "Mon", "monday", "")), []string{"weekly[0].days[1]", "weekly[0].days[2]", "weekly[0].days[3]"}},
		{"a day twice", weekly(span("08:00", "09:00", "mon", "tue", "mon")), []string{"weekly[0].days[2]"}},
		{"opening at 24:00", weekly(span("24:00", "08:00", "mon")), []string{"weekly[0].open"}},
		{"odd times", weekly(span("8:00", "25:00", "mon")), []string{"weekly[0].open", "weekly[0].close"}},
		{"two spans at fault", weekly(span("x", "09:00", "mon"), span("08:00", "y", "tue")), []string{"weekly[0].open", "weekly[1].close"}},
		{"null time", weekly(beacon.SpanForm{Days: some([]string{"mon"}), Open: beacon.Null[string](), Close: some("09:00")}), []string{"weekly[0].open"}},
		{"overlap", weekly(span("08:00", "12:00", "mon"), span("11:59", "13:00", "mon")), []string{"weekly[1]"}},
		{"overlap within", weekly(span("08:00", "12:00", "mon"), span("09:00", "10:00", "mon")), []string{"weekly[1]"}},
		{"overlap over midnight", weekly(span("01:59", "03:00", "tue"), span("22:00", "02:00", "mon")), []string{"weekly[1]"}},
		{"overlap over the week's end", weekly(span("01:59", "03:00", "mon"), span("22:00", "02:00", "sun")), []string{"weekly[1]"}},
		{"the third overlaps the first", weekly(span("08:00", "12:00", "mon"), span("13:00", "14:00", "mon"), span("08:00", "09:00", "mon")), []string{"weekly[2]"}},
		{"too many exceptions", exceptions(tooMany...), []string{"exceptions"}},
		{"an empty exception", exceptions(beacon.ExceptionForm{}), []string{"exceptions[0].date", "exceptions[0]"}},
		{"no such date", exceptions(closed("2026-02-29")), []string{"exceptions[0].date"}},
		{"odd dates", exceptions(closed("2026-2-1"), closed("2026-02-01T00:00:00Z"), closed("")), []string{"exceptions[0].date", "exceptions[1].date", "exceptions[2].date"}},
		{"a date twice", exceptions(closed("2026-12-25"), closed("2026-12-26"), closed("2026-12-25")), []string{"exceptions[2].date"}},
		{"not closed, and no hours", exceptions(beacon.ExceptionForm{Date: some("2026-12-25"), Closed: some(false)}), []string{"exceptions[0]"}},
		{"closed, and hours", exceptions(beacon.ExceptionForm{Date: some("2026-12-25"), Closed: some(true), Open: some("10:00")}), []string{"exceptions[0]"}},
		{"closed: null", exceptions(beacon.ExceptionForm{Date: some("2026-12-25"), Closed: beacon.Null[bool]()}), []string{"exceptions[0].closed"}},
		{"open alone", exceptions(beacon.ExceptionForm{Date: some("2026-12-25"), Open: some("10:00"), Close: missing}), []string{"exceptions[0].close"}},
		{"opening at 24:00 once", exceptions(beacon.ExceptionForm{Date: some("2026-12-25"), Open: some("24:00"), Close: some("24:00")}), []string{"exceptions[0].open"}},
	} {
		_, err := hours(test.form)
		var want []string
		for _, field := range test.want {
			want = append(want, "settings.operating_hours."+field)
		}
		if got := faultyFields(t, err); !slices.Equal(got, want) {
			t.Errorf("%s: %v; want faults of %v", test.name, err, want)
		}
	}
}

func TestHours_OverlapNamesBoth(t *testing.T) {
	_, err := hours(weekly(span("08:00", "12:00", "mon"), span("13:00", "14:00", "mon"), span("13:30", "15:00", "mon")))
	if want := "settings.operating_hours.weekly[2] overlaps weekly[1]"; err == nil || err.(*beacon.Error).Message != want {
		t.Errorf("got %v; want %q", err, want)
	}
}

func TestSettings_Equal(t *testing.T) {
	base := func() beacon.Settings {
		return beacon.Settings{MaxConnections: 1, OperatingHours: &beacon.OperatingHours{
			Timezone:   "UTC",
			Weekly:     []beacon.WeeklySpan{{Days: []beacon.Weekday{"mon"}, Open: 1, Close: 2}},
			Exceptions: []beacon.HoursException{{Date: "2026-12-25", Spans: []beacon.ExceptionSpan{{Open: 1, Close: 2}}}},
		}}
	}
	for name, edit := range map[string]func(*beacon.Settings){
		"connections":  func(s *beacon.Settings) { s.MaxConnections++ },
		"bandwidth":    func(s *beacon.Settings) { s.BandwidthLimitMbps++ },
		"radius":       func(s *beacon.Settings) { s.CoverageRadiusM++ },
		"no hours":     func(s *beacon.Settings) { s.OperatingHours = nil },
		"zone":         func(s *beacon.Settings) { s.OperatingHours.Timezone = "Etc/UTC" },
		"day":          func(s *beacon.Settings) { s.OperatingHours.Weekly[0].Days[0] = "tue" },
		"open":         func(s *beacon.Settings) { s.OperatingHours.Weekly[0].Open++ },
		"close":        func(s *beacon.Settings) { s.OperatingHours.Weekly[0].Close++ },
		"date":         func(s *beacon.Settings) { s.OperatingHours.Exceptions[0].Date = "2026-12-26" },
		"closed":       func(s *beacon.Settings) { s.OperatingHours.Exceptions[0].Closed = true },
		"its hours":    func(s *beacon.Settings) { s.OperatingHours.Exceptions[0].Spans[0].Open++ },
		"no exception": func(s *beacon.Settings) { s.OperatingHours.Exceptions = nil },
	} {
		other := base()
		edit(&other)
		if base().Equal(other) || other.Equal(base()) {
			t.Errorf("settings that differ in %s are equal", name)
		}
	}
	empty, none := base(), base()
	empty.OperatingHours.Exceptions, none.OperatingHours.Exceptions = []beacon.HoursException{}, nil
	if !base().Equal(base()) || !empty.Equal(none) {
		t.Error("equal settings differ")
	}
}

func TestParseClock(t *testing.T) {
	accepted := 0
	for hour := range 100 {
		for minute := range 100 {
			text := fmt.Sprintf("%02d:%02d", hour, minute)
			got, err := beacon.ParseClock(text)
			if valid := hour < 24 && minute < 60 || text == "24:00"; valid != (err == nil) {
				t.Errorf("ParseClock(%q): %v", text, err)
			} else if valid {
				accepted++
				if got != hour*60+minute || beacon.FormatClock(got) != text {
					t.Errorf("%q is %d, and that is %q", text, got, beacon.FormatClock(got))
				}
			}
		}
	}
	if accepted != 24*60+1 {
		t.Errorf("%d times of day; want 1441", accepted)
	}
	for _, bad := range []string{"", "8:00", "08:0", "0800", "08:00 ", " 8:00", "08.00", "08:00:00", "-1:00", "+8:00", "0x:00", "08:0x", "08:/0", "/8:00", "08::0", "0::00", "08:0:", "0:800", "０８:00"} {
		if got, err := beacon.ParseClock(bad); err == nil {
			t.Errorf("ParseClock(%q) = %d; want an error", bad, got)
		}
	}
}
