package importer

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// outcomes reads a text and tells what a dry run says of it, a line each.
func outcomes(t *testing.T, text string, m Mapping) (said []string) {
	t.Helper()
	rows, err := Read(strings.NewReader(text), m)
	if err != nil {
		return []string{err.Error()}
	}
	_, err = Run(t.Context(), rows, nil, 1, func(place string, o Outcome) {
		said = append(said, strings.TrimSpace(fmt.Sprintf("%s: %s %s", place, []string{"valid", "present", "different", "", "not valid:"}[o.Kind], o.Text)))
	})
	if err != nil {
		said = append(said, err.Error())
	}
	return said
}

// community is what the lists of a Freifunk community do not say.
var community = Mapping{Set: map[string]string{"type": "public", "ssid": "freifunk.net"}}

// What programs of communities write is recognized, and each row that is not taken says why.
func TestRead_Formats(t *testing.T) {
	const station = "kulturbahnhof-ost|public|52.5124|13.4203|freifunk.net|02:00:aa:10:00:01"
	for _, test := range []struct {
		file  string
		m     Mapping
		taken []string
		said  []string
	}{
		{
			"nodes-v1.json", community,
			[]string{station},
			[]string{`5: node "kulturbahnhof-ost": valid`, `20: node "gw01":  no coordinates: skipped`},
		},
		{
			"nodes-v2.json", community,
			[]string{station, "Bücherei|public|52.513|13.43|freifunk.net|0200aa100003"},
			[]string{
				`2: node "kulturbahnhof-ost": valid`, `3: node "Bücherei": valid`, `4: node "ohne-ort":  no coordinates: skipped`,
				`5: node "ohne-mac": not valid: mac_address is required`,
			},
		},
		{
			"meshviewer.json", community,
			[]string{station},
			[]string{`2: node "kulturbahnhof-ost": valid`, `3: node "gw01":  no coordinates: skipped`, "4: node 3: not valid: name is required"},
		},
		{"nodelist.json", community, []string{"kulturbahnhof-ost|public|52.5124|13.4203|freifunk.net|0200aa100001"}, []string{`2: node "kulturbahnhof-ost": valid`}},
		{
			"german.csv", community,
			[]string{station, `Café "Süd"|public|52.4801|13.4407|freifunk.net|0200.aa10.0003`},
			[]string{"2: valid", "3: valid", "4:  no coordinates: skipped", "5: not valid: lat must be a number, such as 40.7532"},
		},
		{
			"nodelist.json",
			Mapping{},
			nil,
			[]string{"after line 1: a list of nodes says of no node which type it is and which SSID it has: add --set type=public --set ssid=NAME"},
		},
	} {
		text, err := os.ReadFile("testdata/files/" + test.file)
		if err != nil {
			t.Fatal(err)
		}
		if said := outcomes(t, string(text), test.m); !slices.Equal(said, test.said) {
			t.Errorf("%s: it says\n%s\nwant\n%s", test.file, strings.Join(said, "\n"), strings.Join(test.said, "\n"))
		}
		rows, err := Read(strings.NewReader(string(text)), test.m)
		if err != nil {
			t.Fatal(err)
		}
		var taken []string
		for r, err := range rows {
			if c, fault := r.read(); err == nil && fault == nil && r.located() {
				f := c.registration
				taken = append(taken, fmt.Sprintf("%s|%s|%v|%v|%s|%s", f.Name, f.Type, f.Location.Lat, f.Location.Lng, f.Device.SSID, f.Device.MACAddress))
			}
		}
		if !slices.Equal(taken, test.taken) {
			t.Errorf("%s: it takes %q; want %q", test.file, taken, test.taken)
		}
	}
}

// A table may name its columns as it likes; a better name of a column wins.
func TestMapping(t *testing.T) {
	const rest = ",type,ssid\n"
	for _, test := range []struct {
		text string
		from map[string]string
		want string // an error, or the name, place and address of the device
	}{
		{"name,lat,lng,mac_address,type,ssid\nOne,1,2,02005e000001,home,x", nil, "One 1 2 02005e000001"},
		{"Host Name,Latitude,LON,Node-ID,type,ssid\nOne,1,2,02005e000001,home,x", nil, "there is no column name"},
		{"HOSTNAME,Latitude,LON,Node-ID,type,ssid\nOne,1,2,02005e000001,home,x", nil, "One 1 2 02005e000001"},
		{"hostname,name,y,x,node_id,mac,type,ssid\nbad,One,1,2,bad,02005e000001,home,x", nil, "One 1 2 02005e000001"},
		{"name,Ort,lat,lng,mac,type,ssid\nbad,One,1,2,02005e000001,home,x", map[string]string{"name": "ort"}, "One 1 2 02005e000001"},
		{"name,lat,lng,mac,type,ssid\nOne,1,2,02005e000001,home,x", map[string]string{"name": "Ort"}, "line 1: there is no column Ort; it names name, lat, lng, mac, type, ssid"},
		{"name,lat,lat,lng,mac" + rest, nil, "line 1: the column lat is there twice"},
		{"name,y,lng,mac" + rest, map[string]string{"lat": "lng"}, "there is no column lng"},
	} {
		rows, err := Read(strings.NewReader(test.text), Mapping{From: test.from})
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q: %v; want %s", test.text, err, test.want)
			}
			continue
		}
		for r := range rows {
			if got := fmt.Sprint(r.cells["name"], " ", r.cells["lat"], " ", r.cells["lng"], " ", r.cells["mac_address"]); got != test.want {
				t.Errorf("%q is read as %q; want %q", test.text, got, test.want)
			}
		}
	}
	for _, m := range []Mapping{{From: map[string]string{"colour": "x"}}, {Set: map[string]string{"colour": "x"}}} {
		if m.Check() == nil {
			t.Errorf("%v is taken", m)
		}
	}
}

// Whatever is in a file, it is refused row by row or as a whole, and nothing else is sent
// than what it says.
func TestRead_Hostile(t *testing.T) {
	const head = "name,type,lat,lng,ssid,mac_address\n"
	node := func(location string) string {
		return `{"nodes":[{"hostname":"One","mac":"02005e000001","location":` + location + `}]}`
	}
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "the file is empty"},
		{"UTF-16", "\xff\xfen\x00", "the file is UTF-16: save it as UTF-8"},
		{"Latin-1", head + "Caf\xe9,home,1,2,x,02005e000001", "2: not valid: name is not UTF-8: save the file as UTF-8"},
		{"Latin-1 in a document", `{"nodes":[{"hostname":"Caf` + "\xe9" + `","location":{"latitude":1,"longitude":2}}]}`, `1: node "Caf` + "\ufffd" + `": not valid: is not UTF-8: save the file as UTF-8`},
		{"not a number", head + "One,home,NaN,2,x,02005e000001", "2: not valid: lat must be a number, such as 40.7532"},
		{"infinity", head + "One,home,1,-Inf,x,02005e000001", "2: not valid: lng must be a number, such as 40.7532"},
		{"too large a number", head + "One,home,1e308,2,x,02005e000001", "2: not valid: lat must be -90 to 90"},
		{"a larger one", head + "One,home,1e309,2,x,02005e000001", "2: not valid: lat must be a number, such as 40.7532"},
		{"two commas", head + `One,home,"1,2,3",2,x,02005e000001`, "2: not valid: lat must be a number, such as 40.7532"},
		{"a thousand", head + `One,home,"1.000,5",2,x,02005e000001`, "2: not valid: lat must be a number, such as 40.7532"},
		{"a place that is text", node(`"here"`), `1: node "One":  no coordinates: skipped`},
		{"a place that is lists", node(`{"latitude":[1],"longitude":{}}`), `1: node "One": not valid: lat must be a number, such as 40.7532; lng must be a number, such as 40.7532`},
		{"far away", node(`{"latitude":1e308,"longitude":-1e308}`), `1: node "One": not valid: lat must be -90 to 90; lng must be -180 to 180`},
		{"a node that is none", `{"nodes":[7]}`, "1: node 1: not valid: must be a node: an object with its hostname, node_id and location"},
		{"nodes that are none", `{"nodes":7}`, "after line 1: this is neither GeoJSON"},
		{"a list", `[{"name":"One"}]`, "after line 1: this is neither GeoJSON"},
		{"nothing known", `{"points":[]}`, "after line 1: this is neither GeoJSON"},
		{"a name that writes to the terminal", `{"nodes":[{"hostname":"\u001b[2J` + strings.Repeat("x", 1000) + `"}]}`, `1: node "\x1b[2J` + strings.Repeat("x", 46) + `…":  no coordinates: skipped`},
		{"half", `{"nodes":[{"hostname":"One"}`, "after line 1: the file ends in the middle"},
		{"deep", `{"links":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `,"nodes":[]}`, "after line 1: this is nested too deeply"},
		{"deep in a node", `{"nodes":[` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `]}`, "after line 1: invalid character '[' exceeded max depth"},
		{"a huge line", head + strings.Repeat("x", 1<<20), "after line 1: this is longer than 256 KiB: is a quote missing?"},
		{"a huge node", `{"nodes":[{"hostname":"` + strings.Repeat("x", 1<<20) + `"}]}`, "after line 1: this is longer than 256 KiB: is a quote missing?"},
		{"a huge name of a column", strings.Repeat("x", 1<<20), "line 1: this is longer than 256 KiB: is a quote missing?"},
		{"twins", node(`{"latitude":1,"longitude":2}`)[:len(node(`{"latitude":1,"longitude":2}`))-2] + `,{"hostname":"Two","node_id":"02005E000001","location":{"latitude":1,"longitude":2}}]}`, `1: node "Two": not valid: mac_address is that of line 1 too`},
	} {
		said := outcomes(t, test.text, community)
		if len(said) == 0 || !strings.HasPrefix(said[len(said)-1], test.want) {
			t.Errorf("%s: it says %.300q; want %q", test.name, said, test.want)
		}
	}
}
