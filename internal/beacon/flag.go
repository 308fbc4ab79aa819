package beacon

// FlagKind says what about a hotspot staff should look at.
type FlagKind string

const (
	InterleavedBoots FlagKind = "interleaved_boots"
	AboveBandwidth   FlagKind = "above_bandwidth"
	ManyBoots        FlagKind = "many_boots"
	NoClients        FlagKind = "traffic_without_clients"
	TooRegular       FlagKind = "too_regular"
	SparseBeats      FlagKind = "sparse_beats"
	ShortHours       FlagKind = "short_hours"
	LinkedAgain      FlagKind = "linked_again"
	MACAgain         FlagKind = "mac_again"
	CloseTogether    FlagKind = "close_together"
	RingAroundVisit  FlagKind = "ring_around_visit"
	RadiusGrown      FlagKind = "radius_grown"
	ManyAddresses    FlagKind = "many_addresses"
	OneAddress       FlagKind = "one_address"
)

// FlagKinds returns all kinds.
func FlagKinds() []FlagKind {
	return []FlagKind{
		InterleavedBoots, ManyAddresses, AboveBandwidth, CloseTogether, OneAddress, RingAroundVisit, MACAgain, TooRegular, NoClients, ManyBoots, LinkedAgain, ShortHours,
		SparseBeats, RadiusGrown,
	}
}

// Flag is something about a hotspot that staff should look at. It is no verdict.
type Flag struct {
	Hotspot  HotspotID
	Operator UserID
	Kind     FlagKind
	Weight   int              // flags are ordered by it, the highest first
	Facts    map[string]int64 // what it is based on
	First    Day              // the first day on which it was seen, and the last
	Last     Day
}
