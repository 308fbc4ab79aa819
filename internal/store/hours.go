package store

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// hoursRow is the JSON of operating hours. Its names are part of the schema: existing
// rows contain them.
type hoursRow struct {
	Timezone   string         `json:"timezone"`
	Weekly     []weeklyRow    `json:"weekly,omitempty"`
	Exceptions []exceptionRow `json:"exceptions,omitempty"`
}

type weeklyRow struct {
	Days  []beacon.Weekday `json:"days"`
	Open  int              `json:"open"`
	Close int              `json:"close"`
}

type exceptionRow struct {
	Date   string    `json:"date"`
	Closed bool      `json:"closed,omitempty"`
	Spans  []spanRow `json:"spans,omitempty"`
}

type spanRow struct {
	Open  int `json:"open"`
	Close int `json:"close"`
}

// newHoursRow returns nil for nil: always open.
func newHoursRow(hours *beacon.OperatingHours) *hoursRow {
	if hours == nil {
		return nil
	}
	row := &hoursRow{Timezone: hours.Timezone}
	for _, w := range hours.Weekly {
		row.Weekly = append(row.Weekly, weeklyRow(w))
	}
	for _, e := range hours.Exceptions {
		exception := exceptionRow{Date: e.Date, Closed: e.Closed}
		for _, s := range e.Spans {
			exception.Spans = append(exception.Spans, spanRow(s))
		}
		row.Exceptions = append(row.Exceptions, exception)
	}
	return row
}

// hours is the inverse of newHoursRow.
func (row *hoursRow) hours() *beacon.OperatingHours {
	if row == nil {
		return nil
	}
	hours := &beacon.OperatingHours{Timezone: row.Timezone}
	for _, w := range row.Weekly {
		hours.Weekly = append(hours.Weekly, beacon.WeeklySpan(w))
	}
	for _, e := range row.Exceptions {
		exception := beacon.HoursException{Date: e.Date, Closed: e.Closed}
		for _, s := range e.Spans {
			exception.Spans = append(exception.Spans, beacon.ExceptionSpan(s))
		}
		hours.Exceptions = append(hours.Exceptions, exception)
	}
	return hours
}

// encodeHours returns the text of a column, which is empty for always open.
func encodeHours(hours *beacon.OperatingHours) (string, error) {
	if hours == nil {
		return "", nil
	}
	text, err := json.Marshal(newHoursRow(hours))
	return string(text), errors.Join(err, storableText(hours.Timezone))
}

func decodeHours(text string) (*beacon.OperatingHours, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nil is a value here: always open
	}
	var row hoursRow
	if err := json.Unmarshal([]byte(text), &row); err != nil {
		return nil, fmt.Errorf("operating_hours: %w", err)
	}
	return row.hours(), nil
}

// pastHoursRow is the JSON of hours that are no longer in force.
type pastHoursRow struct {
	Until int64     `json:"until"` // in microseconds
	Hours *hoursRow `json:"hours,omitempty"`
}

func encodePastHours(past []beacon.PastHours) (string, error) {
	return encodeList(past, func(p beacon.PastHours) pastHoursRow { return pastHoursRow{micros(p.Until), newHoursRow(p.Hours)} })
}

func decodePastHours(text string) ([]beacon.PastHours, error) {
	return decodeList("past_hours", text, func(r pastHoursRow) beacon.PastHours {
		return beacon.PastHours{Until: fromMicros(r.Until), Hours: r.Hours.hours()}
	})
}
