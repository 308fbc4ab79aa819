package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

// Hotspots stand where people live: in cities of very different sizes, densest
// in their middle. The same seed gives the same world.

type city struct {
	center geo.Point
	spread float64 // degrees
	weight float64
}

func cities(random *rand.Rand) []city {
	all := make([]city, 200)
	for i := range all {
		all[i] = city{
			center: geo.Point{Lat: random.Float64()*110 - 50, Lng: random.Float64()*360 - 180},
			spread: 0.02 + random.Float64()*0.15,
			weight: 1 / float64(i+1), // the second city is half as large as the first
		}
	}
	return all
}

// place picks a point of a city, the larger ones more often.
func place(random *rand.Rand, all []city) geo.Point {
	var total float64
	for _, c := range all {
		total += c.weight
	}
	at := random.Float64() * total
	chosen := all[len(all)-1]
	for _, c := range all {
		if at -= c.weight; at <= 0 {
			chosen = c
			break
		}
	}
	p := geo.Point{
		Lat: chosen.center.Lat + random.NormFloat64()*chosen.spread,
		Lng: chosen.center.Lng + random.NormFloat64()*chosen.spread/math.Cos(chosen.center.Lat*math.Pi/180),
	}
	p.Lng = math.Remainder(p.Lng, 360)
	return p
}

// hotspot makes the n-th hotspot of the world.
func hotspot(n int, at geo.Point, now time.Time) beacon.Hotspot {
	return beacon.Hotspot{
		ID:       beacon.HotspotID(id.New(beacon.HotspotPrefix, now)),
		Operator: beacon.UserID(fmt.Sprintf("usr_%026d", n/10)),
		Name:     fmt.Sprintf("Corner of street %d and %d", n%977, n%1013),
		Type:     []beacon.Type{beacon.Home, beacon.Business, beacon.Public}[n%3],
		Location: beacon.Location{Point: at, Address: fmt.Sprintf("%d Long Street", n%2000)},
		Device:   beacon.Device{SSID: "beacon-guest", MAC: beacon.MAC(fmt.Sprintf("02:%02x:%02x:%02x:%02x:%02x", n>>32&255, n>>24&255, n>>16&255, n>>8&255, n&255))},
		Settings: beacon.Settings{MaxConnections: 64, BandwidthLimitMbps: 200},

		CreatedAt: now, UpdatedAt: now, Version: 1,
	}
}

// world is a database of hotspots on disk, and a key to ask about them.
type world struct {
	file   string
	key    string
	places []geo.Point // of some hotspots
}

// worldVariable names a folder to keep the database in, so that a second run
// need not make it again: registering a million hotspots takes a minute.
const worldVariable = "BEACON_BENCH_WORLD"

// newWorld registers n hotspots in a database through the store.
func newWorld(b *testing.B, n int) world {
	b.Helper()
	return newWorldScaled(b, fmt.Sprintf("world-%d.db", n), n, 1)
}

// newWorldScaled makes a world whose cities are that many times as wide.
func newWorldScaled(b *testing.B, name string, n int, scale float64) world {
	b.Helper()
	folder := os.Getenv(worldVariable)
	if folder == "" {
		folder = b.TempDir()
	}
	w := world{file: filepath.Join(folder, name)}
	_, err := os.Stat(w.file)
	kept := err == nil
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	db := open(b, w.file, now)
	defer db.Close()
	w.key = newKey(b, db, now)
	random := rand.New(rand.NewPCG(1, 2))
	all := citiesScaled(random, scale)
	for range 1000 {
		w.places = append(w.places, place(random, all))
	}
	if !kept {
		fill(b, db, n, func() geo.Point { return place(random, all) }, now, func(*beacon.Hotspot) {})
	}
	return w
}

func citiesScaled(random *rand.Rand, scale float64) []city {
	all := cities(random)
	for i := range all {
		all[i].spread *= scale
	}
	return all
}

// makeOnce makes a file unless it is there: whole, or not at all.
func makeOnce(b *testing.B, file string, make func(file string)) {
	b.Helper()
	if _, err := os.Stat(file); err == nil {
		return
	}
	unfinished := file + ".unfinished"
	for _, suffix := range []string{"", "-wal", "-shm"} { // of one that was broken off
		if err := os.Remove(unfinished + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			b.Fatal(err)
		}
	}
	make(unfinished)
	if err := os.Rename(unfinished, file); err != nil {
		b.Fatal(err)
	}
}

func fill(b *testing.B, db *store.DB, n int, next func() geo.Point, now time.Time, edit func(*beacon.Hotspot)) {
	b.Helper()
	group, ctx := errgroup.WithContext(b.Context())
	work := make(chan beacon.Hotspot, 1024)
	for range 256 {
		group.Go(func() error { return register(ctx, db, work) })
	}
	for i := range n {
		h := hotspot(i, next(), now.Add(time.Duration(i)*time.Millisecond))
		edit(&h)
		work <- h
	}
	close(work)
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
}

func register(ctx context.Context, db *store.DB, work <-chan beacon.Hotspot) error {
	for h := range work {
		if err := db.Hotspots.InsertHotspot(ctx, h, beacon.Actor{Request: "bench"}, nil); err != nil {
			return err
		}
	}
	return nil
}

func newKey(b *testing.B, db *store.DB, now time.Time) string {
	b.Helper()
	key, plain := access.Mint(now, beacon.Key{User: beacon.UserID(id.New(beacon.UserPrefix, now)), Scopes: []beacon.Scope{beacon.HotspotsWrite, beacon.HotspotsVerify}}) // exempt from quotas
	if err := db.Keys.InsertKey(b.Context(), key, beacon.Actor{Request: "bench"}, nil); err != nil {
		b.Fatal(err)
	}
	return plain
}

// open opens the database of a world. The caller closes it before another opens it.
func open(b *testing.B, file string, now time.Time) *store.DB {
	b.Helper()
	db, err := sqlite.Open(b.Context(), file, sqlite.Options{Now: now})
	if err != nil {
		b.Fatal(err)
	}
	return db
}
