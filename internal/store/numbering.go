package store

import "time"

// numbering assigns the rows of one stream of a node their numbers: 1, 2, 3, … without
// a gap. That works because one committer writes the stream, one transaction at a time.
// The primary key of the stream protects the numbers: if an older transaction of ours
// is still pending in the database, the next one waits for it and then either succeeds
// or finds its number taken.
type numbering struct {
	node       string
	opened     time.Time
	last       string // the query for the number of the last row
	head       int64
	known      bool // head is known; false after a COMMIT with an unknown outcome
	moved      bool // the session is not the one that wrote last
	registered bool // our row in nodes is known to be committed
}

// next assigns n numbers, starting with first. They take effect once tx is committed.
func (s *numbering) next(tx *transaction, n int) (first int64, err error) {
	if !s.known || s.moved {
		if err := s.look(tx); err != nil {
			return 0, err
		}
	}
	if !s.registered && tx.numbered == 0 {
		if _, err := tx.exec(sqlText.insertNode, s.node, micros(s.opened)); err != nil {
			return 0, err
		}
	}
	first = s.head + tx.numbered + 1
	tx.numbered += int64(n)
	return first, nil
}

// look reads the head from the database. It may be ahead of what we know, if the
// response to a COMMIT was lost or others write to the stream too, but never behind.
func (s *numbering) look(tx *transaction) error {
	var head int64
	if _, err := tx.row(func(scan func(...any) error) error { return scan(&head) }, s.last, s.node); err != nil {
		return err
	}
	if head < s.head {
		tx.failed = wentBack(s.node, s.head, head) // for all operations in the group
		return tx.failed
	}
	s.head, s.known, s.moved = head, true, false
	return nil
}

// committed advances the head by the numbers that tx has taken.
func (s *numbering) committed(tx *transaction) {
	s.head += tx.numbered
	s.registered = s.registered || tx.numbered > 0
}
