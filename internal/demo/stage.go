package demo

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/simulate"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

// gcPercentWhileStaging applies at startup: months of records make much garbage.
const gcPercentWhileStaging = 100

// byDemo is the actor of what a demonstration does by itself.
var byDemo = beacon.Actor{Request: "demo"}

// Stage is a network that is ready to be shown: a database file with its history, and
// what is not in the file.
type Stage struct {
	Hotspots              int // live ones
	Devices               []*simulate.Device
	OperatorKey, StaffKey string
}

// Create generates a network and writes it to a new file. It calls wrote after each day
// of its history. It writes under a temporary name, so that a file with the final name
// is always complete.
func Create(ctx context.Context, file string, cfg Config, wrote func()) (*Stage, error) {
	network, err := New(cfg)
	if err != nil {
		return nil, err
	}
	unfinished := file + ".unfinished"
	if err := removeDatabase(unfinished); err != nil { // left by an interrupted run
		return nil, err
	}
	s, err := create(ctx, unfinished, network, wrote)
	if err == nil {
		err = publish(unfinished, file)
	}
	return s, errors.Join(err, removeDatabase(unfinished))
}

func create(ctx context.Context, file string, network *Network, wrote func()) (*Stage, error) {
	db, err := sqlite.Open(ctx, file, sqlite.Options{Now: network.Now, Draft: true})
	if err != nil {
		return nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercentWhileStaging))
	s := &Stage{}
	w := &writer{db: db, network: network, wrote: wrote}
	if err = w.write(ctx); err == nil {
		err = s.mintKeys(ctx, db, network.Operator, network.Staff, network.Now)
	}
	for _, hotspot := range network.Beating() {
		s.Devices = append(s.Devices, hotspot.Device)
	}
	for _, hotspot := range network.Hotspots {
		if !hotspot.Deleted() {
			s.Hotspots++
		}
	}
	return s, errors.Join(err, db.Close())
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

// ErrForeign is returned for a database that no demonstration made.
var ErrForeign = errors.New("this is not the database of a demo")

// Continue continues the network of an earlier demonstration. Keys cannot be read from a
// database, so everyone gets a new one.
func Continue(ctx context.Context, file string, now time.Time) (*Stage, error) {
	db, err := sqlite.Open(ctx, file, sqlite.Options{Node: store.SharedNode, Now: time.Now()})
	if err != nil {
		return nil, err
	}
	s := &Stage{}
	return s, errors.Join(s.goOn(ctx, db, now), db.Close())
}

func (s *Stage) goOn(ctx context.Context, db *store.DB, now time.Time) error {
	operator, staff, err := users(ctx, db)
	if err != nil {
		return err
	}
	if operator == "" || staff == "" {
		return ErrForeign
	}
	if err := s.mintKeys(ctx, db, operator, staff, now); err != nil {
		return err
	}
	var mu sync.Mutex
	var all []beacon.Hotspot
	err = db.EachHotspot(ctx, time.Time{}, func(h beacon.Hotspot) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, h)
		return nil
	})
	if err != nil {
		return err
	}
	s.Hotspots = len(all)
	hotspots, err := Known(all)
	if err != nil {
		return err
	}
	return s.relink(ctx, db, hotspots, now)
}

// relink gives each device a new key. It keeps the time since when it is linked.
func (s *Stage) relink(ctx context.Context, db *store.DB, hotspots []*Hotspot, now time.Time) error {
	by := byDemo
	by.Note = "the device has another key"
	err := together(ctx, hotspots, func(ctx context.Context, hotspot *Hotspot) error {
		plain, hash := access.MintDevice(hotspot.ID)
		_, err := db.UpdateHotspot(ctx, hotspot.ID, by, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
			h.Device.KeyHash, h.UpdatedAt = hash, now
			return true, nil
		})
		hotspot.Device.Serve(string(hotspot.ID), plain)
		return err
	})
	for _, hotspot := range hotspots {
		s.Devices = append(s.Devices, hotspot.Device)
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

// The names of the keys, by which the users are found again.
const (
	operatorKeyName = "demo: operator"
	staffKeyName    = "demo: staff"
)

// keysPerPage is how many keys are read at once.
const keysPerPage = 100

// mintKeys makes new keys and revokes the earlier ones.
func (s *Stage) mintKeys(ctx context.Context, db *store.DB, operator, staff beacon.UserID, now time.Time) error {
	for _, key := range []struct {
		beacon.Key
		plain *string
	}{
		{beacon.Key{User: operator, Name: operatorKeyName, Scopes: []beacon.Scope{beacon.HotspotsWrite, beacon.RewardsRead, beacon.KeysManage}}, &s.OperatorKey},
		{beacon.Key{User: staff, Name: staffKeyName, Scopes: []beacon.Scope{beacon.Admin}}, &s.StaffKey},
	} {
		held, _, err := db.Keys(ctx, key.User, beacon.KeyPlace{}, 0, keysPerPage)
		if err != nil {
			return err
		}
		for _, old := range held {
			if old.Name == key.Name && old.RevokedAt.IsZero() {
				if err := db.RevokeKey(ctx, old.ID, now, byDemo); err != nil {
					return err
				}
			}
		}
		minted, plain := access.Mint(now, key.Key)
		if err := db.InsertKey(ctx, minted, byDemo); err != nil {
			return err
		}
		*key.plain = plain
	}
	return nil
}

// users finds the users of earlier keys. It finds none if the database is not of a
// demonstration.
func users(ctx context.Context, db *store.DB) (operator, staff beacon.UserID, err error) {
	for offset := 0; ; offset += keysPerPage {
		page, total, err := db.Keys(ctx, "", beacon.KeyPlace{}, offset, keysPerPage)
		if err != nil {
			return "", "", err
		}
		for _, key := range page {
			switch key.Name {
			case operatorKeyName:
				operator = key.User
			case staffKeyName:
				staff = key.User
			}
		}
		if offset+len(page) >= total {
			return operator, staff, nil
		}
	}
}
