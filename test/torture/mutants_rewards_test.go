//go:build linux

package torture_test

// rewardsMutants pay too much, too little, or at the wrong time.
var rewardsMutants = []mutant{
	{
		name:  "who settles does not look whether another did",
		fault: "TestF11_SettleRace/postgres",
		file:  "internal/store/ledger_settle.go",
		old: "WHERE accounts.settled < excluded.settled AND accounts.hash = excluded.previous RETURNING user_id`\n\n" +
			"const putStatementsSQL = `INSERT INTO statements (` + statementColumns + `) VALUES (…)`",
		new: "RETURNING user_id`\n\n" +
			"const putStatementsSQL = `INSERT INTO statements (` + statementColumns + `) VALUES (…) ON CONFLICT (user_id, month) DO UPDATE SET previous = excluded.previous, hash = excluded.hash`",
		says: "accounts (-by the rows",
	},
	{
		name:  "a month is added to the totals as often as it is tried",
		fault: "TestF11_SettleKilled/sqlite",
		file:  "internal/store/ledger_settle.go",
		old:   "\n		WHERE hotspot_totals.through < excluded.through`",
		new:   "`",
		says:  "hotspot_totals (-by the rows",
	},
	{
		name:  "accounts are committed before their statements",
		fault: "TestF11_SettleKilled/sqlite",
		file:  "internal/store/ledger_settle.go",
		old:   `	statements = ofUsers(statements, fresh)`,
		new: `	if _, err := tx.exec("COMMIT"); err != nil {
		return nil, err
	}
	if _, err := tx.exec("BEGIN"); err != nil {
		return nil, err
	}
	statements = ofUsers(statements, fresh)`,
		says: "statements (-by the rows",
	},
	{
		name:  "what is held is released before its hold is over",
		fault: "TestF11_HoldsKilled/sqlite",
		file:  "internal/store/holds.go",
		old:   "AND month <= $3 AND state <> 'active' ORDER BY user_id",
		new:   "AND month <= $3 ORDER BY user_id",
		says:  "held days are",
	},
	{
		name:  "a decision about a hold is committed before its audit row",
		fault: "TestF11_HoldsKilled/sqlite",
		file:  "internal/store/holds.go",
		old:   `	return tx.exec(updateHoldSQL, string(h.User), int64(h.Number), string(h.State), micros(h.Until), values[7], values[8], was)`,
		new: `	n, err = tx.exec(updateHoldSQL, string(h.User), int64(h.Number), string(h.State), micros(h.Until), values[7], values[8], was)
	for _, end := range []string{"COMMIT", "BEGIN"} {
		if _, err := tx.exec(end); err != nil {
			return 0, err
		}
	}
	return n, err`,
		says: "before the COMMIT, made",
	},
	{
		name:  "the chain of hashes leaves rows out",
		fault: "TestF11_SettleKilled/postgres",
		file:  "internal/rewards/closing/close.go",
		old:   `user.Chain.Next(row)`,
		new:   `user.Chain`,
		says:  "user_months (-by the rows",
	},
	{
		name:  "a day is closed while it lasts",
		fault: "TestF14_Thrice",
		file:  "internal/rewards/closing/close.go",
		old:   `if !ok || day >= final {`,
		new:   `if !ok || day > final {`,
	},
	{
		name:  "what is settled is not, once the clock is set back",
		fault: "TestF12_ClockJumps/sqlite",
		file:  "internal/rewards/earnings/summary.go",
		old:   `		return r.summarize(ctx, s, rewards.AnyMonth)`,
		new: `		all, err := r.summarize(ctx, s, rewards.AnyMonth)
		if v, _ := r.View(ctx, nil); month < v.Month-1 {
			all.Settled = 0
		}
		return all, err`,
		says: "was settled, and now",
	},
	{
		name:  "a change is as old as the clock says",
		fault: "TestF12_SetWhileRunning/sqlite",
		file:  "internal/beacon/hotspot.go",
		old:   `if now.After(h.UpdatedAt) {`,
		new:   `if true {`,
		says:  "updated_at was",
	},
	{
		name:  "a clock is believed however far ahead it is",
		fault: "TestF12_FarAhead/sqlite",
		file:  "internal/clock/consult.go",
		old:   `enough && at.Steady >= wait {`,
		new:   `at.Steady >= min(wait, SteadyFor) || !enough && at.Steady >= SteadyFor {`,
		says:  "days are closed, and none is over",
	},
	{
		name:  "servers do not look at each other's clocks",
		fault: "TestF12_OneAhead",
		file:  "internal/clock/consult.go",
		old:   `if s.lives && machine.Sub(s.since) < aliveFor {`,
		new:   `if s.lives && machine.Sub(s.since) < -aliveFor {`,
	},
	{
		name:  "nobody is told of beats that are too late",
		fault: "TestF12_ServerBehind",
		file:  "internal/telemetry/late.go",
		old:   `	if late > 0 {`,
		new:   `	if late > 1<<40 {`,
		says:  "nobody is told",
	},
	{
		name:  "limits count by a clock that can be set",
		fault: "TestF12_Limits",
		file:  "internal/api/edge/guard.go",
		old:   `now := time.Now() // of the machine: limits count real time`,
		new:   `now := e.Now()`,
		says:  "the limit let",
	},
	{
		name:  "the database says when a month was settled",
		fault: "TestF12_DatabaseClock",
		file:  "internal/store/ledger_settle.go",
		old:   "(month, finished_at) VALUES ($1, $2)",
		new:   "(month, finished_at) VALUES ($1, CAST(extract(epoch FROM now()) * 1000000 AS bigint) + 0 * CAST($2 AS bigint))",
		says:  "finished_at",
	},
	{
		name:  "the last month is the same day, a month before",
		fault: "TestF13_Periods/America/New_York",
		file:  "internal/rewards/earnings/summary.go",
		old: `	if q.Period == Last {
		month--
	}`,
		new: `	if q.Period == Last {
		month = beacon.MonthOf(r.Now().AddDate(0, -1, 0))
	}`,
		says: "last is from",
	},
	{
		name:  "months begin when they do at the place of the server",
		fault: "TestF13_Periods/Asia/Kathmandu",
		file:  "internal/beacon/calendar.go",
		old:   `	t = t.UTC()`,
		new:   `	t = t.Local()`,
		says:  "current is from",
	},
	{
		name:  "days belong to the month of the place of the server",
		fault: "TestF13_Minutes/America/New_York",
		file:  "internal/beacon/calendar.go",
		old:   `func (d Day) Month() Month { return MonthOf(d.Time()) }`,
		new: `func (d Day) Month() Month {
	t := d.Time().Local()
	return Month((t.Year()-1970)*monthsAYear + int(t.Month()) - 1)
}`,
	},
	{
		name:  "an old beat that comes again is a new one",
		fault: "TestF14_Thrice",
		file:  "internal/heartbeat/beat.go",
		old:   `return below >= windowSize || s.window>>below&1 != 0`,
		new:   `return below >= 1<<40`,
		says:  "the day is",
	},
	{
		name:  "what comes again is counted again",
		fault: "TestF14_Storm/sqlite",
		file:  "internal/heartbeat/beat.go",
		old:   `return below >= windowSize || s.window>>below&1 != 0`,
		new:   `return below >= windowSize`,
		says:  "minutes served",
	},
	{
		name:  "counters that started again go on where they were",
		fault: "TestF14_Traffic/sqlite",
		file:  "internal/heartbeat/judge.go",
		old:   `	b.Boot = now.id + generation`,
		new:   `	b.Boot = now.id`,
		says:  "counters start again inside a boot",
	},
	{
		name:  "numbers that start again are repeats",
		fault: "TestF14_Traffic/sqlite",
		file:  "internal/heartbeat/judge.go",
		old:   `	case !another || bytes > earlier():`,
		new:   `	case another && bytes > earlier():`,
		says:  "numbers start again at once",
	},
	{
		name:  "what is reported after closing time is lost",
		fault: "TestF14_Traffic/sqlite",
		file:  "internal/heartbeat/backdate.go",
		old:   `			return uint8(min(at-h, hour(at.ofDay())+1))`,
		new:   `			return 0`,
		says:  "cut off when it closes",
	},
	{
		name:  "counters begin anew with each day",
		fault: "TestF14_Storm/postgres",
		file:  "internal/heartbeat/open_days.go",
		old:   `		b.raiseBase(prev.upTo[hoursADay-1])`,
		new:   ``,
		says:  "bytes are new",
	},
	{
		name:  "a reopening commits its corrections before the sums",
		fault: "TestF12_Reopen/sqlite",
		file:  "internal/store/ledger_reopen.go",
		old:   "			putRows(tx, putHotspotMonthsSQL",
		new: `			tx.write("COMMIT"),
			tx.write("BEGIN"),
			putRows(tx, putHotspotMonthsSQL`,
	},
	{
		name:  "rows of days that were opened again still count",
		fault: "TestF12_Reopen/sqlite",
		file:  "internal/ledger/correct.go",
		old:   "return r.Revision >= all.ValidFrom(r.Day)",
		new:   "return true",
	},
	{
		name:  "how far a day is closed is committed before its rows",
		fault: "TestF15_Restart/sqlite",
		file:  "internal/store/ledger_close.go",
		old:   `putRows(tx, put, page.Rows`,
		new: `			tx.write("COMMIT"),
			tx.write("BEGIN"),
			putRows(tx, put, page.Rows`,
	},
	{
		name:  "rows and sums are two transactions",
		fault: "TestF15_Restart/postgres",
		file:  "internal/store/ledger_close.go",
		old:   `putRows(tx, putHotspotMonthsSQL`,
		new: `			tx.write("COMMIT"),
			tx.write("BEGIN"),
			putRows(tx, putHotspotMonthsSQL`,
	},
	{
		name:  "a closing goes on from the beginning of the day",
		fault: "TestF15_Restart/sqlite",
		file:  "internal/rewards/closing/close.go",
		old:   `page.From, rows = v.Closing.Upto, v.Closing.Hotspots`,
		new:   `rows = v.Closing.Hotspots`,
	},
	{
		name:  "a day begins without the minutes that the evening before served",
		fault: "TestF26_Year",
		file:  "internal/heartbeat/open_days.go",
		old:   "		r.served.add(0, over)\n",
		new:   "",
		says:  "days were not paid as due",
	},
	{
		name:  "the traffic of a boot is dropped at midnight",
		fault: "TestF26_Replicas",
		file:  "internal/heartbeat/boot.go",
		old:   "return b.upTo[0] - b.base",
		new:   "return 0",
		says:  "days were not paid as due",
	},
	{
		name:  "what is known only of the day right before is whether it is final",
		fault: "TestF26_Year",
		file:  "internal/heartbeat/open_days.go",
		old:   "	r.early = true // otherwise prev would not be in memory\n",
		new:   "	r.early = gap == 1\n",
		says:  "days were not paid as due",
	},
	{
		name:  "a day on which we were down from end to end has no record",
		fault: "TestF26_Year",
		file:  "internal/heartbeat/open_days.go",
		old:   "	return !k.deleted || day == today && k.newest().day > today || k.inService(day) != dayBits{}\n",
		new:   "	return day == today && !k.deleted || k.expects(day) != dayBits{}\n",
		says:  "days were not paid as due",
	},
}
