package storetest

import (
	"sync"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/store"
)

// watch: the callback gets every transaction with its stream and its outcome, and Pools
// shows the connections they use.
func watch(t *testing.T, database Database) {
	db := database.open(t)
	insert(t, db, Hotspot(1)) // not watched yet
	var mu sync.Mutex
	heard := map[string]int{}
	db.Watch(func(c store.Commit) {
		mu.Lock()
		defer mu.Unlock()
		heard[c.Stream+" "+c.Outcome]++
		if c.Took <= 0 {
			t.Errorf("%+v took no time", c)
		}
	})
	insert(t, db, Hotspot(2), Hotspot(3))
	must(db.AppendBeats(t.Context(), batch(1)))
	again := Hotspot(4)
	again.ID = Hotspot(1).ID
	if _, err := db.InsertHotspot(t.Context(), again, beacon.Actor{}, nil); err == nil {
		t.Error("an id was taken twice")
	}
	must(db.Heads(t.Context())) // something is read
	mu.Lock()
	defer mu.Unlock()
	equal(t, "what was heard", heard, map[string]int{"changes committed": 2, "changes refused": 1, "journal committed": 1})
	write, read := db.Pools()
	if write.MaxOpenConnections < 1 || read.MaxOpenConnections < 1 || write.OpenConnections < 1 || read.OpenConnections < 1 {
		t.Errorf("the pools are %+v and %+v", write, read)
	}
}
