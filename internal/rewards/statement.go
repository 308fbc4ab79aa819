package rewards

import (
	"context"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
)

// Statement returns a settled month with all of its rows (decision X6).
func (r *Rewards) Statement(ctx context.Context, p beacon.Principal, q StatementQuery) (Statement, error) {
	user, err := whose(p, q.User)
	if err != nil {
		return Statement{}, err
	}
	var s Statement
	settled := false
	v, err := r.view(ctx, func(_ view, b ledger.Books) (err error) {
		if someone(user) {
			s.Statement, settled, err = b.Statement(ctx, user, q.Month)
		}
		if err == nil && settled {
			err = r.checkHash(ctx, &s.Statement)
		}
		return err
	})
	if err != nil {
		return Statement{}, err
	}
	if !settled {
		return Statement{}, r.noStatement(v, q.Month)
	}
	s.Policies = r.book().In(q.Month)
	s.Each = func(ctx context.Context, fn func(ledger.Row, ledger.Hash) error) error {
		return r.eachRow(ctx, &s.Statement, fn)
	}
	return s, nil
}

func (r *Rewards) noStatement(v view, month beacon.Month) error {
	text := "nothing was earned in " + month.String()
	if r.status(v, month, false) != Settled {
		text = fmt.Sprintf("%s is not settled yet: that happens %d hours after its end", month, int(Grace.Hours()))
	}
	return &beacon.Error{Kind: beacon.NotFound, Message: text}
}

// eachRow reads the rows of a statement day by day. Rows never change, so it needs no
// single snapshot, and a slow reader blocks nobody.
func (r *Rewards) eachRow(ctx context.Context, s *ledger.Statement, fn func(ledger.Row, ledger.Hash) error) error {
	chain := ledger.Seed(s.User, s.Month)
	var rows []ledger.Row
	for day := s.Month.First(); day <= s.Month.Last(); day++ {
		err := r.Store.Books(ctx, func(b ledger.Books) error {
			rows = rows[:0]
			return b.Rows(ctx, s.User, day, func(row ledger.Row) error {
				rows = append(rows, row)
				return nil
			})
		})
		if err != nil {
			return err
		}
		for i := range rows {
			chain = chain.Next(&rows[i])
			if err := fn(rows[i], chain); err != nil {
				return err
			}
		}
	}
	if chain != s.Chain {
		return fmt.Errorf("the rows of %s in %s do not add up to its statement: another program changed the database", s.User, s.Month)
	}
	return nil
}
