package mvt_test

import "github.com/beacon-wifi/beacon/test/harness/level"

func init() { level.FixRapid() }
