package store

import "context"

// scanner reads many rows: a DB outside of any transaction, books inside of one.
type scanner interface {
	scan(ctx context.Context, rows bulk, targets []any, each func() (stopped, failed error), args ...any) error
}

// list reads all rows of a query.
func list[T any](ctx context.Context, from scanner, rows bulk, row rowReader[T], args ...any) ([]T, error) {
	var all []T
	targets, value := row()
	err := from.scan(ctx, rows, targets, func() (stopped, failed error) {
		one, err := value()
		all = append(all, one)
		return nil, err
	}, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// first reads the single row of a query, and reports whether there was one.
func first[T any](ctx context.Context, from scanner, rows bulk, row rowReader[T], args ...any) (one T, any bool, err error) {
	all, err := list(ctx, from, rows, row, args...)
	if err != nil || len(all) == 0 {
		return one, false, err
	}
	return all[0], true, nil
}

// firstAgain is first for a DB, with retries.
func firstAgain[T any](ctx context.Context, db *DB, rows bulk, row rowReader[T], args ...any) (one T, any bool, err error) {
	err = db.retrying(ctx, func() (err error) {
		one, any, err = first(ctx, db, rows, row, args...)
		return err
	})
	return one, any, err
}

// listAgain is list for a DB, with retries.
func listAgain[T any](ctx context.Context, db *DB, rows bulk, row rowReader[T], args ...any) (all []T, err error) {
	err = db.retrying(ctx, func() (err error) {
		all, err = list(ctx, db, rows, row, args...)
		return err
	})
	return all, err
}
