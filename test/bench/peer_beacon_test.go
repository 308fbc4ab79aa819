package bench

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// onBeacon serves a world as it is served to all.
func onBeacon(b *testing.B, name string, w *peerWorld, n int) *contestant {
	b.Helper()
	subject := serveBeacon(b, "--db", w.file, "--rate-limit", hugeLimit)
	w.subject = subject
	size := fmt.Sprintf("%.0f B of memory", subject.memory(b)/float64(n))
	w.choosePlaces(b)
	at := map[geo.Point]string{}
	for i, place := range w.places {
		at[place] = w.requests[i]
	}
	return &contestant{
		name: name,
		does: "the whole answer over HTTP, with key, limits and log",
		ask: func(place geo.Point) ([]neighbour, error) {
			return readNearby(fetch(b, subject, at[place]).Body)
		},
		drive:   func(_, first, n int) error { return drive(subject.addr, w.requests, first, n) },
		cpu:     func() float64 { return subject.cpu(b) },
		perTurn: perTurn,
		size:    size,
	}
}

// readNearby takes an answer of Beacon's apart.
func readNearby(body []byte) (all []neighbour, err error) {
	var answer struct{ Data []json.RawMessage }
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	for _, raw := range answer.Data {
		var named struct{ ID string }
		if err := json.Unmarshal(raw, &named); err != nil {
			return nil, err
		}
		distance := distanceMember.FindSubmatch(raw)
		if distance == nil {
			return nil, fmt.Errorf("no distance in %s", raw)
		}
		meters, err := strconv.ParseFloat(string(distance[1]), 64)
		if err != nil {
			return nil, err
		}
		all = append(all, neighbour{named.ID, string(distanceMember.ReplaceAll(raw, nil)), meters})
	}
	return all, nil
}

// onBare serves one answer of Beacon's to all, the same bytes.
func onBare(b *testing.B, w *peerWorld) *contestant {
	b.Helper()
	limit := bare(b, fetch(b, w.subject, w.requests[0]))
	return &contestant{
		name:    "bare `net/http` handler",
		does:    "writes the same bytes",
		target:  "1.4",
		drive:   func(_, first, n int) error { return drive(limit.addr, w.requests, first, n) },
		cpu:     func() float64 { return limit.cpu(b) },
		perTurn: perTurn,
	}
}
