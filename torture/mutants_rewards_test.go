//go:build linux

package torture_test

// rewardsMutants pay too much, too little, or at the wrong time.
var rewardsMutants = []mutant{
	{
		name:  "who settles does not look whether another did",
		fault: "TestF11_SettleRace/postgres",
		file:  "store/sql_rewards.go",
		old: "WHERE accounts.settled < excluded.settled AND accounts.hash = excluded.previous RETURNING user_id`)),\n" +
			"	putStatements: [rewardChunks]string(chunks(rewardChunks, 13, `INSERT INTO statements (`+statementColumns+`) VALUES `, ``)),",
		new: "RETURNING user_id`)),\n" +
			"	putStatements: [rewardChunks]string(chunks(rewardChunks, 13, `INSERT INTO statements (`+statementColumns+`) VALUES `,\n" +
			"		` ON CONFLICT (user_id, month) DO UPDATE SET previous = excluded.previous, hash = excluded.hash`)),",
		says: "accounts (-by the rows",
	},
	{
		name:  "a day is closed while it lasts",
		fault: "TestF14_Thrice",
		file:  "rewards/close.go",
		old:   `if !ok || day >= final {`,
		new:   `if !ok || day > final {`,
	},
	{
		name:  "what is settled is not, once the clock is set back",
		fault: "TestF12_ClockJumps/sqlite",
		file:  "rewards/summary.go",
		old:   `		return r.summarize(ctx, s, anyMonth)`,
		new: `		all, err := r.summarize(ctx, s, anyMonth)
		if v, _ := r.view(ctx, nil); month < v.month-1 {
			all.Settled = 0
		}
		return all, err`,
		says: "was settled, and now",
	},
	{
		name:  "an old beat that comes again is a new one",
		fault: "TestF14_Thrice",
		file:  "vitals/seqs.go",
		old:   `return below >= 64 || s.window>>below&1 != 0`,
		new:   `return false`,
		says:  "the day is",
	},
	{
		name:  "how far a day is closed is committed before its rows",
		fault: "TestF15_Restart/sqlite",
		file:  "store/closing.go",
		old: `		for _, write := range []func() error{
			func() error { return putRows(tx, rewardText.putLedger`,
		new: `		if _, err := tx.exec("COMMIT"); err != nil {
			return err
		}
		if _, err := tx.exec("BEGIN"); err != nil {
			return err
		}
		for _, write := range []func() error{
			func() error { return putRows(tx, rewardText.putLedger`,
	},
	{
		name:  "rows and sums are two transactions",
		fault: "TestF15_Restart/postgres",
		file:  "store/closing.go",
		old:   `			func() error { return putRows(tx, rewardText.putHotspotMonths`,
		new: `			func() error { _, err := tx.exec("COMMIT"); return err },
			func() error { _, err := tx.exec("BEGIN"); return err },
			func() error { return putRows(tx, rewardText.putHotspotMonths`,
	},
	{
		name:  "a closing goes on from the beginning of the day",
		fault: "TestF15_Restart/sqlite",
		file:  "rewards/close.go",
		old:   `page.From, rows = v.closing.Upto, v.closing.Hotspots`,
		new:   `rows = v.closing.Hotspots`,
	},
}
