package preview_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Every row of the table in decisions P3 and P4, and what torture.md lists:
// what a client writes, and the page that comes back.
func TestList_Pages(t *testing.T) {
	const most = 9223372036854775807
	s := start(t)
	for _, tc := range []struct {
		query string
		want  meta
		first int // id of the first record; 0 for an empty page
		count int
	}{
		{"", meta{78, 20, 0, true}, 1, 20},
		{"limit=20&offset=0", meta{78, 20, 0, true}, 1, 20},
		{"limit=100", meta{78, 100, 0, false}, 1, 78},
		{"limit=78", meta{78, 78, 0, false}, 1, 78},
		{"limit=77", meta{78, 77, 0, true}, 1, 77},
		{"limit=1&offset=77", meta{78, 1, 77, false}, 78, 1},
		{"offset=58&limit=20", meta{78, 20, 58, false}, 59, 20},
		{"offset=57&limit=20", meta{78, 20, 57, true}, 58, 20},
		{"offset=70&limit=20", meta{78, 20, 70, false}, 71, 8},
		{"offset=78", meta{78, 20, 78, false}, 0, 0},
		{"offset=79", meta{78, 20, 79, false}, 0, 0},

		// Clamped, however far off.
		{"limit=0", meta{78, 1, 0, true}, 1, 1},
		{"limit=-3", meta{78, 1, 0, true}, 1, 1},
		{"limit=101", meta{78, 100, 0, false}, 1, 78},
		{"limit=99999999999999999999", meta{78, 100, 0, false}, 1, 78},
		{"limit=1" + strings.Repeat("0", 30), meta{78, 100, 0, false}, 1, 78},
		{"limit=-1" + strings.Repeat("0", 30), meta{78, 1, 0, true}, 1, 1},
		{"limit=0000000000000000000000005", meta{78, 5, 0, true}, 1, 5},
		{"limit=%2B7", meta{78, 7, 0, true}, 1, 7},
		{"limit=-0", meta{78, 1, 0, true}, 1, 1},
		{"offset=-1", meta{78, 20, 0, true}, 1, 20},
		{"offset=9223372036854775807", meta{78, 20, most, false}, 0, 0},
		{"offset=9223372036854775808&limit=100", meta{78, 100, most, false}, 0, 0},
		{"offset=1" + strings.Repeat("0", 30), meta{78, 20, most, false}, 0, 0},

		// Not whole decimal numbers: as if absent.
		{"limit=abc&offset=xyz", meta{78, 20, 0, true}, 1, 20},
		{"limit=1e2", meta{78, 20, 0, true}, 1, 20},
		{"limit=5.0", meta{78, 20, 0, true}, 1, 20},
		{"limit=0x10", meta{78, 20, 0, true}, 1, 20},
		{"limit=1_0", meta{78, 20, 0, true}, 1, 20},
		{"limit=+5", meta{78, 20, 0, true}, 1, 20}, // a plus in a query is a space
		{"limit=%205", meta{78, 20, 0, true}, 1, 20},
		{"limit=--5", meta{78, 20, 0, true}, 1, 20},
		{"limit=-", meta{78, 20, 0, true}, 1, 20},
		{"limit=NaN&offset=Infinity", meta{78, 20, 0, true}, 1, 20},
		{"limit=%EF%BC%95", meta{78, 20, 0, true}, 1, 20}, // a full-width 5
		{"limit=99999999999999999999x", meta{78, 20, 0, true}, 1, 20},
		{"limit=%zz", meta{78, 20, 0, true}, 1, 20},
		{"limit=5;offset=7", meta{78, 20, 0, true}, 1, 20},

		// Empty counts as absent; of a repeated parameter the first counts.
		{"limit=&offset=", meta{78, 20, 0, true}, 1, 20},
		{"limit", meta{78, 20, 0, true}, 1, 20},
		{"limit=5&limit=50", meta{78, 5, 0, true}, 1, 5},
		{"limit=&limit=50", meta{78, 50, 0, true}, 1, 50},
		{"limit=abc&limit=50", meta{78, 20, 0, true}, 1, 20},
		{"li%6Dit=5", meta{78, 5, 0, true}, 1, 5},
		{"LIMIT=5", meta{78, 20, 0, true}, 1, 20},
		{"&&=&=x&limit=5&&", meta{78, 5, 0, true}, 1, 5},
		{"unknown=1&limit=5", meta{78, 5, 0, true}, 1, 5},
	} {
		got := decode[list](t, s.get(t, "/api/v1/hotspots?"+tc.query), http.StatusOK)
		if got.Meta != tc.want || len(got.Data) != tc.count {
			t.Errorf("?%s: %d records, %+v; want %d, %+v", tc.query, len(got.Data), got.Meta, tc.count, tc.want)
			continue
		}
		for i, h := range got.Data {
			if h.ID != tc.first+i {
				t.Errorf("?%s: record %d of the page has id %d; want %d", tc.query, i, h.ID, tc.first+i)
			}
		}
		if got.Data == nil {
			t.Errorf("?%s: data is null; want []", tc.query)
		}
	}
}

// Each combination of filters against a plain loop over the records.
func TestList_Filters(t *testing.T) {
	s := start(t)
	everything := s.all(t)
	searches := []string{
		"", "library", "LIBRARY", "@", "ferry", "café", "CAFÉ", "%", "'", "’", "\x00", "a\x00b", "no such words anywhere",
		"WPA3", "Excellent", strings.Repeat("x", 3000), "\xff", "e", " ", "st.", `"`, "<script>",
	}
	checked := 0
	check := func(risk, network, search string) {
		values := url.Values{"risk": {risk}, "network": {network}, "search": {search}, "limit": {"100"}}
		got := decode[list](t, s.get(t, "/api/v1/hotspots?"+values.Encode()), http.StatusOK)
		want := filterPlainly(everything, risk, network, search)
		if !slices.Equal(idsOf(got.Data), want) || got.Meta.Total != int64(len(want)) {
			t.Errorf("risk %q, network %q, search %q: %v, total %d; want %v",
				risk, network, search, idsOf(got.Data), got.Meta.Total, want)
		}
		if len(want) > 0 && len(want) < len(everything) {
			checked++
		}
	}
	for _, risk := range []string{"", "Low", "low", "MEDIUM", "High", "hIgH", "Extreme", "Lo", " Low", "Low\x00"} {
		for _, network := range []string{"", "WiFi 5", "wifi 6", "WIFI 6E", "WiFi", "WiFi6", "WiFi 7"} {
			check(risk, network, "")
			check(risk, network, "e")
		}
	}
	for _, search := range searches {
		check("", "", search)
		check("LOW", "wifi 5", search)
	}
	if checked < 40 {
		t.Errorf("only %d combinations chose some records and not all; the test says little", checked)
	}
}

// An accent may be a character of its own, as some keyboards and file systems write it.
func TestList_SearchNormalizes(t *testing.T) {
	s := start(t)
	for _, search := range []string{"Cafe%CC%81", "CAFE%CC%81", "pin%CC%83ata", "re%CC%81sume%CC%81"} {
		whole := strings.NewReplacer("n%CC%83", "ñ", "e%CC%81", "é", "E%CC%81", "É").Replace(search)
		want := idsOf(decode[list](t, s.get(t, "/api/v1/hotspots?search="+url.QueryEscape(whole)), http.StatusOK).Data)
		got := idsOf(decode[list](t, s.get(t, "/api/v1/hotspots?search="+search), http.StatusOK).Data)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s finds %v, and %s %v", search, got, whole, want)
		}
	}
}

// filterPlainly is the rule of the document, word for word.
func filterPlainly(records []hotspot, risk, network, search string) []int {
	var ids []int
	for _, h := range records {
		if risk != "" && !strings.EqualFold(h.Risk, risk) || network != "" && !strings.EqualFold(h.Network, network) {
			continue
		}
		found := false
		for _, field := range []string{h.Name, h.Owner, h.Note} {
			found = found || strings.Contains(strings.ToLower(field), strings.ToLower(search))
		}
		if found {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

func idsOf(records []hotspot) []int {
	var ids []int
	for _, h := range records {
		ids = append(ids, h.ID)
	}
	return ids
}

// Total counts what the filters leave, and pages walk through just that.
func TestList_PagesOfFiltered(t *testing.T) {
	s := start(t)
	var walked []int
	for offset := 0; ; offset += 5 {
		page := decode[list](t, s.get(t, "/api/v1/hotspots?risk=medium&limit=5&offset="+strconv.Itoa(offset)), http.StatusOK)
		if page.Meta.Total != 19 {
			t.Fatalf("total %d; want 19", page.Meta.Total)
		}
		walked = append(walked, idsOf(page.Data)...)
		if !page.Meta.HasMore {
			break
		}
	}
	if want := filterPlainly(s.all(t), "Medium", "", ""); !slices.Equal(walked, want) {
		t.Errorf("the pages gave %v; want %v", walked, want)
	}
}

// A space may be written as + or %20, and a filter that cannot be decoded
// matches nothing instead of being dropped (decision P10).
func TestList_Encoding(t *testing.T) {
	s := start(t)
	for query, want := range map[string]int64{
		"network=WiFi+6":          29,
		"network=WiFi%206":        29,
		"network=wifi%206e":       7,
		"search=%zz":              0,
		"search=%":                0,
		"search=a;b":              0,
		"risk=Low;network=WiFi 6": 0,
	} {
		got := decode[list](t, s.get(t, "/api/v1/hotspots?"+strings.ReplaceAll(query, " ", "%20")), http.StatusOK)
		if got.Meta.Total != want {
			t.Errorf("?%s: total %d; want %d", query, got.Meta.Total, want)
		}
	}
}

// One record is the same alone and in the list.
func TestHotspot_EachIsTheListed(t *testing.T) {
	s := start(t)
	for _, want := range s.all(t) {
		got := decode[struct{ Data hotspot }](t, s.get(t, "/api/v1/hotspots/"+strconv.Itoa(want.ID)), http.StatusOK)
		if got.Data != want {
			t.Errorf("record %d alone is %+v; in the list %+v", want.ID, got.Data, want)
		}
	}
}
