package beacon_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

func TestError_TellsLogsTheCause(t *testing.T) {
	cause := errors.New("disk full")
	err := error(&beacon.Error{
		Message: "2 fields are not valid", Err: cause,
		Fields: []beacon.FieldError{{Field: "a", Message: "is odd"}, {Field: "b", Message: "is required"}},
	})
	if want := "2 fields are not valid; a: is odd; b: is required: disk full"; err.Error() != want || !errors.Is(err, cause) {
		t.Errorf("got %q; want %q, with its cause", err, want)
	}
	if got := (&beacon.Error{Message: "no such key"}).Error(); got != "no such key" {
		t.Errorf("without a cause: %q", got)
	}
}

// What has a message keeps it, and so does what is of another kind.
func TestWord_WordsWhatHasNoWords(t *testing.T) {
	cause := errors.New("a row is there")
	for _, c := range []struct {
		err  error
		want string
	}{
		{beacon.Conflicting(cause), "it is taken: a row is there"},
		{beacon.NoSuch("key"), "no such key"},
		{beacon.Unexpected(cause), "internal error: a row is there"},
	} {
		err := beacon.Word(c.err, beacon.Conflict, "it is taken")
		if err.Error() != c.want || beacon.KindOf(err) != beacon.KindOf(c.err) || !errors.Is(err, c.err) {
			t.Errorf("%v became %v; want %s", c.err, err, c.want)
		}
	}
	if err := beacon.Word(nil, beacon.Conflict, "it is taken"); err != nil {
		t.Error(err)
	}
}

func TestHotspot_Deleted(t *testing.T) {
	if (beacon.Hotspot{}).Deleted() || !(beacon.Hotspot{DeletedAt: noon}).Deleted() {
		t.Error("a hotspot is deleted once it has a time of deletion")
	}
}

// faultyFields gives the paths that err names, in order.
func faultyFields(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*beacon.Error](err)
	if !ok {
		t.Fatalf("%v is no *beacon.Error", err)
	}
	var fields []string
	for _, f := range e.Fields {
		fields = append(fields, f.Field)
	}
	return fields
}

func kindOf(t *testing.T, err error) beacon.Kind {
	t.Helper()
	e, ok := errors.AsType[*beacon.Error](err)
	if !ok {
		t.Fatalf("%v is no *beacon.Error", err)
	}
	return e.Kind
}

func TestFaults(t *testing.T) {
	for _, test := range []struct {
		name    string
		note    func(*beacon.Faults)
		kind    beacon.Kind
		message string
	}{
		{"one missing", func(f *beacon.Faults) { f.Missing("name") }, beacon.MissingParameter, "name is required"},
		{"two missing", func(f *beacon.Faults) { f.Missing("a"); f.Missing("b") }, beacon.MissingParameter, "2 fields are not valid"},
		{"one wrong", func(f *beacon.Faults) { f.Add("type", "is odd") }, beacon.InvalidRequest, "type is odd"},
		{"wrong, then missing", func(f *beacon.Faults) { f.Check("a", errors.New("is odd")); f.Missing("b") }, beacon.InvalidRequest, "2 fields are not valid"},
		{"missing, then wrong", func(f *beacon.Faults) { f.Missing("b"); f.Add("a", "is odd") }, beacon.InvalidRequest, "2 fields are not valid"},
	} {
		var f beacon.Faults
		test.note(&f)
		e, ok := errors.AsType[*beacon.Error](f.Err())
		if !ok || !f.Any() || e.Kind != test.kind || e.Message != test.message {
			t.Errorf("%s: %v; want kind %d, %q", test.name, e, test.kind, test.message)
		}
	}
}

func TestFaults_None(t *testing.T) {
	var f beacon.Faults
	f.Check("name", nil)
	if err := f.Err(); err != nil || f.Any() {
		t.Errorf("got %v; want no error", err)
	}
}

func TestFaults_KeepsOrder(t *testing.T) {
	var f beacon.Faults
	f.Add("b", "is odd")
	f.Missing("a")
	if got := faultyFields(t, f.Err()); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("got %v; want b, a", got)
	}
}

// Nobody reads thousands of faults, and to tell them would be dear. What kind
// of mistake it was does not depend on which ones are listed.
func TestFaults_Many(t *testing.T) {
	var f beacon.Faults
	for i := range 150 {
		f.Missing(fmt.Sprintf("field%d", i))
	}
	err, _ := errors.AsType[*beacon.Error](f.Err())
	if err.Kind != beacon.MissingParameter || len(err.Fields) != 100 || err.Message != "150 fields are not valid; the first 100 are listed" {
		t.Errorf("%d fields, kind %d, %q", len(err.Fields), err.Kind, err.Message)
	}
	f.Add("last", "is wrong")
	if err, _ := errors.AsType[*beacon.Error](f.Err()); err.Kind != beacon.InvalidRequest {
		t.Errorf("kind %d; want InvalidRequest, though the wrong field is not listed", err.Kind)
	}
}
