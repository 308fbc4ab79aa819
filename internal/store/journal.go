package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// AppendBeats writes a batch of heartbeats as the next row of this node's journal and
// returns its number. It does not interpret the batch.
//
// If the outcome is unknown, the batch may be in the journal or may still appear in it,
// once. After a later call has succeeded this no longer changes, and Journal shows
// which.
func (db *DB) AppendBeats(ctx context.Context, batch []byte) (seq int64, err error) {
	batch = append([]byte{}, batch...) // the caller may leave before it is written; nil would be NULL
	var number int64                   // of the last try
	op := &operation{}
	op.run = func(tx *transaction) (_ changes, err error) {
		number, err = db.journal.stream.next(tx, 1)
		if err != nil {
			return nil, err
		}
		return nil, tx.append(sqlText.insertBeats, db.node, number, batch)
	}
	if err := db.journal.do(ctx, op); err != nil {
		return 0, err
	}
	return number, nil
}

// JournalHeads returns the number of the newest journal row of every node, or 0 if none
// is left.
func (db *DB) JournalHeads(ctx context.Context) (map[string]int64, error) {
	return queryMap[string, int64](ctx, db, sqlText.journalHeads)
}

// Journal returns up to limit rows of a node's journal after a number, in order and
// without gaps except for trimmed ones.
func (db *DB) Journal(ctx context.Context, node string, after int64, limit int) ([]beacon.JournalRow, error) {
	return query(ctx, db, func(row *beacon.JournalRow) ([]any, func() error) {
		return []any{&row.Seq, &row.Batch}, func() error {
			row.Batch = slices.Clip(row.Batch)
			return nil
		}
	}, sqlText.journal, node, after, max(limit, 0))
}

// JournalRows returns the number of rows in the journals of all nodes. It is computed
// from the first and last numbers, because journals have no gaps.
func (db *DB) JournalRows(ctx context.Context) (rows int64, err error) {
	_, err = db.queryRow(ctx, []any{&rows}, sqlText.journalRows)
	return rows, err
}

// trimSize keeps transactions short, because other writes wait for them.
const trimSize = 50

// TrimJournal deletes the rows of a node's journal up to a number. It returns Conflict
// if the lease was lost; some of them may be deleted by then.
func (db *DB) TrimJournal(ctx context.Context, l lease.Lease, node string, upTo int64) error {
	for done := false; !done; {
		err := db.fenced(ctx, l, func(tx *transaction) error {
			var first, last int64
			if _, err := tx.row([]any{&first, &last}, sqlText.journalRange, node); err != nil {
				return err
			}
			end := min(upTo, last, first+trimSize-1)
			if done = end == min(upTo, last); end < first || end == 0 {
				return nil
			}
			return cmp.Or(tx.write(sqlText.trimJournal, node, end), tx.write(sqlText.deleteBeats, node, end))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
