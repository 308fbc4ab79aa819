package bench

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/geo"
)

// device is a hotspot that can beat.
type device struct {
	hotspot beacon.HotspotID
	key     string
}

// liveWorld is a world of hotspots that are verified and linked, with the keys
// of their devices.
type liveWorld struct {
	world
	devices []device
}

// newLiveWorld makes one; see newWorld.
func newLiveWorld(b *testing.B, n int) liveWorld {
	b.Helper()
	folder := os.Getenv(worldVariable)
	if folder == "" {
		folder = b.TempDir()
	}
	w := liveWorld{world: world{file: filepath.Join(folder, fmt.Sprintf("live-%d.db", n))}}
	keys := w.file + ".keys"
	if _, err := os.Stat(keys); err != nil {
		makeLiveWorld(b, w.file, keys, n, time.Now().Add(-time.Hour), func(int, *beacon.Hotspot) {})
	}
	w.devices = readKeys(b, keys)
	w.addKey(b)
	random := rand.New(rand.NewPCG(1, 2))
	all := cities(random)
	for range 1000 {
		w.places = append(w.places, place(random, all))
	}
	return w
}

// addKey makes a key to ask with.
func (w *world) addKey(b *testing.B) {
	b.Helper()
	db := open(b, w.file, time.Now())
	defer db.Close()
	w.key = newKey(b, db, time.Now())
}

// makeLiveWorld registers n hotspots at a time, each as edit changes it.
func makeLiveWorld(b *testing.B, file, keys string, n int, now time.Time, edit func(i int, h *beacon.Hotspot)) {
	b.Helper()
	db := open(b, file, now)
	defer db.Close()
	random := rand.New(rand.NewPCG(1, 2))
	all := cities(random)
	var lines strings.Builder
	next := 0
	fill(b, db, n, func() geo.Point { return place(random, all) }, now, func(h *beacon.Hotspot) {
		plain, hash := access.MintDevice(h.ID)
		h.Location.VerifiedAt, h.Device.LinkedAt, h.Device.KeyHash = now, now, hash
		edit(next, h)
		next++
		fmt.Fprintln(&lines, h.ID, plain)
	})
	if err := os.WriteFile(keys, []byte(lines.String()), 0o600); err != nil {
		b.Fatal(err)
	}
}

func readKeys(b *testing.B, name string) (all []device) {
	b.Helper()
	file, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		id, key, _ := strings.Cut(lines.Text(), " ")
		all = append(all, device{beacon.HotspotID(id), key})
	}
	return all
}
