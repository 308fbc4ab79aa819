package sqlite_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/internal/store/sqlite"
)

func TestPositional(t *testing.T) {
	for text, want := range map[string]string{
		`SELECT 1`:                        `SELECT 1`,
		`VALUES ($1, $2), ($3, $4)`:       `VALUES (?, ?), (?, ?)`,
		`a = $1 AND b = $1`:               `a = $1 AND b = $1`,
		`a = $2 AND b = $1`:               `a = $2 AND b = $1`,
		`$1 $2 $3 $4 $5 $6 $7 $8 $9 $10`:  `? ? ? ? ? ? ? ? ? ?`,
		`$1 $2 $3 $4 $5 $6 $7 $8 $9 $100`: `$1 $2 $3 $4 $5 $6 $7 $8 $9 $100`,
		`$10`:                             `$10`,
		`$x`:                              `$x`,
	} {
		if got := sqlite.Positional(text); got != want {
			t.Errorf("Positional(%q) = %q; want %q", text, got, want)
		}
	}
}
