package store

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// ExtendSpan notes that this node was up from one minute since 1970 to another,
// both included. The span that begins with from grows, and never shrinks.
func (db *DB) ExtendSpan(ctx context.Context, from, to int64) error {
	op := &operation{order: "span " + db.node}
	op.run = func(tx *transaction) (changes, error) {
		_, err := tx.exec(sqlText.extendSpan, db.node, from, to)
		return nil, err
	}
	return db.committer.do(ctx, op)
}

// Spans answers the spans of all nodes that end with the minute since or later,
// by their beginning. They may overlap.
func (db *DB) Spans(ctx context.Context, since int64) ([]beacon.ServiceSpan, error) {
	return query(ctx, db, func(scan func(...any) error) (s beacon.ServiceSpan, err error) {
		return s, scan(&s.From, &s.To)
	}, sqlText.spans, since)
}

// PruneSpans deletes the spans that end before a minute.
func (db *DB) PruneSpans(ctx context.Context, before int64) error {
	op := &operation{order: "span"}
	op.run = func(tx *transaction) (changes, error) {
		_, err := tx.exec(sqlText.pruneSpans, before)
		return nil, err
	}
	return db.committer.do(ctx, op)
}
