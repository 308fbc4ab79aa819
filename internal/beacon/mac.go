package beacon

import (
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// MAC is a hardware address as its operator wrote it: it is echoed as sent, and
// compared by Canonical (decision N8).
type MAC string

const octets = 6

var (
	errMAC        = errors.New("must be a MAC address, such as 02:00:5e:10:00:01")
	errMACNobody  = errors.New("must be the address of one device, not all zeros")
	errMACAnyBody = errors.New("must be the address of one device, not broadcast or multicast")
)

// ParseMAC accepts six octets in hexadecimal digits of either case, written as
// aa:bb:cc:dd:ee:ff, aa-bb-cc-dd-ee-ff, aa.bb.cc.dd.ee.ff, aabb.ccdd.eeff or
// aabbccddeeff. It rejects addresses that cannot belong to a single device.
func ParseMAC(s string) (MAC, error) {
	address, ok := decodeMAC(s)
	switch {
	case !ok:
		return "", errMAC
	case address == [octets]byte{}:
		return "", errMACNobody
	case address[0]&1 != 0: // the group bit, which broadcast has too
		return "", errMACAnyBody
	}
	return MAC(s), nil
}

// Canonical returns the address as aa:bb:cc:dd:ee:ff, however it was written, or ""
// if it is not an address.
func (m MAC) Canonical() string {
	address, ok := decodeMAC(string(m))
	if !ok {
		return ""
	}
	text := make([]byte, 0, octets*3)
	for _, octet := range address {
		text = append(hex.AppendEncode(text, []byte{octet}), ':')
	}
	return string(text[:len(text)-1])
}

// decodeMAC reads the octets. The length alone determines how the digits must be
// grouped, and the first separator is the one required between all groups.
func decodeMAC(s string) (address [octets]byte, ok bool) {
	switch len(s) {
	case 14:
		s = ungroup(s, 4, ".")
	case 17:
		s = ungroup(s, 2, ":-.")
	}
	if len(s) != 2*octets {
		return address, false
	}
	_, err := hex.Decode(address[:], []byte(s))
	return address, err == nil
}

// ungroup removes the separators between groups of size digits. It returns "" if they
// differ or are not allowed.
func ungroup(s string, size int, allowed string) string {
	separator := s[size]
	if strings.IndexByte(allowed, separator) < 0 {
		return ""
	}
	digits := make([]byte, 0, 2*octets)
	for i := range len(s) {
		if i%(size+1) != size {
			digits = append(digits, s[i])
		} else if s[i] != separator {
			return ""
		}
	}
	return string(digits)
}

// macReserved is how long a freed MAC address is kept for its last owner. An operator
// who replaces hardware, or registers again, must not lose the address to someone who
// waited for it.
const macReserved = 30 * 24 * time.Hour

// MACReservedUntil returns until when the address that a hotspot gives up is reserved for
// its operator, or the zero time if that changes nothing: an address that was not in
// service may be no device of theirs, and one hotspot could reserve all of a vendor's. If
// staff took it away, it may have been someone else's all along, and is free at once.
func (h Hotspot) MACReservedUntil(by UserID, at time.Time) time.Time {
	switch {
	case by != h.Operator:
		return at
	case h.ActiveSince().IsZero():
		return time.Time{}
	}
	return at.Add(macReserved)
}

// ReleasedMAC is an address that is free again, and for whom it was reserved.
type ReleasedMAC struct {
	MAC  MAC
	User UserID
}
