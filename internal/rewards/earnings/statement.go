package earnings

import (
	"context"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/rewards"
)

// Statement returns a settled month with all of its rows (decision X6).
func (r *Earnings) Statement(ctx context.Context, p beacon.Principal, q StatementQuery) (Statement, error) {
	user, err := p.Resolve(q.User)
	if err != nil {
		return Statement{}, err
	}
	var s Statement
	settled := false
	v, err := r.View(ctx, func(_ rewards.View, b ledger.Books) (err error) {
		if rewards.ValidUser(user) {
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
	s.Policies = r.Known().In(q.Month)
	s.Each = func(ctx context.Context, fn func(ledger.Row, ledger.Hash) error) error {
		return r.eachRow(ctx, &s.Statement, fn)
	}
	return s, nil
}

// Rows calls fn for each row of a user, month by month in the order of its chain, with
// the hash of the chain: of settled months and of the days closed since.
func (r *Earnings) Rows(ctx context.Context, p beacon.Principal, user beacon.UserID, fn func(ledger.Row, ledger.Hash) error) error {
	user, err := p.Resolve(user)
	if err != nil || !rewards.ValidUser(user) {
		return err
	}
	read := func(some func(ledger.Books) error) error { return r.Store.Books(ctx, some) }
	var account ledger.Account
	var closing ledger.Closing
	found := false
	err = read(func(b ledger.Books) (err error) {
		if account, found, err = b.Account(ctx, user); err == nil && found {
			closing, found, err = b.Closing(ctx)
		}
		return err
	})
	if err != nil || !found {
		return err
	}
	for month := account.FirstDay.Month(); month <= closing.Day.Month(); month++ {
		if err := ledger.Walk(ctx, read, user, month, fn); err != nil {
			return err
		}
	}
	return nil
}

func (r *Earnings) noStatement(v rewards.View, month beacon.Month) error {
	text := "nothing was earned in " + month.String()
	if r.StatusOf(v, month, false) != rewards.Settled {
		text = fmt.Sprintf("%s is not settled yet: that happens %d hours after its end", month, int(rewards.Grace.Hours()))
	}
	return &beacon.Error{Kind: beacon.NotFound, Message: text}
}

// eachRow reads the rows of a statement day by day. Rows never change, so it needs no
// single snapshot, and a slow reader blocks nobody.
func (r *Earnings) eachRow(ctx context.Context, s *ledger.Statement, fn func(ledger.Row, ledger.Hash) error) error {
	read := func(some func(ledger.Books) error) error { return r.Store.Books(ctx, some) }
	last := ledger.Seed(s.User, s.Month)
	err := ledger.Walk(ctx, read, s.User, s.Month, func(row ledger.Row, chain ledger.Hash) error {
		last = chain
		return fn(row, chain)
	})
	if err == nil && last != s.Chain {
		err = fmt.Errorf("the rows of %s in %s do not add up to its statement: another program changed the database", s.User, s.Month)
	}
	return err
}
