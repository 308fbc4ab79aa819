package beacon

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/id"
)

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
	AcrossAccounts   FlagKind = "across_accounts"
)

// FlagKinds returns all kinds.
func FlagKinds() []FlagKind {
	return []FlagKind{
		InterleavedBoots, ManyAddresses, AboveBandwidth, AcrossAccounts, CloseTogether, OneAddress, RingAroundVisit, MACAgain, TooRegular, NoClients, ManyBoots, LinkedAgain, ShortHours,
		SparseBeats, RadiusGrown,
	}
}

// Flag is something about a hotspot that staff should look at. It is no verdict.
type Flag struct {
	Hotspot  HotspotID
	Operator UserID
	Kind     FlagKind
	Weight   int              // how hard it is to explain
	Facts    map[string]int64 // what it is based on
	First    Day              // the first day on which it was seen, and the last
	Last     Day

	// Stake is what all hotspots of the account earned in the month of the last day and in
	// the one before it. Of a group, it is that of all accounts together.
	Stake Amount
	// Group are the hotspots of several accounts that a flag is about, the flagged one
	// first: at most FlagGroup of them.
	Group []Owned
}

// About returns whose hotspots the flag is about.
func (f *Flag) About() []UserID {
	users := []UserID{f.Operator}
	for _, o := range f.Group {
		if !slices.Contains(users, o.User) {
			users = append(users, o.User)
		}
	}
	return users
}

// FlagGroup is how many hotspots of a group are named.
const FlagGroup = 100

// FlagFilter chooses flags of the queue. Zero fields choose all.
type FlagFilter struct {
	Operator UserID
	Kind     FlagKind
}

// FlagLine is a line of the queue: a flag, and for how many of its account and kind it
// stands. The lines of an account follow each other.
type FlagLine struct {
	Flag
	Count int
	Rank  int64 // of the account; see FlagPlace
}

// Place returns the place of the line.
func (l *FlagLine) Place() FlagPlace {
	return FlagPlace{Rank: l.Rank, Operator: l.Operator, Weight: l.Weight, Kind: l.Kind, Hotspot: l.Hotspot}
}

// FlagPlace is the place of a line in the queue. Accounts are ordered by rank: the largest
// product of what is at stake and the weight of a flag. Then lines are by weight; both the
// highest first.
type FlagPlace struct {
	Rank     int64
	Operator UserID
	Weight   int
	Kind     FlagKind
	Hotspot  HotspotID
}

// FirstFlag is a place before all lines.
func FirstFlag() FlagPlace { return FlagPlace{Rank: math.MaxInt64} }

// String returns the place as a text.
func (p FlagPlace) String() string {
	return fmt.Sprintf("%d %s %d %s %s", p.Rank, p.Operator, p.Weight, p.Kind, p.Hotspot)
}

var errFlagPlace = errors.New("is not the place of a flag")

// ParseFlagPlace reads what String returned.
func ParseFlagPlace(text string) (FlagPlace, error) {
	parts := strings.Split(text, " ")
	if len(parts) != 5 {
		return FlagPlace{}, errFlagPlace
	}
	rank, err := strconv.ParseInt(parts[0], 10, 64)
	weight, err2 := strconv.ParseUint(parts[2], 10, 31)
	p := FlagPlace{rank, UserID(parts[1]), int(weight), FlagKind(parts[3]), HotspotID(parts[4])}
	if err != nil || err2 != nil || !id.Valid(UserPrefix, parts[1]) || !slices.Contains(FlagKinds(), p.Kind) || !id.Valid(HotspotPrefix, parts[4]) {
		return FlagPlace{}, errFlagPlace
	}
	return p, nil
}
