package store

import (
	"encoding/json"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

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
