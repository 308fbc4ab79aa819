//go:build linux

package endtoend_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/beacon-wifi/beacon/rig"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(floodVariable); spec != "" {
		if err := beFlood(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(rig.Main(m))
}
