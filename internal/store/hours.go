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
	return &hoursRow{
		Timezone: hours.Timezone,
		Weekly:   mapped(hours.Weekly, func(w beacon.WeeklySpan) weeklyRow { return weeklyRow(w) }),
		Exceptions: mapped(hours.Exceptions, func(e beacon.HoursException) exceptionRow {
			return exceptionRow{e.Date, e.Closed, mapped(e.Spans, func(s beacon.ExceptionSpan) spanRow { return spanRow(s) })}
		}),
	}
}

// hours is the inverse of newHoursRow.
func (row *hoursRow) hours() *beacon.OperatingHours {
	if row == nil {
		return nil
	}
	return &beacon.OperatingHours{
		Timezone: row.Timezone,
		Weekly:   mapped(row.Weekly, func(w weeklyRow) beacon.WeeklySpan { return beacon.WeeklySpan(w) }),
		Exceptions: mapped(row.Exceptions, func(e exceptionRow) beacon.HoursException {
			return beacon.HoursException{
				Date: e.Date, Closed: e.Closed,
				Spans: mapped(e.Spans, func(s spanRow) beacon.ExceptionSpan { return beacon.ExceptionSpan(s) }),
			}
		}),
	}
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
	for _, p := range past {
		if p.Hours != nil && storableText(p.Hours.Timezone) != nil {
			return "", storableText(p.Hours.Timezone)
		}
	}
	return encodeList(past, func(p beacon.PastHours) pastHoursRow { return pastHoursRow{micros(p.Until), newHoursRow(p.Hours)} })
}

func decodePastHours(text string) ([]beacon.PastHours, error) {
	return decodeList("past_hours", text, func(r pastHoursRow) beacon.PastHours {
		return beacon.PastHours{Until: fromMicros(r.Until), Hours: r.Hours.hours()}
	})
}
