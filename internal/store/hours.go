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

// pastHoursRow is the JSON of hours that are no longer in force. Hours have the form of
// hoursRow, and are empty for always open.
type pastHoursRow struct {
	Until int64           `json:"until"` // in microseconds
	Hours json.RawMessage `json:"hours,omitempty"`
}

func encodePastHours(past []beacon.PastHours) (string, error) {
	if len(past) == 0 {
		return "", nil
	}
	rows := make([]pastHoursRow, len(past))
	for i, p := range past {
		hours, err := encodeHours(p.Hours)
		if err != nil {
			return "", err
		}
		rows[i] = pastHoursRow{Until: micros(p.Until), Hours: json.RawMessage(hours)}
	}
	text, err := json.Marshal(rows)
	return string(text), err
}

func decodePastHours(text string) ([]beacon.PastHours, error) {
	if text == "" {
		return nil, nil
	}
	var rows []pastHoursRow
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return nil, fmt.Errorf("past_hours: %w", err)
	}
	past := make([]beacon.PastHours, len(rows))
	for i, row := range rows {
		hours, err := decodeHours(string(row.Hours))
		if err != nil {
			return nil, err
		}
		past[i] = beacon.PastHours{Until: fromMicros(row.Until), Hours: hours}
	}
	return past, nil
}

// periodRow is the JSON of a period in which a hotspot was in service. Its names are
// part of the schema: existing rows contain them.
type periodRow struct {
	From  int64 `json:"from"` // in microseconds
	Until int64 `json:"until"`
}

func encodePastService(past []beacon.Period) (string, error) {
	if len(past) == 0 {
		return "", nil
	}
	rows := make([]periodRow, len(past))
	for i, p := range past {
		rows[i] = periodRow{From: micros(p.From), Until: micros(p.Until)}
	}
	text, err := json.Marshal(rows)
	return string(text), err
}

func decodePastService(text string) ([]beacon.Period, error) {
	if text == "" {
		return nil, nil
	}
	var rows []periodRow
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return nil, fmt.Errorf("past_service: %w", err)
	}
	past := make([]beacon.Period, len(rows))
	for i, row := range rows {
		past[i] = beacon.Period{From: fromMicros(row.From), Until: fromMicros(row.Until)}
	}
	return past, nil
}
