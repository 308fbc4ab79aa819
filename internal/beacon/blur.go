package beacon

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/id"
)

// HomePrivacy says what strangers see of homes: a setting of the network (decision X9).
type HomePrivacy string

const (
	HomesOpen    HomePrivacy = "off"  // as the document of the network interface is written
	HomesBlurred HomePrivacy = "blur" // see Blur
)

// CheckHomePrivacy rejects what is not a setting.
func CheckHomePrivacy(p HomePrivacy) error {
	if p != HomesOpen && p != HomesBlurred {
		return errors.New("must be blur or off")
	}
	return nil
}

// Blur hides homes from strangers (decision D141). The zero Blur hides nothing.
//
// The Earth is divided into cells. The public place of a home depends on its id, its
// cell and the secret alone. So a home that is moved within its cell shows nothing, and
// no number of public places tells more than the cell.
type Blur struct {
	Homes  HomePrivacy
	Secret [32]byte // of the network: the same on all servers, and for ever
}

const (
	// blurRadiusM is how far the public place of a home is from the middle of its cell
	// at most, and how wide a cell is at least.
	blurRadiusM = 250
	// BlurWithinM is farther than the public place of a home can be from its true one.
	// Except near the poles, that is the radius and half the diagonal of a cell: 427 m.
	BlurWithinM = 550
)

// MaskedMAC stands for the MAC address of a home. No device can have it.
const MaskedMAC MAC = "00:00:00:00:00:00"

// Hides reports whether strangers see the hotspot as Public returns it.
func (b *Blur) Hides(t Type) bool { return b.Homes == HomesBlurred && t == Home }

// Public returns a home as strangers see it: at another place, without address and MAC
// address, without its network name unless its operator shows that, with an operator of
// its own, and with days instead of moments. What its heartbeats tell is left to the
// caller.
func (b *Blur) Public(h Hotspot) Hotspot {
	h.Location.Point = b.place(h.ID, h.Location.Point)
	h.Location.Address = ""
	h.Location.VerifiedAt = dayOf(h.Location.VerifiedAt)
	h.Device.MAC = MaskedMAC
	if !h.Settings.ShowSSID {
		h.Device.SSID = ""
	}
	h.Device.LinkedAt = dayOf(h.Device.LinkedAt)
	h.UpdatedAt = Later(dayOf(h.UpdatedAt), h.CreatedAt)
	h.Operator = UserID(id.Raw(b.sum("operator", h.ID)[:16]).Format(UserPrefix))
	h.PastHours, h.PastService, h.Visits = nil, nil, nil
	return h
}

// dayOf returns the beginning of the UTC day of a moment, or zero.
func dayOf(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(24 * time.Hour)
}

// place returns a point that is uniform in the disc around the middle of the cell, to
// about a metre.
func (b *Blur) place(hotspot HotspotID, p geo.Point) geo.Point {
	row, column, middle := cellOf(p)
	sum := b.sum("place", hotspot, row, column)
	const digits = 1 << 53
	meters := blurRadiusM * math.Sqrt(float64(binary.BigEndian.Uint64(sum[:])%digits)/digits)
	bearing := float64(binary.BigEndian.Uint64(sum[8:])%digits) / digits * 360
	shown := middle.Toward(bearing, meters)
	const perDegree = 1e5
	return geo.Point{Lat: positiveZero(math.Round(shown.Lat*perDegree) / perDegree), Lng: positiveZero(math.Round(shown.Lng*perDegree) / perDegree)}
}

// sum returns a keyed hash of a hotspot and numbers, different for each use.
func (b *Blur) sum(use string, hotspot HotspotID, numbers ...uint64) []byte {
	mac := hmac.New(sha256.New, b.Secret[:])
	mac.Write([]byte(use + "\x00" + string(hotspot) + "\x00"))
	for _, n := range numbers {
		mac.Write(binary.BigEndian.AppendUint64(nil, n))
	}
	return mac.Sum(nil)
}

// cellOf returns the cell of a place. Rows are blurRadiusM high, and each is divided into
// as many columns of at least that width as fit.
func cellOf(p geo.Point) (row, column uint64, middle geo.Point) {
	const perDegree = geo.EarthRadius * math.Pi / 180
	const height = blurRadiusM / perDegree
	row = uint64((p.Lat + 90) / height)
	middle.Lat = min((float64(row)+0.5)*height-90, 90)
	columns := max(1, math.Floor(360*perDegree*math.Cos(middle.Lat*math.Pi/180)/blurRadiusM))
	column = uint64(min((p.Lng+180)/360*columns, columns-1))
	middle.Lng = (float64(column)+0.5)/columns*360 - 180
	return row, column, middle
}
