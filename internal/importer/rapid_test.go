package importer

import "github.com/beacon-wifi/beacon/test/harness/level"

func init() { level.FixRapid() }
