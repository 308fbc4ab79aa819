package bench

import (
	"fmt"
	"os"
	"testing"
)

// peersVariable says that the systems are there that Beacon is compared with:
// scripts/with-peers sets it.
const peersVariable = "BEACON_BENCH_PEERS"

// Beacon beside what people would use instead, on the same data and in turns:
// run it with "make bench-peers". The tables are ready for docs/performance.md.
func BenchmarkPeers(b *testing.B) {
	if os.Getenv(peersVariable) == "" {
		fmt.Println("NOT RUN: Beacon beside Redis and PostGIS: run make bench-peers") // b.Skip alone says nothing
		b.Skip()
	}
	b.Run("nearby", benchPeersNearby)
}

// table prints as Markdown.
type table struct {
	title   string
	columns []string
	rows    [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) print() {
	fmt.Printf("\n%s\n\n", t.title)
	line := func(cells []string) {
		for _, cell := range cells {
			fmt.Printf("| %s ", cell)
		}
		fmt.Println("|")
	}
	line(t.columns)
	for range t.columns {
		fmt.Print("|---")
	}
	fmt.Println("|")
	for _, row := range t.rows {
		line(row)
	}
	fmt.Println()
}
