package statement

import (
	"fmt"
	"maps"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// holds are the held rows that a statement leaves, and those of earlier ones that it ends.
type holds struct {
	held    map[ledger.Hash]heldRow
	earlier map[ledger.Hash]heldRow // that no statement read so far has
	since   beacon.Month            // all held rows are known since then
}

// newHolds returns the holds of a month. It returns an error if a row has ended that should
// be known, and is not.
func newHolds(m *Month, previous ledger.Hash) (*holds, error) {
	h := &holds{m.held, m.earlier, m.Sum.Month}
	if previous.IsZero() {
		h.since = ledger.NoMonth
	}
	for hash, row := range h.earlier {
		if row.day.Month() >= h.since {
			return nil, fmt.Errorf("%s was not held when %s was settled, or was paid before", hash, row.day.Month())
		}
	}
	return h, nil
}

// follow checks how the held rows of earlier statements ended.
func (h *holds) follow(before *holds) error {
	if h == nil || before == nil {
		return nil // nothing was read
	}
	held := maps.Clone(before.held)
	for hash, row := range h.earlier {
		if row.day.Month() >= before.since {
			if err := take(held, hash, row); err != nil {
				return err
			}
			delete(h.earlier, hash)
		}
	}
	maps.Copy(h.held, held)
	h.since = before.since
	return nil
}
