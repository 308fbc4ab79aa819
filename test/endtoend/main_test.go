//go:build linux

package endtoend_test

import (
	"os"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
