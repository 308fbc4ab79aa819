package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// gcPercentWhileStaging applies at startup: months of records make much garbage, and
// little of it is in use at once.
const gcPercentWhileStaging = 400

// byDemo is the actor of what a demonstration does by itself.
var byDemo = beacon.Actor{Request: "demo"}

// Stage is a network that can be shown: a database file, and what is not in the file.
type Stage struct {
	City                  City
	Hotspots              int // live ones
	Devices               []*simulate.Device
	OperatorKey, StaffKey string
	Operator, Staff       beacon.Key // what the keys are

	file   string
	writer *writer // nil: there is no history to write
}

// Create generates a network and writes its hotspots to a new file: what a map shows. Call
// WriteHistory then, and Discard at the end.
func Create(ctx context.Context, file string, cfg Config) (*Stage, error) {
	network, err := New(cfg)
	if err != nil {
		return nil, err
	}
	s := &Stage{City: network.in, file: file}
	if err := s.create(ctx, network); err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	for _, hotspot := range network.Beating() {
		s.Devices = append(s.Devices, hotspot.Device)
	}
	for _, hotspot := range network.Hotspots {
		if !hotspot.Deleted() {
			s.Hotspots++
		}
	}
	return s, nil
}

func (s *Stage) create(ctx context.Context, network *Network) error {
	if _, err := os.Stat(s.file); err == nil && !Unfinished(s.file) {
		return fmt.Errorf("%s exists", s.file)
	}
	if err := errors.Join(os.WriteFile(mark(s.file), nil, 0o600), removeDatabase(s.file)); err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, s.file, sqlite.Options{Now: network.Now, Draft: true})
	if err != nil {
		return err
	}
	s.writer = &writer{db: db, network: network, said: map[*byte]*beacon.Did{}}
	if err := s.writer.writeHotspots(ctx); err != nil {
		return err
	}
	return s.mintKeys(ctx, db, network.Operator, network.Staff, network.Now)
}

// mark is the name of an empty file that exists until the history of a database is complete.
func mark(file string) string { return file + ".unfinished" }

// Unfinished reports whether a file was left by a run that was killed. Create replaces it.
func Unfinished(file string) bool {
	_, err := os.Stat(mark(file))
	return err == nil
}

// WriteHistory writes the history, if there is one to write. A server may run on the file
// meanwhile, without the lease: what it reads agrees at every moment. It calls wrote after
// each day, and recorded once all heartbeats are on disk: the server reads them then.
func (s *Stage) WriteHistory(ctx context.Context, wrote func(), recorded func(context.Context) error) error {
	if s.writer == nil {
		return nil
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercentWhileStaging))
	w := s.writer
	w.wrote, w.recorded = wrote, recorded
	if err := w.writeHistory(ctx); err != nil {
		return err
	}
	s.writer = nil
	if err := errors.Join(w.db.Close(), syncDatabase(s.file), os.Remove(mark(s.file))); err != nil {
		return err
	}
	return syncFile(filepath.Dir(s.file)) // or the mark may come back, and with it the end of what was done since
}

// Discard removes the file if its history is not complete. No server may run on it.
func (s *Stage) Discard() error {
	if !Unfinished(s.file) {
		return nil
	}
	var err error
	if s.writer != nil {
		err = s.writer.db.Close()
	}
	return errors.Join(err, removeDatabase(s.file), os.Remove(mark(s.file)))
}

// syncDatabase waits until all that was written to a SQLite file is on disk.
func syncDatabase(file string) error {
	for _, suffix := range []string{"", "-wal"} {
		if err := syncFile(file + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func syncFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
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
	s := &Stage{file: file}
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
	err = db.Hotspots.EachHotspot(ctx, time.Time{}, func(h beacon.Hotspot) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, h)
		return nil
	})
	if err != nil {
		return err
	}
	s.Hotspots = len(all)
	if len(all) > 0 {
		s.City = cityAt(all[0].Location.Point)
	}
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
		_, err := db.Hotspots.UpdateHotspot(ctx, hotspot.ID, by, beacon.HotspotUpdated, func(h *beacon.Hotspot) (bool, error) {
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
		as    *beacon.Key
	}{
		{beacon.Key{User: operator, Name: operatorKeyName, Scopes: []beacon.Scope{beacon.HotspotsWrite, beacon.RewardsRead, beacon.KeysManage}}, &s.OperatorKey, &s.Operator},
		{beacon.Key{User: staff, Name: staffKeyName, Scopes: []beacon.Scope{beacon.Admin}}, &s.StaffKey, &s.Staff},
	} {
		held, _, err := db.Keys.Keys(ctx, key.User, beacon.KeyPlace{}, 0, keysPerPage)
		if err != nil {
			return err
		}
		for _, old := range held {
			if old.Name == key.Name && old.RevokedAt.IsZero() {
				if err := db.Keys.RevokeKey(ctx, old.ID, now, byDemo); err != nil {
					return err
				}
			}
		}
		minted, plain := access.Mint(now, key.Key)
		if err := db.Keys.InsertKey(ctx, minted, byDemo, nil); err != nil {
			return err
		}
		*key.plain, *key.as = plain, key.Key
	}
	return nil
}

// users finds the users of earlier keys. It finds none if the database is not of a
// demonstration.
func users(ctx context.Context, db *store.DB) (operator, staff beacon.UserID, err error) {
	for offset := 0; ; offset += keysPerPage {
		page, total, err := db.Keys.Keys(ctx, "", beacon.KeyPlace{}, offset, keysPerPage)
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
