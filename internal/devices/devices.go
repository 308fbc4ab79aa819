// Package devices takes what a device sends: a heartbeat, the address that it came from, and
// what the device reports about itself. It is not the devices' keys, which registry and the
// edge know, and it does not know the format of what is sent.
//
// Its invariant: a heartbeat that telemetry has taken is taken, whatever happens to the rest.
package devices

import (
	"context"
	"net/netip"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/registry"
)

// Beats takes heartbeats.
type Beats interface {
	// Take returns once the heartbeat is durable, or with an error. It must give up
	// by itself: heartbeat requests have no deadline of their own.
	Take(ctx context.Context, hotspot *fleet.Hotspot, beat beacon.Heartbeat) (beacon.Taken, error)
}

// Addresses notes from where devices send.
type Addresses interface {
	Heard(hotspot *fleet.Hotspot, from netip.Prefix)
}

// Reports stores what devices report about themselves.
type Reports interface {
	Report(ctx context.Context, in registry.Report) (stored bool, err error)
}

// Devices takes what devices send.
type Devices struct {
	beats     Beats
	addresses Addresses
	reports   Reports
}

// New returns devices.
func New(beats Beats, addresses Addresses, reports Reports) *Devices {
	return &Devices{beats, addresses, reports}
}

// Sent is what a device has sent.
type Sent struct {
	Beat     beacon.Heartbeat
	From     netip.Prefix
	Agent    beacon.Agent  // what it reports about itself; zero: nothing
	Request  string        // for the audit log
	Patience time.Duration // how long it may take to store the report
}

// Outcome is what became durable.
type Outcome struct {
	beacon.Taken
	Dropped bool  // there was a report, which is not stored
	Err     error // why it cannot be; nil if it came too soon after the one before
}

// Take makes a heartbeat durable, notes from where it came if it counts, and stores what the
// device reports. The heartbeat counts in any case: if the report cannot be stored, or not so
// soon again, it is ignored (decision D122).
func (d *Devices) Take(ctx context.Context, hotspot *fleet.Hotspot, in *Sent) (out Outcome, err error) {
	if out.Taken, err = d.beats.Take(ctx, hotspot, in.Beat); err != nil {
		return out, err
	}
	if out.Why == beacon.Counted {
		d.addresses.Heard(hotspot, in.From)
	}
	if in.Agent != (beacon.Agent{}) {
		ctx, cancel := context.WithTimeout(ctx, in.Patience)
		defer cancel()
		stored, err := d.reports.Report(ctx, registry.Report{Hotspot: beacon.HotspotID(hotspot.ID()), Agent: in.Agent, Request: in.Request})
		out.Dropped, out.Err = !stored, err
	}
	return out, nil
}
