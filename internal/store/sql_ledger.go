package store

const (
	sumColumns          = `served, expected, availability, performance, utilization`
	ledgerColumns       = `day, user_id, hotspot, policy, served, expected, closed, excused, outside, bytes, tier, availability, performance, utilization, revision, ground, hold`
	hotspotMonthColumns = `month, user_id, hotspot, through, tier, ` + sumColumns
	userMonthColumns    = `month, user_id, hotspots, row_count, chain, held, ` + sumColumns
	totalColumns        = `user_id, hotspot, through, tier, ` + sumColumns
	statementColumns    = userMonthColumns + `, previous, hash, settled_at`
	accountColumns      = `user_id, first_day, settled, previous, hash, ` + sumColumns
	correctionColumns   = `user_id, month, revision, day, corrects, ` + sumColumns
	standingColumns     = `hotspot, since, through, before, days`
	holdColumns         = `user_id, number, id, hotspot, state, until, version, content, seal`
	heldDayColumns      = `user_id, day, hotspot, hold, hash, amount, listed, seal`
	rewardDayColumns    = `day, upto_user, upto_hotspot, hotspots, availability, performance, utilization, closed_at`
)

// heldDaysFrom has the held days with the state of their holds.
const heldDaysFrom = `FROM (SELECT held_days.*, holds.state FROM held_days JOIN holds ON holds.id = held_days.hold) AS held`

// rewardText holds the statements for the reward ledger, as sqlText does for the rest.
// Pairs are compared as rows: both engines then walk the index from one pair to the
// other. The same condition written with AND and OR would read all of a user's hotspots
// for each page.
var rewardText = struct {
	newestDay, days                                 bulk
	basis, beginDay, advanceDay                     string
	putLedger, putHotspotMonths, putUserMonths      [rewardChunks]string
	putAccounts                                     [rewardChunks]string
	ownedPage                                       bulk
	hotspotMonthRange, userMonthRange, accountRange bulk
	hotspotMonthPage, userMonthPage                 bulk
	ownedEnd, accountEnd                            bulk
	addTotals, addToAccounts, putStatements         [rewardChunks]string
	haveAccounts                                    string
	finishMonth                                     string
	putPolicy                                       string
	policies                                        bulk
	firstRecord, finished, names, namesByID, owner  bulk
	account, statement, statements, totals          bulk
	userMonths, hotspotMonths                       bulk
	ledgerRow, ledgerPage                           bulk
	atRevision, reopen, forgetDays, forgetHotspot   string
	addReopening                                    string
	settledFrom                                     [3]string
	putAgain, putCorrections                        [rewardChunks]string
	reopenings, corrections, again, newestAgain     bulk
	voidedBy                                        bulk
	rowRange, againRange                            bulk
	putStandings                                    [rewardChunks]string
	standings, standingRange, standingsThrough      bulk
	forgetStandings, putStandingsThrough            string
	holdsOf, hold, holds, holdsOfUser, activeHolds  bulk
	countHolds, countHoldsOf                        string
	insertHold, updateHold, forgetHeldDays          string
	putHeldDays                                     [rewardChunks]string
	heldDays, heldDay, ended, toEnd, usersToEnd     bulk
}{
	newestDay: bulk{rewardDayColumns, `FROM reward_days ORDER BY day DESC LIMIT 1`},
	days:      bulk{rewardDayColumns, `FROM reward_days ORDER BY day`},
	beginDay: `INSERT INTO reward_days (` + rewardDayColumns + `) VALUES (` + placeholders(1, 8) + `)
		ON CONFLICT (day) DO NOTHING`,
	advanceDay: `UPDATE reward_days SET upto_user = $2, upto_hotspot = $3, hotspots = hotspots + $4,
			availability = availability + $5, performance = performance + $6, utilization = utilization + $7, closed_at = $8
		WHERE day = $1 AND upto_user = $9 AND upto_hotspot = $10 AND closed_at = 0`,
	basis: `SELECT hotspots.n, hotspots.through, users.n, users.row_count FROM
		(SELECT count(*) AS n, CAST(coalesce(sum(through), 0) AS bigint) AS through FROM hotspot_months
			WHERE month = $1 AND user_id >= $2 AND user_id <= $4
				AND (user_id, hotspot) >= ($2, $3) AND (user_id, hotspot) <= ($4, $5)) AS hotspots,
		(SELECT count(*) AS n, CAST(coalesce(sum(row_count), 0) AS bigint) AS row_count FROM user_months
			WHERE month = $1 AND user_id >= $2 AND user_id <= $4) AS users`,
	putLedger: [rewardChunks]string(chunks(rewardChunks, 17, `INSERT INTO ledger (`+ledgerColumns+`) VALUES `, ``)),
	putHotspotMonths: [rewardChunks]string(chunks(rewardChunks, 10, `INSERT INTO hotspot_months (`+hotspotMonthColumns+`) VALUES `,
		` ON CONFLICT (month, user_id, hotspot) DO UPDATE SET through = excluded.through, tier = excluded.tier,
			served = excluded.served, expected = excluded.expected, availability = excluded.availability,
			performance = excluded.performance, utilization = excluded.utilization`)),
	putUserMonths: [rewardChunks]string(chunks(rewardChunks, 11, `INSERT INTO user_months (`+userMonthColumns+`) VALUES `,
		` ON CONFLICT (month, user_id) DO UPDATE SET hotspots = excluded.hotspots, row_count = excluded.row_count,
			chain = excluded.chain, held = excluded.held, served = excluded.served, expected = excluded.expected, availability = excluded.availability,
			performance = excluded.performance, utilization = excluded.utilization`)),
	putAccounts: [rewardChunks]string(chunks(rewardChunks, 10, `INSERT INTO accounts (`+accountColumns+`) VALUES `,
		` ON CONFLICT (user_id) DO UPDATE SET first_day = excluded.first_day WHERE accounts.first_day > excluded.first_day`)),

	ownedPage: bulk{
		columns: `operator_id, id`,
		from:    `FROM hotspots WHERE (operator_id, id) > ($1, $2) ORDER BY operator_id, id LIMIT $3`,
	},
	// Without bounds on user_id, PostgreSQL reads the rest of the month for each page
	// once it uses a generic plan.
	hotspotMonthRange: bulk{hotspotMonthColumns, `FROM hotspot_months
		WHERE month = $1 AND user_id >= $2 AND user_id <= $4
			AND (user_id, hotspot) >= ($2, $3) AND (user_id, hotspot) <= ($4, $5) ORDER BY user_id, hotspot`},
	userMonthRange: bulk{userMonthColumns, `FROM user_months
		WHERE month = $1 AND user_id >= $2 AND user_id <= $3 ORDER BY user_id`},
	accountRange: bulk{accountColumns, `FROM accounts WHERE user_id >= $1 AND user_id <= $2 ORDER BY user_id`},
	hotspotMonthPage: bulk{hotspotMonthColumns, `FROM hotspot_months
		WHERE month = $1 AND (user_id, hotspot) > ($2, $3) AND (user_id, hotspot) <= ($4, $5)
		ORDER BY user_id, hotspot LIMIT $6`},
	userMonthPage: bulk{userMonthColumns, `FROM user_months
		WHERE month = $1 AND user_id > $2 AND user_id <= $3 ORDER BY user_id LIMIT $4`},
	ownedEnd: bulk{`operator_id, id`, `FROM hotspots
		WHERE (operator_id, id) > ($1, $2) ORDER BY operator_id, id LIMIT 1 OFFSET $3`},
	accountEnd: bulk{`user_id`, `FROM accounts WHERE user_id > $1 ORDER BY user_id LIMIT 1 OFFSET $2`},

	addTotals: [rewardChunks]string(chunks(rewardChunks, 9, `INSERT INTO hotspot_totals (`+totalColumns+`) VALUES `,
		` ON CONFLICT (user_id, hotspot) DO UPDATE SET through = excluded.through, tier = excluded.tier,
			served = hotspot_totals.served + excluded.served, expected = hotspot_totals.expected + excluded.expected,
			availability = hotspot_totals.availability + excluded.availability,
			performance = hotspot_totals.performance + excluded.performance,
			utilization = hotspot_totals.utilization + excluded.utilization
		WHERE hotspot_totals.through < excluded.through`)),
	// A statement that does not follow the last one is skipped. The rows are locked in
	// the order of the values.
	addToAccounts: [rewardChunks]string(chunks(rewardChunks, 10, `INSERT INTO accounts (`+accountColumns+`) VALUES `,
		` ON CONFLICT (user_id) DO UPDATE SET settled = excluded.settled, previous = excluded.previous, hash = excluded.hash,
			served = accounts.served + excluded.served, expected = accounts.expected + excluded.expected,
			availability = accounts.availability + excluded.availability,
			performance = accounts.performance + excluded.performance,
			utilization = accounts.utilization + excluded.utilization
		WHERE accounts.settled < excluded.settled AND accounts.hash = excluded.previous RETURNING user_id`)),
	putStatements: [rewardChunks]string(chunks(rewardChunks, 14, `INSERT INTO statements (`+statementColumns+`) VALUES `, ``)),
	haveAccounts:  `SELECT user_id FROM accounts WHERE user_id IN (` + placeholders(1, idsPerQuery) + `)`,
	finishMonth:   `INSERT INTO reward_months (month, finished_at) VALUES ($1, $2) ON CONFLICT (month) DO NOTHING`,

	putPolicy: `INSERT INTO reward_policies (version, first_day, content) VALUES ($1, $2, $3) ON CONFLICT (version) DO NOTHING`,
	policies:  bulk{`version, first_day, content`, `FROM reward_policies ORDER BY version`},

	firstRecord: bulk{`day`, `FROM records ORDER BY day LIMIT 1`},
	finished:    bulk{`month`, `FROM reward_months ORDER BY month DESC LIMIT 1`},
	names: bulk{
		`id, name, deleted_at`,
		`FROM hotspots WHERE operator_id = $1 AND (deleted_at = 0 OR deleted_at >= $2) ORDER BY id`,
	},
	namesByID:  bulk{`id, name, deleted_at`, `FROM hotspots WHERE id IN (` + placeholders(1, idsPerQuery) + `)`},
	owner:      bulk{`operator_id`, `FROM hotspots WHERE id = $1`},
	account:    bulk{accountColumns, `FROM accounts WHERE user_id = $1`},
	statement:  bulk{statementColumns, `FROM statements WHERE user_id = $1 AND month = $2`},
	statements: bulk{statementColumns, `FROM statements WHERE user_id = $1 AND month >= $2 AND month <= $3 ORDER BY month`},
	totals:     bulk{totalColumns, `FROM hotspot_totals WHERE user_id = $1 ORDER BY hotspot`},
	userMonths: bulk{userMonthColumns, `FROM user_months
		WHERE user_id = $1 AND month IN (` + placeholders(2, monthsPerQuery) + `) ORDER BY month`},
	hotspotMonths: bulk{hotspotMonthColumns, `FROM hotspot_months WHERE month = $1 AND user_id = $2 ORDER BY hotspot`},
	ledgerRow:     bulk{ledgerColumns, `FROM ledger WHERE day = $1 AND user_id = $2 AND hotspot = $3`},
	ledgerPage: bulk{ledgerColumns, `FROM ledger
		WHERE day = $1 AND user_id = $2 AND hotspot > $3 ORDER BY hotspot LIMIT $4`},

	atRevision: `INSERT INTO reward_revision (id, revision) VALUES (1, $1)
		ON CONFLICT (id) DO UPDATE SET revision = excluded.revision WHERE reward_revision.revision = excluded.revision`,
	reopen: `INSERT INTO reward_revision (id, revision) VALUES (1, $1)
		ON CONFLICT (id) DO UPDATE SET revision = excluded.revision WHERE reward_revision.revision = excluded.revision - 1`,
	addReopening: `INSERT INTO reopenings (revision, first_day, last_day, at) VALUES ($1, $2, $3, $4)`,
	// A month whose settlement has begun counts as settled.
	settledFrom: [3]string{
		`SELECT 1 FROM reward_months WHERE month >= $1 LIMIT 1`,
		`SELECT 1 FROM accounts WHERE settled >= $1 LIMIT 1`,
		`SELECT 1 FROM hotspot_totals WHERE through >= $1 LIMIT 1`,
	},
	forgetDays:     `DELETE FROM reward_days WHERE day >= $1`,
	forgetHotspot:  `DELETE FROM hotspot_months WHERE month = $1 AND user_id = $2 AND hotspot = $3`,
	putAgain:       [rewardChunks]string(chunks(rewardChunks, 17, `INSERT INTO ledger_again (`+ledgerColumns+`) VALUES `, ``)),
	putCorrections: [rewardChunks]string(chunks(rewardChunks, 10, `INSERT INTO corrections (`+correctionColumns+`) VALUES `, ``)),
	reopenings:     bulk{`revision, first_day, last_day, at`, `FROM reopenings ORDER BY revision`},
	corrections:    bulk{correctionColumns, `FROM corrections WHERE user_id = $1 AND month = $2 ORDER BY revision`},
	again: bulk{ledgerColumns, `FROM ledger_again
		WHERE user_id = $1 AND day >= $2 AND day <= $3 ORDER BY day, hotspot, revision`},
	newestAgain: bulk{ledgerColumns, `FROM ledger_again
		WHERE user_id = $1 AND day = $2 AND hotspot = $3 ORDER BY revision DESC LIMIT 1`},
	rowRange: bulk{ledgerColumns, `FROM ledger WHERE day = $1 AND user_id >= $2 AND user_id <= $4
			AND (user_id, hotspot) >= ($2, $3) AND (user_id, hotspot) <= ($4, $5) ORDER BY user_id, hotspot`},
	againRange: bulk{ledgerColumns, `FROM ledger_again WHERE user_id >= $2 AND user_id <= $4 AND day = $1
			AND (user_id, hotspot) >= ($2, $3) AND (user_id, hotspot) <= ($4, $5) ORDER BY user_id, hotspot, revision`},
	putStandings: [rewardChunks]string(chunks(rewardChunks, 5, `INSERT INTO standings (`+standingColumns+`) VALUES `,
		` ON CONFLICT (hotspot, since) DO UPDATE SET through = excluded.through, before = excluded.before, days = excluded.days`)),
	standings:        bulk{standingColumns, `FROM standings WHERE hotspot IN (` + placeholders(1, idsPerQuery) + `)`},
	standingRange:    bulk{standingColumns, `FROM standings WHERE hotspot >= $1 AND hotspot <= $2 ORDER BY hotspot, since LIMIT $3`},
	forgetStandings:  `DELETE FROM standings`,
	standingsThrough: bulk{`day, revision`, `FROM standings_through WHERE id = 1`},
	putStandingsThrough: `INSERT INTO standings_through (id, day, revision) VALUES (1, $1, $2)
		ON CONFLICT (id) DO UPDATE SET day = excluded.day, revision = excluded.revision`,
	holdsOf:     bulk{holdColumns, `FROM holds WHERE user_id = $1 ORDER BY number`},
	hold:        bulk{holdColumns, `FROM holds WHERE id = $1`},
	activeHolds: bulk{holdColumns, `FROM holds WHERE state = 'active' ORDER BY user_id, number`},
	holds:       bulk{holdColumns, `FROM holds WHERE id < $3 ORDER BY id DESC LIMIT $1 OFFSET $2`},
	holdsOfUser: bulk{holdColumns, `FROM holds WHERE id < $3 AND user_id = $4 ORDER BY id DESC LIMIT $1 OFFSET $2`},
	countHolds:  `SELECT count(*) FROM holds`, countHoldsOf: `SELECT count(*) FROM holds WHERE user_id = $1`,
	insertHold: `INSERT INTO holds (` + holdColumns + `) VALUES (` + placeholders(1, 9) + `)
		ON CONFLICT (user_id, number) DO NOTHING`,
	updateHold: `UPDATE holds SET state = $3, until = $4, version = version + 1, content = $5, seal = $6
		WHERE user_id = $1 AND number = $2 AND version = $7`,
	putHeldDays: [rewardChunks]string(chunks(rewardChunks, 9, `INSERT INTO held_days (`+heldDayColumns+`, month) VALUES `,
		` ON CONFLICT (user_id, day, hotspot) DO UPDATE SET listed = excluded.listed, seal = excluded.seal WHERE held_days.listed = -1`)),
	forgetHeldDays: `DELETE FROM held_days WHERE day >= $1`,
	heldDays:       bulk{heldDayColumns + `, state`, heldDaysFrom + ` WHERE user_id = $1 AND (day, hotspot) > ($2, $3) ORDER BY day, hotspot LIMIT $4`},
	heldDay:        bulk{heldDayColumns + `, state`, heldDaysFrom + ` WHERE user_id = $1 AND day = $2 AND hotspot = $3`},
	ended:          bulk{heldDayColumns + `, state`, heldDaysFrom + ` WHERE user_id = $1 AND listed = $2 ORDER BY day, hotspot`},
	toEnd: bulk{heldDayColumns + `, state`, heldDaysFrom + ` WHERE listed = -1 AND user_id >= $1 AND user_id <= $2
			AND month <= $3 AND state <> 'active' ORDER BY user_id, day, hotspot`},
	usersToEnd: bulk{`user_id`, heldDaysFrom + ` WHERE listed = -1 AND user_id > $1 AND month <= $2 AND state <> 'active'
			AND NOT EXISTS (SELECT 1 FROM user_months WHERE user_months.month = $2 AND user_months.user_id = held.user_id)
		GROUP BY user_id ORDER BY user_id LIMIT $3`},
	voidedBy: bulk{`revision`, `FROM reopenings WHERE first_day <= $1 ORDER BY revision DESC LIMIT 1`},
}
