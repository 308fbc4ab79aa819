package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/client"
)

// lines tells what became of each line of a list.
func lines(t *testing.T, text string, m Mapping, record Record) (said []string, err error) {
	t.Helper()
	rows, err := ReadVisits(strings.NewReader(text), m)
	if err != nil {
		return nil, err
	}
	_, err = RecordVisits(t.Context(), rows, record, 3, func(l Line) error {
		said = append(said, strings.TrimSpace(fmt.Sprintf("%s: %d %s", l.Place, l.Kind, l.Text)))
		return nil
	})
	return said, err
}

// A list of visits is read with common names of columns, and each line says what is wrong.
func TestReadVisits(t *testing.T) {
	var taken []string
	record := func(_ context.Context, v Visit) Outcome {
		if v.hotspot+v.mac == "" {
			return Outcome{err: errors.New("nothing to find it by")}
		}
		return Outcome{}
	}
	said, err := lines(t, "\ufeffMAC;Breite;Länge;Genauigkeit;Datum;Besucher;Bemerkung;moved\r\n"+
		"02:00:5e:10:00:01;52,52;13,4;5,5;2026-11-14T10:30:00+01:00;Ada;mit Leiter;true\r\n"+
		"02:00:5e:10:00:01;NaN;1e308;1001;gestern;;;ja\r\n"+
		";52;13;5;14.11.2026 10:30;;;\r\n"+
		"02:00:5e:10:00:02;52\r\n", Mapping{words: visitWords}, record)
	want := []string{
		"2: 0",
		"3: 4 lat must be a number, such as 40.7532; lng must be -180 to 180; accuracy_m must be 0 to 1000; moved must be true or false; visited_at must be a time such as 2026-11-14 10:30 or 2026-11-14T10:30:00+01:00",
		"4: 4 mac_address must be a MAC address, such as 02:00:5e:10:00:01, or hotspot must be an id",
		"5: 4 has 2 cells, and the first line has 8",
	}
	if err != nil || !sameLines(said, want) {
		t.Errorf("it says %q, %v; want %q", said, err, want)
	}
	rows, err := ReadVisits(strings.NewReader("hotspot,lat,lng,accuracy,time,who,note\nhs_1,52.52,13.4,5,2026-11-14T10:30:00+01:00,Ada,ladder\n"), VisitMapping(nil, map[string]string{"method": "survey"}))
	if err != nil {
		t.Fatal(err)
	}
	for r := range rows {
		v, err := r.visit()
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, fmt.Sprint(v.hotspot, v.form.Lat, v.form.Lng, v.form.AccuracyM, v.form.Method, v.form.Note, v.form.VisitedAt.Format(time.RFC3339)))
	}
	if want := []string{fmt.Sprint("hs_1", 52.52, 13.4, 5.0, "survey", "Ada: ladder", "2026-11-14T09:30:00Z")}; !slices.Equal(taken, want) {
		t.Errorf("it takes %q; want %q", taken, want)
	}
	for text, want := range map[string]string{
		"hotspot,lat,lng\n": "there is no column accuracy_m, visited_at",
		"":                  "the file is empty",
	} {
		if _, err := lines(t, text, VisitMapping(nil, nil), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

// sameLines ignores the order of what is wrong with a line.
func sameLines(got, want []string) bool {
	words := func(line string) []string {
		place, rest, _ := strings.Cut(line, " ")
		return append(slices.Sorted(slices.Values(strings.Split(strings.TrimPrefix(rest, "4 "), "; "))), place)
	}
	return slices.EqualFunc(got, want, func(a, b string) bool { return slices.Equal(words(a), words(b)) })
}

// Visits of one hotspot are recorded one after the other, in the order of the list; what is
// no line's own fault ends it.
func TestRecordVisits_Order(t *testing.T) {
	var text strings.Builder
	text.WriteString("hotspot,lat,lng,accuracy,visited_at\n")
	for n := range 30 {
		fmt.Fprintf(&text, "hs_1,1,2,%d,2026-11-14 10:30\n", n)
	}
	next := 0
	record := func(_ context.Context, v Visit) Outcome {
		if int(v.form.AccuracyM) != next {
			t.Errorf("visit %v comes as number %d", v.form.AccuracyM, next)
		}
		if next++; next == 20 {
			return judgeVisit(&client.Error{Status: 503, Message: "away"})
		}
		return judgeVisit(nil)
	}
	said, err := lines(t, text.String(), VisitMapping(nil, nil), record)
	if len(said) != 19 || err == nil || !strings.HasPrefix(err.Error(), "line 21: the server answers 503") {
		t.Errorf("%d lines are told of, %v", len(said), err)
	}
}
