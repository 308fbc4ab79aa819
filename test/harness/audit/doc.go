// Package audit is an auditor of rewards: it reads what a server answers about
// them and what stands in its tables, and holds both to each other and to the
// rows that everything follows from. It is used by tests alone, and serves
// invariants I5 (the books add up), I6 (everyone is settled once, and for good)
// and I7 (a beat counts once). Its one invariant: it shares no code with what it
// judges. Amounts are read digit by digit, sums, hashes and calendars are
// computed once more, and the tables are read with plain SQL.
package audit
