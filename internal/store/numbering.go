package store

import "time"

// numbering gives the rows of one stream of a node their numbers: 1, 2, 3, …
// without a gap. That works because one committer writes the stream, a
// transaction at a time. The primary key of the stream guards the numbers:
// should an older transaction of ours still linger in the database, the next
// one waits for it and then either succeeds or is told that its number is taken.
type numbering struct {
	node       string
	opened     time.Time
	last       string // the query for the number of the last row
	head       int64
	known      bool // the head is: not after a COMMIT with an unknown outcome
	moved      bool // the session is another than the one that wrote last
	registered bool // our row in nodes is known to be committed
}

// next gives n numbers, from first on. They count once tx is committed.
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

// look finds the head where the stream is. It may be further on than we know, where
// the answer to a COMMIT was lost or others write to the stream too, and never
// less far.
func (s *numbering) look(tx *transaction) error {
	var head int64
	if _, err := tx.row(func(scan func(...any) error) error { return scan(&head) }, s.last, s.node); err != nil {
		return err
	}
	if head < s.head {
		tx.failed = wentBack(s.node, s.head, head) // for all who are in it
		return tx.failed
	}
	s.head, s.known, s.moved = head, true, false
	return nil
}

// committed counts what tx has numbered.
func (s *numbering) committed(tx *transaction) {
	s.head += tx.numbered
	s.registered = s.registered || tx.numbered > 0
}
