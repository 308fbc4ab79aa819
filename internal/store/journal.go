package store

import (
	"cmp"
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/lease"
)

// AppendBeats writes a batch of heartbeats as the next row of this node's journal and
// returns its number. It does not interpret the batch.
//
// If the outcome is unknown, the batch may be in the journal or may still appear in it,
// once. After a later call has succeeded this no longer changes, and Journal shows
// which.
func (db JournalTable) AppendBeats(ctx context.Context, batch []byte) (seq int64, err error) {
	batch = append([]byte{}, batch...) // the caller may leave before it is written; nil would be NULL
	var number int64                   // of the last try
	op := &operation{}
	op.run = func(tx *transaction) (_ changes, err error) {
		number, err = db.journal.stream.next(tx, 1)
		if err != nil {
			return nil, err
		}
		return nil, tx.append(`INSERT INTO journal (node, seq, batch) VALUES ($1, $2, $3)`, db.node, number, batch)
	}
	if err := db.journal.do(ctx, op); err != nil {
		return 0, err
	}
	return number, nil
}

const journalHeadsSQL = `SELECT node, (SELECT coalesce(max(seq), 0) FROM journal WHERE journal.node = nodes.node)
		FROM nodes`

// Node returns the name of the node to whose journal beats are appended.
func (db JournalTable) Node() string { return db.node }

// JournalHeads returns the number of the newest journal row of every node, or 0 if none
// is left.
func (db JournalTable) JournalHeads(ctx context.Context) (map[string]int64, error) {
	return readMap[string, int64](ctx, db, same, journalHeadsSQL)
}

const journalSQL = `SELECT seq, batch FROM journal WHERE node = $1 AND seq > $2 ORDER BY seq LIMIT $3`

// Journal returns up to limit rows of a node's journal after a number, in order and
// without gaps except for trimmed ones.
func (db JournalTable) Journal(ctx context.Context, node string, after int64, limit int) ([]beacon.JournalRow, error) {
	return list(ctx, db, func(row *beacon.JournalRow) []any { return []any{&row.Seq, &row.Batch} }, journalSQL, node, after, max(limit, 0))
}

const journalRowsSQL = `SELECT coalesce(sum((SELECT coalesce(max(seq), 0) FROM journal WHERE journal.node = nodes.node)
		- (SELECT coalesce(min(seq) - 1, 0) FROM journal WHERE journal.node = nodes.node)), 0) FROM nodes`

// JournalRows returns the number of rows in the journals of all nodes. It is computed
// from the first and last numbers, because journals have no gaps.
func (db JournalTable) JournalRows(ctx context.Context) (rows int64, err error) {
	_, err = readRow(ctx, db, []any{&rows}, journalRowsSQL)
	return rows, err
}

// trimSize keeps transactions short, because other writes wait for them.
const trimSize = 50

const (
	journalRangeSQL = `SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) FROM journal WHERE node = $1`
	trimJournalSQL  = `UPDATE nodes SET journal_trimmed = $2 WHERE node = $1 AND journal_trimmed < $2`
)

// TrimJournal deletes the rows of a node's journal up to a number. It returns Conflict
// if the lease was lost; some of them may have been deleted before.
func (db JournalTable) TrimJournal(ctx context.Context, l lease.Lease, node string, upTo int64) error {
	for done := false; !done; {
		err := db.fenced(ctx, l, func(tx *transaction) error {
			var first, last int64
			if _, err := tx.row([]any{&first, &last}, journalRangeSQL, node); err != nil {
				return err
			}
			end := min(upTo, last, first+trimSize-1)
			if done = end == min(upTo, last); end < first || end == 0 {
				return nil
			}
			return cmp.Or(tx.write(trimJournalSQL, node, end), tx.write(`DELETE FROM journal WHERE node = $1 AND seq <= $2`, node, end))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
