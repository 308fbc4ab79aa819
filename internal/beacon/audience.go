package beacon

import "slices"

// Detail is something that the interface tells of a hotspot or its operator: a field, by
// the name of its schema and its path there, or a kind of event.
type Detail string

// Audience is who may see a detail.
type Audience string

// The audiences, from the widest to the narrowest, where the second is not on by default. Public details are in open feeds, which
// need no key, if the server has them. Staff are those who may verify. Admin sees everything.
const (
	Everyone        Audience = "public"
	EveryoneIfShown Audience = "public, rounded, where `show_clients` is on"
	AnyKey          Audience = "any key"
	OwnerAndStaff   Audience = "owner and staff"
	OwnerOnly       Audience = "owner"
)

// Those of the details that not everyone may see about which code decides one by one.
const (
	HotspotPlace     Detail = ShownLat // latitude and longitude have one audience
	UnverifiedReason Detail = "Hotspot.location.unverified_reason"
	ProvenUntil      Detail = "Hotspot.location.proven_until"
	LastUncounted    Detail = "Hotspot.metrics.last_uncounted"
	CountersFellAt   Detail = "Hotspot.metrics.counters_fell_at"
	DeviceAgent      Detail = "Hotspot.device.agent"
	HistoryClients   Detail = "History.points.clients"
	HistoryTraffic   Detail = "History.points.traffic_gb"

	// Those that open feeds show.
	ShownID      Detail = "Hotspot.id"
	ShownName    Detail = "Hotspot.name"
	ShownType    Detail = "Hotspot.type"
	ShownStatus  Detail = "Hotspot.status"
	ShownRadius  Detail = "Hotspot.coverage_radius_m"
	ShownCreated Detail = "Hotspot.created_at"
	ShownOpen    Detail = "Hotspot.open_now"
	ShownUntil   Detail = "Hotspot.open_until"
	ShownOpens   Detail = "Hotspot.opens_at"
	ShownLat     Detail = "Hotspot.location.lat"
	ShownLng     Detail = "Hotspot.location.lng"
	ShownAddress Detail = "Hotspot.location.address"
	ShownSSID    Detail = "Hotspot.device.ssid"
	ShownSeen    Detail = "Hotspot.metrics.last_seen_at"
	ShownHours   Detail = "Hotspot.settings.operating_hours"
	ShownUptime  Detail = "History.points.uptime" // of whole days
	ShownClients Detail = "Feed.clients"          // never of homes
)

// audiences is the one place that decides who sees what, with settingsForAnyKey. Fields that the document of the
// network interface gives to every key stay open to every key.
var audiences = []struct {
	audience Audience
	details  []Detail
}{
	{Everyone, []Detail{
		ShownID, ShownName, ShownType, ShownStatus, ShownRadius, ShownCreated, ShownOpen, ShownUntil, ShownOpens,
		ShownLat, ShownLng, ShownAddress, ShownSSID, ShownSeen, ShownHours, ShownUptime,
	}},
	{EveryoneIfShown, []Detail{ShownClients}},
	{AnyKey, slices.Concat([]Detail{"Hotspot.operator_id", "Hotspot.updated_at"}, settingsForAnyKey, []Detail{
		"Hotspot.location.approximate", "Hotspot.location.verified", "Hotspot.location.verified_at",
		"Hotspot.device.mac_address", "Hotspot.device.linked", "Hotspot.device.linked_at",
		"Hotspot.metrics.uptime_30d", "Hotspot.metrics.connections_24h", "Hotspot.metrics.bandwidth_used_24h_gb",
		"Hotspot.metrics.performance_tier", "Hotspot.metrics.signal_quality", "Hotspot.metrics.current_load",
		"Hotspot.quality",
		"History.hotspot_id", "History.from", "History.to", "History.step", "History.points.at",
		"History.points.performance_tier",
		Detail(HotspotRegistered), Detail(HotspotUpdated), Detail(HotspotDeleted), Detail(HotspotRestored), Detail(HotspotOnline), Detail(HotspotOffline),
	})},
	{OwnerAndStaff, []Detail{
		UnverifiedReason, ProvenUntil, LastUncounted, CountersFellAt, DeviceAgent, HistoryClients, HistoryTraffic,
		Detail(HotspotVerified), Detail(HotspotUnverified), Detail(HotspotLinked), Detail(HotspotUnlinked),
	}},
	{OwnerOnly, []Detail{Detail(RewardsSettled), Detail(HotspotHandedOver)}},
}

// ofHomes are the details that strangers do not see of a hidden home: Blur puts a
// substitute in their place. The true ones are for its owner and staff.
var ofHomes = []Detail{
	HotspotPlace, ShownLng, ShownAddress, "Hotspot.location.verified_at", "Hotspot.operator_id", "Hotspot.updated_at",
	ShownSSID, "Hotspot.device.mac_address", "Hotspot.device.linked_at",
	"Hotspot.metrics.connections_24h", "Hotspot.metrics.bandwidth_used_24h_gb", "Hotspot.metrics.current_load", ShownSeen,
	"Hotspot.quality",
}

// HiddenOfHomes reports whether strangers see a substitute for the detail of a hidden
// home.
func (d Detail) HiddenOfHomes() bool { return slices.Contains(ofHomes, d) }

// Audience returns who may see the detail. What nobody has decided about is for its owner.
func (d Detail) Audience() Audience {
	for _, row := range audiences {
		if slices.Contains(row.details, d) {
			return row.audience
		}
	}
	return OwnerOnly
}

// Details returns all details that were decided about, by audience.
func Details() []Detail {
	var all []Detail
	for _, row := range audiences {
		all = append(all, row.details...)
	}
	return all
}

// Sees reports whether the principal may see a detail about what belongs to the owner.
func (p Principal) Sees(d Detail, owner UserID) bool { return p.sees(d.Audience(), owner) }

// SeesOfHome is Sees for a home that is hidden from strangers; see Blur.
func (p Principal) SeesOfHome(d Detail, owner UserID) bool {
	if d.HiddenOfHomes() {
		return p.sees(OwnerAndStaff, owner)
	}
	return p.Sees(d, owner)
}

func (p Principal) sees(audience Audience, owner UserID) bool {
	switch audience {
	case Everyone, AnyKey:
		return true
	case OwnerAndStaff:
		return p.MayActFor(owner) || p.May(StaffDetails)
	default:
		return p.MayActFor(owner)
	}
}

// HideFrom removes from a hotspot what the principal may not see of any hotspot. What
// strangers may not see of a hidden home is removed by Blur.
func (h *Hotspot) HideFrom(p Principal) {
	if !p.Sees(UnverifiedReason, h.Operator) {
		h.Location.UnverifiedReason = "" // staff may have written anything
	}
	if !p.Sees(DeviceAgent, h.Operator) {
		h.Device.Agent = Agent{}
	}
}
