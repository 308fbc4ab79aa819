package architecture_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Migrations are numbered from 1 without a gap, and no number is taken twice: a server
// refuses to start otherwise, and two branches that each add one merge without a conflict.
func TestMigrations_AreNumbered(t *testing.T) {
	files, err := os.ReadDir("internal/store/migrations")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for i, file := range files {
		if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(file.Name(), want) {
			t.Errorf("%s: want the number %s", file.Name(), want)
		}
	}
}
