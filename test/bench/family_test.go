package bench

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
)

// serverOf finds the process that all processes of the database server are
// children of.
func serverOf(b *testing.B, conn *pgx.Conn) int {
	b.Helper()
	var backend int
	if err := conn.QueryRow(b.Context(), `SELECT pg_backend_pid()`).Scan(&backend); err != nil {
		b.Fatal(err)
	}
	return parentOf(statOf(backend))
}

func parentOf(stat []string) int {
	if len(stat) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(stat[1])
	return parent
}

// familyCPU is the processor time of a process and its children, also of those
// that have ended, in seconds.
func familyCPU(b *testing.B, parent int) float64 {
	b.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		b.Fatal(err)
	}
	total := 0.0
	for _, folder := range folders {
		pid, _ := strconv.Atoi(filepath.Base(folder))
		stat := statOf(pid)
		switch {
		case len(stat) < 15:
		case pid == parent:
			total += seconds(stat[11:15])
		case parentOf(stat) == parent:
			total += seconds(stat[11:13])
		}
	}
	return total
}
