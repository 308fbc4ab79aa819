package store

// examineText holds the statements of an Examination, as sqlText does for a DB. Queries
// of a whole table have no ORDER BY unless they need one, so that they read the rows
// and not an index.
var examineText = struct {
	hotspots, macs, keys, changes, nodes        bulk
	events, places, leases, spans, journal      bulk
	records, ledger, rewardMonths               bulk
	nextDay, nextHotspotMonth, nextUserMonth    bulk
	ledgerPage, hotspotMonthPage, userMonthPage bulk
	statementPage, accountPage, totalPage       bulk
	liveWithoutMAC, strayHead, strayRecord      bulk
	strayRecordHead, strayStatus, strayLinkCode bulk
	strayMonth, strayTotal, strayUserMonth      bulk
	strayStatement, strayStream, strayJournal   bulk
	strayPlace                                  bulk
}{
	hotspots: bulk{hotspotColumns, `FROM hotspots`},
	macs:     bulk{`id, mac, mac_live, deleted_at`, `FROM hotspots WHERE coalesce(mac_live, '') <> ''`},
	keys:     bulk{keyColumns, `FROM api_keys`},
	changes:  bulk{changeColumns + `, seal`, `FROM changes ORDER BY node, seq`},
	nodes:    bulk{`node, started_at, journal_trimmed`, `FROM nodes ORDER BY node`},
	events:   bulk{eventColumns, `FROM events ORDER BY seq`},
	places:   bulk{`node, seq`, `FROM event_places ORDER BY node`},
	leases:   bulk{`name, holder, token, expires_at`, `FROM leases ORDER BY name`},
	spans:    bulk{`node, from_minute, to_minute`, `FROM service_spans ORDER BY node, from_minute`},
	journal:  bulk{`node, seq, batch`, `FROM journal ORDER BY node, seq`},
	records:  bulk{`day, hotspot, data`, `FROM records`},
	ledger:   bulk{ledgerColumns, `FROM ledger`},

	rewardMonths: bulk{`month`, `FROM reward_months ORDER BY month`},

	nextDay:          bulk{`day`, `FROM ledger WHERE day > $1 ORDER BY day LIMIT 1`},
	nextHotspotMonth: bulk{`month`, `FROM hotspot_months WHERE month > $1 ORDER BY month LIMIT 1`},
	nextUserMonth:    bulk{`month`, `FROM user_months WHERE month > $1 ORDER BY month LIMIT 1`},

	ledgerPage: bulk{ledgerColumns, `FROM ledger
		WHERE day = $1 AND user_id >= $2 AND (user_id, hotspot) > ($2, $3) ORDER BY user_id, hotspot LIMIT $4`},
	hotspotMonthPage: bulk{hotspotMonthColumns, `FROM hotspot_months
		WHERE month = $1 AND user_id >= $2 AND (user_id, hotspot) > ($2, $3) ORDER BY user_id, hotspot LIMIT $4`},
	userMonthPage: bulk{userMonthColumns, `FROM user_months
		WHERE month = $1 AND user_id > $2 ORDER BY user_id LIMIT $3`},
	statementPage: bulk{statementColumns, `FROM statements
		WHERE user_id >= $1 AND (user_id, month) > ($1, $2) ORDER BY user_id, month LIMIT $3`},
	accountPage: bulk{accountColumns, `FROM accounts WHERE user_id > $1 ORDER BY user_id LIMIT $2`},
	totalPage: bulk{totalColumns, `FROM hotspot_totals
		WHERE user_id >= $1 AND (user_id, hotspot) > ($1, $2) ORDER BY user_id, hotspot LIMIT $3`},

	liveWithoutMAC: bulk{`id`, `FROM hotspots WHERE deleted_at = 0 AND coalesce(mac_live, '') = ''`},
	strayHead:      bulk{`hotspot`, `FROM record_heads WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = record_heads.hotspot)`},
	strayRecord: bulk{`hotspot`, `FROM records WHERE NOT EXISTS (SELECT 1 FROM record_heads
		WHERE record_heads.hotspot = records.hotspot AND record_heads.day >= records.day)`},
	strayRecordHead: bulk{`hotspot`, `FROM record_heads WHERE NOT EXISTS (SELECT 1 FROM records
		WHERE records.day = record_heads.day AND records.hotspot = record_heads.hotspot)`},
	strayStatus:   bulk{`hotspot`, `FROM statuses WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = statuses.hotspot)`},
	strayLinkCode: bulk{`hotspot`, `FROM link_codes WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = link_codes.hotspot)`},
	strayMonth: bulk{`hotspot`, `FROM hotspot_months WHERE NOT EXISTS (SELECT 1 FROM hotspots
		WHERE hotspots.id = hotspot_months.hotspot AND hotspots.operator_id = hotspot_months.user_id)`},
	strayTotal:     bulk{`hotspot`, `FROM hotspot_totals WHERE NOT EXISTS (SELECT 1 FROM hotspots WHERE hotspots.id = hotspot_totals.hotspot)`},
	strayUserMonth: bulk{`user_id`, `FROM user_months WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.user_id = user_months.user_id)`},
	strayStatement: bulk{`user_id`, `FROM statements WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.user_id = statements.user_id)`},
	strayStream:    bulk{`node`, `FROM changes WHERE seq = 1 AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.node = changes.node)`},
	strayJournal:   bulk{`node`, `FROM journal WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.node = journal.node)`},
	strayPlace:     bulk{`node`, `FROM event_places WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.node = event_places.node)`},
}
