//go:build linux

package torture_test

// crashMutants lose or invent writes where a process, a disk or a race is the
// trouble.
var crashMutants = []mutant{
	{
		name:  "beats are acknowledged before they are written",
		fault: "TestF01_Kill/sqlite",
		file:  "internal/telemetry/batcher.go",
		old: `	seq, err := t.Journal.AppendBeats(ctx, data)
	if err != nil {`,
		new: `	close(b.done)
	b = &batch{beats: b.beats, hotspots: b.hotspots, done: make(chan struct{})}
	seq, err := t.Journal.AppendBeats(ctx, data)
	if err != nil {`,
		says: "are lost",
	},
	{
		name:  "some registrations are refused and written",
		fault: "TestF01_Kill/sqlite",
		file:  "internal/store/hotspots.go",
		old: `		return made, nil
	}
	return db.doOnce(ctx, op, by)`,
		new: `		return made, nil
	}
	err := db.doOnce(ctx, op, by)
	if err == nil && all[0].Settings.MaxConnections%50 == 49 {
		err = beacon.Conflicting(errMACTaken)
	}
	return err`,
		says: "was refused and is there",
	},
	{
		name:  "what is asked for is in the log",
		fault: "TestF01_Kill/sqlite",
		file:  "internal/httpserver/accesslog.go",
		old:   `"route", Route(r))`,
		new:   `"route", Route(r)+r.URL.RawQuery)`,
		says:  "the log holds a place",
	},
	{
		name:  "a hotspot is on the map before it is written",
		fault: "TestF01_Kill/postgres",
		file:  "internal/registry/register.go",
		old:   `	if err := r.store.InsertHotspots(`,
		new: `	_ = r.fleet.Apply(all...)
	if err := r.store.InsertHotspots(`,
		says: "was on the map and is lost",
	},
	{
		name:  "a change is recorded after its write is committed",
		fault: "TestF02_KillAtSync",
		file:  "internal/store/group.go",
		old: `	if err == nil {
		err = c.record(tx, made)`,
		new: `	if err == nil && len(made) > 0 {
		_, _ = c.session.exec(ctx, "COMMIT")
		_, err = c.session.exec(ctx, c.engine.Begin)
	}
	if err == nil {
		err = c.record(tx, made)`,
		says: "hotspots have other changes than versions",
	},
	{
		name:  "SQLite keeps its way back in memory",
		fault: "TestF02_KillAtSync",
		file:  "internal/store/sqlite/sqlite.go",
		old:   `"journal_mode(WAL)", sync,`,
		new:   `"journal_mode(MEMORY)", sync,`,
	},
	{
		name:  "SQLite never syncs",
		fault: "TestF03_PowerCut/sqlite",
		file:  "internal/store/sqlite/sqlite.go",
		old:   `const syncFull = "synchronous(FULL)"`,
		new:   `const syncFull = "synchronous(OFF)"`,
	},
	{
		name:  "SQLite syncs now and then",
		fault: "TestF03_PowerCut/sqlite",
		file:  "internal/store/sqlite/sqlite.go",
		old:   `const syncFull = "synchronous(FULL)"`,
		new:   `const syncFull = "synchronous(NORMAL)"`,
		says:  "lost",
	},
	{
		name:  "PostgreSQL may acknowledge before it syncs",
		fault: "TestF03_PowerCut/postgres",
		file:  "internal/store/postgres/postgres.go",
		old:   `	"statement_timeout":                   "4000",`,
		new: `	"statement_timeout":                   "4000",
	"synchronous_commit":                  "off",`,
		says: "lost",
		full: true,
	},
	{
		name:  "beats that could not be written are acknowledged",
		fault: "TestF05_DiskFull",
		file:  "internal/telemetry/batcher.go",
		old:   `		b.finish(overloaded("the beat could not be stored; try again", err))`,
		new:   `		b.finish(nil)`,
		says:  "are lost",
	},
	{
		name:  "a COMMIT that failed is taken for done",
		fault: "TestF05_DiskFull",
		file:  "internal/store/group.go",
		old:   `	if _, err := c.session.exec(ctx, "COMMIT"); err != nil {`,
		new:   `	if _, err := c.session.exec(ctx, "COMMIT"); err != nil && !c.local() {`,
		says:  "still not: writes are refused",
	},
	{
		name:  "a sync that failed is taken for one that may be repeated",
		fault: "TestF06_SyncFails",
		file:  "internal/store/sqlite/sqlite.go",
		old:   `		return store.Broken`,
		new:   `		return store.Away`,
		says:  "and the server goes on",
	},
	{
		name:  "a check-in is acknowledged before it is stored",
		fault: "TestF01_CheckIns/sqlite",
		file:  "internal/checkins/checkins.go",
		old:   `vouched, err := c.store.PutCheckIn(ctx, row, p.Actor(), voucher(&h, &row))`,
		new: `var vouched *beacon.Hotspot
	time.AfterFunc(300*time.Millisecond, func() { _, _ = c.store.PutCheckIn(context.Background(), row, p.Actor(), nil) })`,
		says: "does not count",
	},
	{
		name:  "a hotspot that is deleted is taken for erased",
		fault: "TestF01_Erasure/sqlite",
		file:  "internal/erasure/erasure.go",
		old:   `			if !h.Deleted() {`,
		new: `			if h.Deleted() {
				continue
			} else {`,
		says: "there is still",
	},
	{
		name:  "a link is not used up by who signs in with it",
		fault: "TestF01_People/sqlite",
		file:  "internal/store/people_edit.go",
		old:   `	if want.UseTicket {`,
		new:   `	if want.UseTicket && w.seen.Ticket.Kind != beacon.LinkTicket {`,
		says:  "happened, and once more it answered",
	},
	{
		name:  "who signs in with a code has a session only later",
		fault: "TestF01_People/sqlite",
		file:  "internal/people/doors.go",
		old:   `		e.Write.Sessions = []beacon.Session{session}`,
		new: `		if d.door == beacon.ByCode {
			time.AfterFunc(time.Minute, func() {
				_ = pp.store.EditPeople(context.Background(), beacon.Actor{}, beacon.PeopleSight{}, func(e *beacon.PeopleEdit) error {
					e.Write.Sessions = []beacon.Session{session}
					return nil
				})
			})
		} else {
			e.Write.Sessions = []beacon.Session{session}
		}`,
		says: "the whole is",
	},
	{
		name:  "MACs are told apart by their spelling",
		fault: "TestF16_SameMAC/sqlite",
		file:  "internal/store/hotspot_columns.go",
		old:   `mac := h.Device.MAC.Canonical()`,
		new:   `mac := string(h.Device.MAC)`,
		says:  "registrations of one MAC were answered",
	},
	{
		name:  "a change does not count",
		fault: "TestF16_SameField/postgres",
		file:  "internal/store/hotspots.go",
		old:   `current.CreatedAt, current.Version+1`,
		new:   `current.CreatedAt, current.Version`,
		says:  "no order of the operations",
	},
	{
		name:  "a change overwrites what another server changed",
		fault: "TestF16_OtherFields/postgres",
		file:  "internal/store/hotspots.go",
		old:   `WHERE id = $1 AND version = $2`,
		new:   `WHERE id = $1 AND version < $2 + 1000000`,
		says:  "no order of the operations",
	},
	{
		name:  "a server never hears of keys that others revoke",
		fault: "TestF16_Revoke/postgres",
		file:  "internal/access/keys.go",
		old:   `{ k.change(id, k.cache.forget) }`,
		new:   `{}`,
		says:  "still good",
	},
}
