package client_test

import "github.com/beacon-wifi/beacon/rig/level"

func init() { level.FixRapid() }
