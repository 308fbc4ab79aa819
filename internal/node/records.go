package node

import (
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

// Records returns telemetry that only decodes records, for a command beside servers.
func Records() rewards.Telemetry { return &telemetry.Telemetry{} }
