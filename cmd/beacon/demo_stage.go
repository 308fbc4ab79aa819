package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/demo"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

// gcPercentWhileStaging applies at startup: months of records make much garbage.
const gcPercentWhileStaging = 100

// byDemo is the actor of what a demonstration does by itself.
var byDemo = beacon.Actor{Request: "demo"}

// stage creates the network, or continues the one in the file.
func (c demoCmd) stage(out *console, file string, now func() time.Time) (*stage, error) {
	s := &stage{database: database{file}, began: time.Now()}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return s, c.begin(out, s, now())
	}
	return s, s.goOn(out, now())
}

// begin creates the network under a temporary file name, so that a file with the
// final name is always complete.
func (c demoCmd) begin(out *console, s *stage, now time.Time) error {
	network, err := demo.New(demo.Config{Seed: c.Seed, Hotspots: c.Hotspots, Days: demoDays, Now: now})
	if err != nil {
		return err
	}
	unfinished := s.DB + ".unfinished"
	if err := removeDatabase(unfinished); err != nil { // left by an interrupted run
		return err
	}
	err = c.write(out, s, network, unfinished)
	if err == nil {
		err = publish(unfinished, s.DB)
	}
	return errors.Join(err, removeDatabase(unfinished))
}

func (c demoCmd) write(out *console, s *stage, network *demo.Network, file string) error {
	db, err := sqlite.Open(out.ctx, file, sqlite.Options{Now: network.Now, Draft: true})
	if err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercentWhileStaging))
	w := &demoWriter{db: db, network: network}
	watch := newWatch(out.stderr, w.progress)
	err = w.write(out.ctx)
	watch.stop()
	if err == nil {
		s.keys, err = mintDemoKeys(out.ctx, db, network.Operator, network.Staff, network.Now)
	}
	for _, spot := range network.Beating() {
		s.devices = append(s.devices, spot.Device)
	}
	for _, spot := range network.Spots {
		if !spot.Deleted() {
			s.hotspots++
		}
	}
	return errors.Join(err, db.Close())
}

// publish gives a file its final name, once all of it is on disk.
func publish(unfinished, name string) error {
	file, err := os.OpenFile(unfinished, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(unfinished, name)
}

// removeDatabase removes a SQLite file and the files beside it.
func removeDatabase(file string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(file + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// goOn continues the network of an earlier demonstration. Keys cannot be read from a
// database, so everyone gets a new one.
func (s *stage) goOn(out *console, now time.Time) error {
	return s.with(out, func(db *store.DB) error {
		operator, staff, err := demoUsers(out.ctx, db)
		if err != nil {
			return err
		}
		if operator == "" || staff == "" {
			return fmt.Errorf("%s is not of a demonstration; name another file with --db", s.DB)
		}
		if s.keys, err = mintDemoKeys(out.ctx, db, operator, staff, now); err != nil {
			return err
		}
		var mu sync.Mutex
		var all []beacon.Hotspot
		err = db.EachHotspot(out.ctx, time.Time{}, func(h beacon.Hotspot) error {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, h)
			return nil
		})
		if err != nil {
			return err
		}
		s.hotspots = len(all)
		spots, err := demo.Known(all)
		if err != nil {
			return err
		}
		return s.relink(out.ctx, db, spots, now)
	})
}

// relink gives each device a new key. It keeps the time since when it is linked.
func (s *stage) relink(ctx context.Context, db *store.DB, spots []*demo.Spot, now time.Time) error {
	by := byDemo
	by.Note = "the device has another key"
	err := together(ctx, spots, func(ctx context.Context, spot *demo.Spot) error {
		plain, hash := access.MintDevice(spot.ID)
		_, err := db.UpdateHotspot(ctx, spot.ID, by, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
			h.Device.KeyHash, h.UpdatedAt = hash, now
			return true, nil
		})
		spot.Device.Serve(string(spot.ID), plain)
		return err
	})
	for _, spot := range spots {
		s.devices = append(s.devices, spot.Device)
	}
	return err
}

// together calls do for each item, many at once, so that one disk sync serves all of
// them.
func together[T any](ctx context.Context, all []T, do func(context.Context, T) error) error {
	const crowd = 128
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(crowd)
	for _, one := range all {
		group.Go(func() error { return do(ctx, one) })
	}
	return group.Wait()
}

// demoKeys are the keys that are printed.
type demoKeys struct{ operator, staff string }

// The names of the keys, by which the users are found again.
const (
	operatorKeyName = "demo: operator"
	staffKeyName    = "demo: staff"
)

// mintDemoKeys makes new keys and revokes the earlier ones.
func mintDemoKeys(ctx context.Context, db *store.DB, operator, staff beacon.UserID, now time.Time) (made demoKeys, err error) {
	for _, key := range []struct {
		beacon.Key
		plain *string
	}{
		{beacon.Key{User: operator, Name: operatorKeyName, Scopes: []beacon.Scope{beacon.HotspotsWrite, beacon.RewardsRead, beacon.KeysManage}}, &made.operator},
		{beacon.Key{User: staff, Name: staffKeyName, Scopes: []beacon.Scope{beacon.Admin}}, &made.staff},
	} {
		held, _, err := db.Keys(ctx, key.User, 0, keysPerPage)
		if err != nil {
			return made, err
		}
		for _, old := range held {
			if old.Name == key.Name && old.RevokedAt.IsZero() {
				if err := db.RevokeKey(ctx, old.ID, now, byDemo); err != nil {
					return made, err
				}
			}
		}
		minted, plain := access.Mint(now, key.Key)
		if err := db.InsertKey(ctx, minted, byDemo); err != nil {
			return made, err
		}
		*key.plain = plain
	}
	return made, nil
}

// demoUsers finds the users of earlier keys. It finds none if the database is not of
// a demonstration.
func demoUsers(ctx context.Context, db *store.DB) (operator, staff beacon.UserID, err error) {
	for key, err := range eachKey(ctx, keysOf(db), "") {
		if err != nil {
			return "", "", err
		}
		switch key.Name {
		case operatorKeyName:
			operator = key.User
		case staffKeyName:
			staff = key.User
		}
	}
	return operator, staff, nil
}
