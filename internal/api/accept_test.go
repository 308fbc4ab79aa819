package api_test

import (
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/api"
)

func TestAccept(t *testing.T) {
	for _, tc := range []struct {
		accept []string
		csv    bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{"*/*"}, false},
		{[]string{"application/json"}, false},
		{[]string{"text/csv"}, true},
		{[]string{"TEXT/CSV"}, true},
		{[]string{" text/csv "}, true},
		{[]string{"text/*"}, true},
		{[]string{"text/html"}, false}, // neither: JSON
		{[]string{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}, false}, // a browser
		{[]string{"text/csv, application/json"}, false},
		{[]string{"application/json, text/csv"}, false},
		{[]string{"text/csv, */*"}, true},
		{[]string{"*/*, text/csv"}, true},
		{[]string{"text/csv, */*;q=0.1"}, true},
		{[]string{"text/csv;q=0.5, application/json;q=0.4"}, true},
		{[]string{"text/csv;q=0.4, application/json;q=0.5"}, false},
		{[]string{"text/csv;q=0.001, application/json;q=0"}, true},
		{[]string{"text/csv;q=0, */*"}, false},
		{[]string{"text/csv;q=0"}, false},
		{[]string{"application/json;q=0, */*"}, true},
		{[]string{"text/*;q=0.2, text/csv;q=0.9, application/json;q=0.5"}, true}, // the more precise one counts
		{[]string{"text/*;q=0.9, text/csv;q=0.2, application/json;q=0.5"}, false},
		{[]string{"application/json;q=0.5", "text/csv"}, true}, // two headers are one list
		{[]string{"text/csv; charset=utf-8"}, true},
		{[]string{"text/csv; charset=UTF-8; header=present; q=1"}, true},
		{[]string{"text/csv; header=absent"}, false}, // this is another form
		{[]string{`text/csv; header="present"`}, true},
		{[]string{`text/html; x="a,text/csv"`}, false},
		{[]string{`text/html; x="\",text/csv,\""`}, false},
		{[]string{"text/csv;q=2"}, false},
		{[]string{"text/csv;q=-1"}, false},
		{[]string{"text/csv;q=NaN"}, false},
		{[]string{"text/csv;q=0x1"}, false},
		{[]string{"text/csv;q="}, false},
		{[]string{"text/csv;;;"}, false},
		{[]string{"text/csv,,,"}, true},
		{[]string{"text / csv"}, false},
		{[]string{"*;q=.2, text/csv;q=.3"}, true},
		{[]string{"text/csvx"}, false},
		{[]string{"csv"}, false},
	} {
		if got := api.WantsCSV(tc.accept...); got != tc.csv {
			t.Errorf("%q leads to a table: %t; want %t", tc.accept, got, tc.csv)
		}
	}
}

// Whatever a client sends, there is an answer; and one that accepts no table by
// any spelling gets none.
func FuzzAccept(f *testing.F) {
	for _, seed := range []string{"text/csv", "*/*;q=0.1", `a/b;c="d,e\"f"`, ",;=", `"`, `\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		if api.WantsCSV(accept) && !strings.Contains(strings.ToLower(accept), "text/") && !strings.Contains(accept, "*") {
			t.Errorf("%q leads to a table", accept)
		}
	})
}
