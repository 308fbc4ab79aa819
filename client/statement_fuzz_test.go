package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/client"
)

// Reading row by row finds what reading at once does, and is content with no
// less than a whole document.
func FuzzReadStatement(f *testing.F) {
	for _, seed := range []string{
		`{"data":{"user_id":"usr_1","period":"2026-10","rows":[{"date":"2026-10-01","hotspot_id":"hs_1","policy":1,"served_minutes":1440}],"totals":{"rows":1},"hash":"00"},"meta":{}}`,
		`{"data":{"rows":[]}}`, `{"data":{"rows":null}}`, `{"data":null}`, `{"meta":{}}`, `{"data":{"rows":[{}`, `[]`, ``, `{"data":{"rows":{}}}`, `{"data":{"rows":[1]}}`, `{"data":{}}{"data":{}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows := 0
		s, err := client.ReadStatement(strings.NewReader(text), func(client.StatementRow) error { rows++; return nil })
		if err != nil {
			return
		}
		var whole struct {
			Data *struct {
				Hash string
				Rows []json.RawMessage
			}
		}
		d := json.NewDecoder(strings.NewReader(text))
		if err := d.Decode(&whole); err != nil {
			t.Fatalf("%q is no document (%v), and was read as %+v", text, err, s)
		}
		if strings.Count(text, "data") == 1 && strings.Count(text, "rows") == 1 && whole.Data != nil && len(whole.Data.Rows) != rows {
			t.Errorf("%q has %d rows, and %d were read", text, len(whole.Data.Rows), rows)
		}
	})
}
