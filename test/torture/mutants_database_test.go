//go:build linux

package torture_test

// databaseMutants break what stands between a server and its database.
var databaseMutants = []mutant{
	{
		name:  "a COMMIT without an answer is tried again",
		fault: "TestF07_Cut",
		file:  "internal/store/group.go",
		old: `		c.stream.known = false
		return uncertain`,
		new: `		c.stream.known = false
		return contended`,
	},
	{
		name:  "an unknown outcome is told as a refusal",
		fault: "TestF07_Cut",
		file:  "internal/store/committer.go",
		old: `	case uncertain:
		return beacon.Uncertain(cause)`,
		new: `	case uncertain:
		return beacon.Unavailable(cause)`,
		says: "was refused and is there",
	},
	{
		name:  "an unknown outcome is told as a success",
		fault: "TestF07_Cut",
		file:  "internal/store/committer.go",
		old: `	case uncertain:
		return beacon.Uncertain(cause)`,
		new: `	case uncertain:
		return nil`,
		says: "lost",
	},
	{
		name:  "an Idempotency-Key is committed before its hotspot",
		fault: "TestF07_Cut",
		file:  "internal/store/idempotency.go",
		old: `		made, err := run(tx)
`,
		new: `		_, _ = tx.exec("COMMIT")
		_, _ = tx.exec("BEGIN")
		made, err := run(tx)
`,
		says: "was acknowledged as",
	},
	{
		name:  "a request may take as long as it likes",
		fault: "TestF08_Slow/silent",
		file:  "internal/api/edge/table.go",
		old:   `		ctx, cancel := context.WithTimeout(r.Context(), e.Patience)`,
		new:   `		ctx, cancel := context.WithCancel(r.Context())`,
	},
	{
		name:  "a place among those who read is not given back after a failure",
		fault: "TestF08_Slow/silent",
		file:  "internal/store/ledger_read.go",
		old: `	defer func() { <-db.snapshots }()
	var verdict error
	failed := db.retrying(ctx, func() error {
		return db.snapshot(ctx, func(b *books) error {
			verdict = read(b.Books())
			return b.failed // even if read returns another error or none
		})
	})
	if failed != nil {
		return db.readFailed(failed)
	}`,
		new: `	var verdict error
	failed := db.retrying(ctx, func() error {
		return db.snapshot(ctx, func(b *books) error {
			verdict = read(b.Books())
			return b.failed
		})
	})
	if failed != nil {
		return db.readFailed(failed)
	}
	<-db.snapshots`,
		says: "rewards was answered 503",
	},
	{
		name:  "a key is good only while the database says so",
		fault: "TestF08_Slow/gone",
		file:  "internal/access/keys.go",
		old: `		if e := k.cache.get(public); e != nil {
			return e, nil
		}
		return nil, &beacon.Error{`,
		new:  `		return nil, &beacon.Error{`,
		says: "nearby answered 503",
	},
	{
		name:  "a connection that died is used again and again",
		fault: "TestF09_Restart",
		file:  "internal/store/group.go",
		old: `			return err
		}
		c.drop()`,
		new: `			return err
		}`,
		says: "a registration succeeds",
	},
	{
		name: "a pooler's sessions are taken for one's own", fault: "TestF09_Pooler", file: "internal/store/session.go",
		old: "pooled: engine.Pooled", new: "pooled: false",
	},
	{
		name:  "who follows the changes gives up after an error",
		fault: "TestF09_Failover",
		file:  "internal/replica/follower.go",
		old:   `	clock.Every(ctx, pollInterval, nil, fo.log, "follow the changes in the database", fo.Step)`,
		new: `	failed := false
	clock.Every(ctx, pollInterval, nil, fo.log, "follow the changes in the database", func(ctx context.Context) error {
		if failed {
			return nil
		}
		err := fo.Step(ctx)
		failed = err != nil
		return err
	})`,
		says: "differs from the database",
	},
	{
		name:  "a COMMIT that waits for the standby is canceled",
		fault: "TestF09_StandbyAway",
		file:  "internal/store/postgres/postgres.go",
		old:   `limited.DialFunc = patiently(dial)`,
		new:   `limited.DialFunc = dial`,
	},
	{
		name:  "a COMMIT does not wait for the standby",
		fault: "TestF09_StandbyAway",
		file:  "internal/store/postgres/postgres.go",
		old:   `	"application_name":                    "beacon",`,
		new: `	"application_name":                    "beacon",
	"synchronous_commit":                  "local",`,
		says: "writes are in doubt",
	},
	{
		name:  "a server goes on although changes are gone",
		fault: "TestF09_LossyFailover",
		file:  "internal/store/changes.go",
		old:   `is < was {`,
		new:   `is < was && false {`,
		says:  "goes on with what it knows",
		full:  true,
	},
	{
		name:  "who was away follows from where the others are by now",
		fault: "TestF10_Replicas",
		file:  "internal/replica/follower.go",
		old: `	beats, err := fo.beats.Heads(ctx)
	if err != nil {
		return err
	}
	heads, err := fo.source.Heads(ctx)
	if err != nil {
		return err
	}
	for`,
		new: `	beats, err := fo.beats.Heads(ctx)
	if err != nil {
		fo.cursors = nil
		return err
	}
	heads, err := fo.source.Heads(ctx)
	if err != nil {
		return err
	}
	if fo.cursors == nil {
		fo.cursors = heads
	}
	for`,
		says: "differs from the database",
	},
	{
		name:  "changes are found by their time",
		fault: "TestF10_Replicas",
		file:  "internal/replica/follower.go",
		old: `	for node, head := range heads {
		for fo.cursors[node] < head {
			if err := fo.advance(ctx, node); err != nil {
				return err
			}
		}
	}`,
		new: `	var mu sync.Mutex
	var fresh []beacon.Hotspot
	last := fo.cursors["updated_at"]
	_ = heads
	err = fo.source.EachHotspot(ctx, time.UnixMicro(1), func(h beacon.Hotspot) error {
		mu.Lock()
		defer mu.Unlock()
		if at := h.UpdatedAt.UnixMicro(); at > last {
			fresh = append(fresh, h)
			fo.cursors["updated_at"] = max(at, fo.cursors["updated_at"])
		}
		return nil
	})
	if err == nil {
		err = fo.fleet.Apply(fresh...)
	}
	if err != nil {
		fo.cursors["updated_at"] = last
		return err
	}`,
		says: "differs from the database",
	},
}
