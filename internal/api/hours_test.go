package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const hoursPath = "settings.operating_hours"

func week(spans string) string {
	return `{"timezone":"Asia/Kathmandu","weekly":[` + spans + `],"exceptions":[]}`
}

func exceptions(days string) string {
	return `{"timezone":"UTC","weekly":[],"exceptions":[` + days + `]}`
}

func span(days, open, closing string) string {
	return fmt.Sprintf(`{"days":[%s],"open":%q,"close":%q}`, days, open, closing)
}

// Decision N10: hours are given back as they were sent.
func TestOperatingHours(t *testing.T) {
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		for n, good := range []string{
			week(``),
			week(span(`"mon","tue"`, "08:00", "22:00")),
			week(span(`"mon"`, "00:00", "24:00")),
			week(span(`"fri"`, "22:00", "02:00") + "," + span(`"sat"`, "02:00", "10:00")),
			week(span(`"sun"`, "22:00", "02:00")),
			week(span(`"mon","tue","wed","thu","fri","sat","sun"`, "00:00", "00:00")),
			exceptions(`{"date":"2026-12-25","closed":true}`),
			exceptions(`{"date":"2026-12-31","open":"10:00","close":"02:00"}`),
			exceptions(`{"date":"2028-02-29","open":"10:00","close":"24:00"},{"date":"2026-01-01","closed":true}`),
		} {
			got := data[changed](t, c.patch(t, spot, `{"settings":{"operating_hours":`+good+`}}`), http.StatusOK)
			wantEqual(t, good, string(got.Settings.OperatingHours), good)
			read := data[hotspot](t, c.get(t, spot), http.StatusOK)
			wantEqual(t, "read back", string(read.Settings.OperatingHours), good)
			wantEqual(t, "by POST", string(c.register(t, 100+n, hoursPath, good).Settings.OperatingHours), good)
		}
		// Without exceptions there are none.
		wantEqual(t, "without exceptions", string(c.register(t, 2, hoursPath, `{"timezone":"UTC","weekly":[]}`).Settings.OperatingHours), exceptions(``))
	})
}

// Every fault is named by its path below the hours.
func TestOperatingHours_Refused(t *testing.T) {
	many := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	rows := []struct {
		hours  string
		fields []string
	}{
		{`5`, []string{""}},
		{`[]`, []string{""}},
		{`"always"`, []string{""}},
		{`{"timezone":"UTC","weekly":[],"holidays":[]}`, []string{".holidays"}},
		{`{"timezone":null,"weekly":null,"exceptions":null}`, []string{".timezone", ".weekly"}},
		{`{"timezone":"Mars/Olympus","weekly":[]}`, []string{".timezone"}},
		{`{"timezone":"","weekly":[]}`, []string{".timezone"}},
		{`{"timezone":"Local","weekly":[]}`, []string{".timezone"}},
		{`{"timezone":"../etc/passwd","weekly":[]}`, []string{".timezone"}},
		{`{"timezone":5,"weekly":{}}`, []string{".timezone", ".weekly"}},
		{week(`5`), []string{".weekly[0]"}},
		{week(`{"days":"mon","open":8,"close":"22:00"}`), []string{".weekly[0].days", ".weekly[0].open"}},
		{week(span(``, "08:00", "22:00")), []string{".weekly[0].days"}},
		{week(span(`"mon","mon"`, "08:00", "22:00")), []string{".weekly[0].days[1]"}},
		{week(span(`"Mon","monday",5`, "08:00", "22:00")), []string{".weekly[0].days[0]", ".weekly[0].days[1]", ".weekly[0].days[2]"}},
		{week(span(`"mon"`, "8:00", "22.00")), []string{".weekly[0].open", ".weekly[0].close"}},
		{week(span(`"mon"`, "24:00", "24:01")), []string{".weekly[0].open", ".weekly[0].close"}},
		{week(span(`"mon"`, "08:60", "25:00")), []string{".weekly[0].open", ".weekly[0].close"}},
		{week(span(`"mon"`, "08:00", "12:00") + "," + span(`"mon","tue"`, "11:59", "13:00")), []string{".weekly[1]"}},
		{week(span(`"sun"`, "22:00", "02:00") + "," + span(`"mon"`, "01:00", "03:00")), []string{".weekly[1]"}},
		{week(many(51, span(`"mon"`, "08:00", "08:01"))), []string{".weekly"}},
		{exceptions(`{"date":"2026-02-30","closed":true}`), []string{".exceptions[0].date"}},
		{exceptions(`{"date":"2026-2-1","closed":true},{"date":"25.12.2026","closed":true}`), []string{".exceptions[0].date", ".exceptions[1].date"}},
		{exceptions(`{"date":"2026-12-25","closed":true},{"date":"2026-12-25","closed":true}`), []string{".exceptions[1].date"}},
		{exceptions(`{"date":"2026-12-25"}`), []string{".exceptions[0]"}},
		{exceptions(`{"date":"2026-12-25","closed":false}`), []string{".exceptions[0]"}},
		{exceptions(`{"date":"2026-12-25","closed":true,"open":"08:00"}`), []string{".exceptions[0]"}},
		{exceptions(`{"date":"2026-12-25","closed":"yes"}`), []string{".exceptions[0].closed"}},
		{exceptions(`{"date":"2026-12-25","closed":null}`), []string{".exceptions[0].closed"}},
		{exceptions(`{"date":"2026-12-25","open":"08:00","close":"9"}`), []string{".exceptions[0].close"}},
		{exceptions(many(101, `{"date":"2026-12-25","closed":true}`)), []string{".exceptions"}},
	}
	eachStore(t, func(t *testing.T, s *server) {
		c := s.operator(t)
		hotspot := "/v1/hotspots/" + c.register(t, 1).ID
		for _, tc := range rows {
			var fields []string
			for _, field := range tc.fields {
				fields = append(fields, hoursPath+field)
			}
			wantFault(t, c.patch(t, hotspot, `{"settings":{"operating_hours":`+tc.hours+`}}`), http.StatusBadRequest, "invalid_request", fields...)
			wantFault(t, c.post(t, "/v1/hotspots", registration(2, hoursPath, tc.hours)), http.StatusBadRequest, "invalid_request", fields...)
		}
		for hours, missing := range map[string][]string{
			`{}`: {".timezone", ".weekly"}, exceptions(`{"closed":true}`): {".exceptions[0].date"}, week(`{"days":["mon"]}`): {".weekly[0].open", ".weekly[0].close"},
		} {
			var fields []string
			for _, field := range missing {
				fields = append(fields, hoursPath+field)
			}
			wantFault(t, c.patch(t, hotspot, `{"settings":{"operating_hours":`+hours+`}}`), http.StatusBadRequest, "missing_parameter", fields...)
		}
	})
}
