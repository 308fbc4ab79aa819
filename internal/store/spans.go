package store

import (
	"context"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// ExtendSpan records that this node was up between two minutes since 1970, both
// included. The span that begins with from grows and never shrinks.
func (db *DB) ExtendSpan(ctx context.Context, from, to int64) error {
	op := &operation{order: "span " + db.node}
	op.run = func(tx *transaction) (changes, error) {
		_, err := tx.exec(sqlText.extendSpan, db.node, from, to)
		return nil, err
	}
	return db.committer.do(ctx, op)
}

// Spans returns the spans of all nodes that end at the minute since or later, ordered
// by start. They may overlap.
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
