package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// needed are the columns that a table must have.
var needed = []string{"name", "type", "lat", "lng", "ssid", "mac_address"}

// columns are the columns that a row can have.
var columns = append([]string{"name", "type", "lat", "lng", "address", "ssid", "mac_address"}, settingColumns()...)

func settingColumns() (names []string) {
	for _, s := range settings {
		names = append(names, s.column)
	}
	return names
}

// Columns says what the columns of a table hold, a line each.
func Columns() string {
	text := `  name                  3 to 50 characters
  type                  home, business or public
  lat, lng              decimal degrees, such as 40.7532
  ssid                  1 to 32 letters; an accented one counts as two, an emoji as four
  mac_address           as in 02:00:5e:10:00:01; also with -, . or no separator
  address               optional
`
	for _, s := range settings {
		text += fmt.Sprintf("  %-20s  %s\n", s.column, s.help)
	}
	return text
}

// row is a hotspot as a file describes it.
type row struct {
	line   int
	item   string            // which it is in a document, such as feature 3; empty in a table
	cells  map[string]string // by column; an empty cell is as good as none
	fault  string            // why the row could not be parsed
	unused []string          // other columns
}

// place returns where a row is, for people.
func (r row) place() string {
	if r.item != "" {
		return fmt.Sprintf("%d: %s", r.line, r.item)
	}
	return strconv.Itoa(r.line)
}

// candidate is a row that is a valid hotspot.
type candidate struct {
	registration client.Registration
	hotspot      beacon.Hotspot // as it will be
	settings     settingsOf
}

// rowFaults is what is wrong with a row, cell by cell.
type rowFaults []cellFault

type cellFault struct{ column, reason string }

func (f *rowFaults) add(column, reason string) {
	// The first fault of a cell is the cause of others.
	if !slices.ContainsFunc(*f, func(known cellFault) bool { return known.column == column }) {
		*f = append(*f, cellFault{column, reason})
	}
}

// addAll adds what the rules of package beacon say, if it is that.
func (f *rowFaults) addAll(err error) {
	if e, ok := errors.AsType[*beacon.Error](err); ok {
		for _, fault := range e.Fields {
			f.add(columnOf(fault.Field), fault.Message)
		}
	}
}

// String lists the faults in the order of the columns.
func (f rowFaults) String() string {
	slices.SortStableFunc(f, func(a, b cellFault) int { return columnRank(a.column) - columnRank(b.column) })
	var all []string
	for _, fault := range f {
		all = append(all, fault.column+" "+fault.reason)
	}
	return strings.Join(all, "; ")
}

func columnRank(column string) int {
	name, _, _ := strings.Cut(column, ".")
	return slices.Index(columns, name)
}

// checkTime is the time at which hotspots are checked; no rule depends on it.
var checkTime = time.Unix(0, 0)

// located reports whether a row says where the hotspot is.
func (r row) located() bool {
	return r.fault != "" || strings.TrimSpace(r.cells["lat"]) != "" || strings.TrimSpace(r.cells["lng"]) != ""
}

// read converts a row to a hotspot, with the rules that the server applies. It
// returns all faults at once.
func (r row) read() (candidate, error) {
	if r.fault != "" {
		return candidate{}, errors.New(r.fault)
	}
	var faults rowFaults
	at := func(column string) cell { return cell{r, column, &faults} }
	var set settingsOf
	for _, s := range settings {
		s.read(at(s.column), &set)
	}
	form := beacon.Registration{
		Name: at("name").text(), Type: at("type").text(),
		Location: beacon.Some(beacon.LocationForm{Lat: at("lat").number(), Lng: at("lng").number(), Address: at("address").text()}),
		Device:   beacon.Some(beacon.DeviceForm{SSID: at("ssid").text(), MAC: at("mac_address").text()}),
		Settings: beacon.Some(set.form),
	}
	hotspot, err := form.Validate("", "", checkTime)
	faults.addAll(err)
	if len(faults) > 0 {
		return candidate{}, errors.New(faults.String())
	}
	set.valid = hotspot.Settings
	return candidate{hotspot: hotspot, registration: registration(form, set.sent), settings: set}, nil
}

// registration returns what is sent: what the row says, and no more.
func registration(form beacon.Registration, set client.SettingsForm) client.Registration {
	place, device := form.Location.V, form.Device.V
	out := client.Registration{
		Name: form.Name.V, Type: client.Type(form.Type.V),
		Location: client.Place{Lat: place.Lat.V, Lng: place.Lng.V, Address: place.Address.V},
		Device:   client.AccessPoint{SSID: device.SSID.V, MACAddress: device.MAC.V},
	}
	if set != (client.SettingsForm{}) {
		out.Settings = &set
	}
	return out
}

func pointer[T any](v beacon.Opt[T]) *T {
	if !v.Set {
		return nil
	}
	return &v.V
}

// columnOf returns the column of a field of the API.
func columnOf(field string) string {
	for _, prefix := range []string{"location.", "device.", "settings."} {
		field = strings.TrimPrefix(field, prefix)
	}
	return field
}

// cell is a cell of a row. What is wrong with it goes into faults.
type cell struct {
	row    row
	column string
	faults *rowFaults
}

// text returns a cell. Spaces at the ends of an SSID are part of it.
func (c cell) text() beacon.Opt[string] {
	value := c.row.cells[c.column]
	if c.column != "ssid" {
		value = strings.TrimSpace(value)
	}
	if value == "" {
		return beacon.Opt[string]{}
	}
	return beacon.Some(value)
}

// decimalComma matches a number as much of Europe writes it.
var decimalComma = regexp.MustCompile(`^\s*-?[0-9]+,[0-9]+\s*$`)

// number parses a cell like a JSON number: no 0x10, no NaN. The decimal point may be a comma.
func (c cell) number() beacon.Opt[float64] {
	if text := c.row.cells[c.column]; decimalComma.MatchString(text) {
		c.row.cells[c.column] = strings.Replace(text, ",", ".", 1)
	}
	return parsed[float64](c, "must be a number, such as 40.7532")
}

// flag parses a cell that is true or false.
func (c cell) flag() beacon.Opt[bool] { return parsed[bool](c, "must be true or false") }

func parsed[T any](c cell, fault string) beacon.Opt[T] {
	text := c.text()
	if !text.Set {
		return beacon.Opt[T]{}
	}
	var value *T
	if err := json.Unmarshal([]byte(text.V), &value); err != nil || value == nil {
		c.faults.add(c.column, fault)
		return beacon.Opt[T]{}
	}
	return beacon.Some(*value)
}

// hours parses a cell that contains JSON.
func (c cell) hours() *client.OperatingHours {
	text := c.text()
	if !text.Set {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(text.V))
	decoder.DisallowUnknownFields()
	var hours *client.OperatingHours
	if err := decoder.Decode(&hours); err != nil || decoder.More() {
		c.faults.add(c.column, `must be JSON such as {"timezone":"America/New_York","weekly":[{"days":["mon"],"open":"08:00","close":"22:00"}]}`)
	}
	return hours
}

// hoursForm converts hours to the form that package beacon validates.
func hoursForm(hours *client.OperatingHours) beacon.Opt[beacon.HoursForm] {
	if hours == nil {
		return beacon.Opt[beacon.HoursForm]{}
	}
	weekly := []beacon.SpanForm{}
	for _, w := range hours.Weekly {
		weekly = append(weekly, beacon.SpanForm{Days: beacon.Some(w.Days), Open: beacon.Some(w.Open), Close: beacon.Some(w.Close)})
	}
	exceptions := []beacon.ExceptionForm{}
	for _, e := range hours.Exceptions {
		one := beacon.ExceptionForm{Date: beacon.Some(e.Date), Closed: beacon.Some(e.Closed)}
		if e.Open != "" || e.Close != "" {
			one.Open, one.Close = beacon.Some(e.Open), beacon.Some(e.Close)
		}
		exceptions = append(exceptions, one)
	}
	return beacon.Some(beacon.HoursForm{Timezone: beacon.Some(hours.Timezone), Weekly: beacon.Some(weekly), Exceptions: beacon.Some(exceptions)})
}
