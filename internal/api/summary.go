package api

import (
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
)

// Summarize encodes the parts of a hotspot that responses show and that change only
// with its version; see fleet.Encoder. The text between the parts is the same for all
// hotspots: responses add it, so that memory does not hold it a million times.
//
// The result is a header and five JSON values: name, latitude, longitude, SSID and address.
// The header is the index of the type in types, then where each value ends, as a uint16.
// If strangers see something else, that comes first, and then the same of the truth. It
// is never stored on disk, so its form can change at any time. It is written by hand
// because a million are encoded when a server starts.
func Summarize(h beacon.Hotspot, public *beacon.Hotspot) string {
	var room [512]byte
	if public == nil {
		return string(summarize(room[:0], h))
	}
	return string(summarize(room[:0], *public)) + string(summarize(nil, h))
}

func summarize(out []byte, h beacon.Hotspot) []byte {
	out = append(out, make([]byte, headerSize)...)
	out[0] = byte(max(0, slices.Index(types[:], h.Type)))
	out = appendText(out, h.Name)
	binary.BigEndian.PutUint16(out[nameEnds:], uint16(len(out)))
	out = strconv.AppendFloat(out, h.Location.Point.Lat, 'f', -1, 64)
	binary.BigEndian.PutUint16(out[latEnds:], uint16(len(out)))
	out = strconv.AppendFloat(out, h.Location.Point.Lng, 'f', -1, 64)
	binary.BigEndian.PutUint16(out[lngEnds:], uint16(len(out)))
	out = appendText(out, h.Device.SSID)
	binary.BigEndian.PutUint16(out[ssidEnds:], uint16(len(out)))
	out = appendText(out, h.Location.Address)
	binary.BigEndian.PutUint16(out[addressEnds:], uint16(len(out)))
	return out
}

// The header of a summary. A name has at most beacon.MaxName characters, no angle has
// more than 330 digits, an SSID has 32 bytes and an address beacon.MaxAddress characters,
// so 16 bits are enough.
const (
	nameEnds    = 1
	latEnds     = 3
	lngEnds     = 5
	ssidEnds    = 7
	addressEnds = 9
	headerSize  = 11
)

// fragments are the parts of a summary.
type fragments struct {
	typeIndex                     byte // in types
	name, lat, lng, ssid, address string
}

// fragmentsOf returns what strangers see. It allocates nothing.
func fragmentsOf(s *fleet.Hotspot) fragments { return split(s.Encoded()) }

// trueFragmentsOf returns what staff see.
func trueFragmentsOf(s *fleet.Hotspot) fragments {
	text := s.Encoded()
	if s.Hidden() {
		text = text[endAt(text, addressEnds):]
	}
	return split(text)
}

// split splits a summary.
func split(text string) fragments {
	name, lat, lng, ssid := endAt(text, nameEnds), endAt(text, latEnds), endAt(text, lngEnds), endAt(text, ssidEnds)
	return fragments{text[0], text[headerSize:name], text[name:lat], text[lat:lng], text[lng:ssid], text[ssid:endAt(text, addressEnds)]}
}

func endAt(text string, i int) int { return int(text[i])<<8 | int(text[i+1]) }

// Summary is what Summarize keeps of a hotspot. The texts are JSON.
type Summary struct {
	Type                beacon.Type
	Name, SSID, Address string
}

// SummaryOf returns the summary of a hotspot, for others than this API.
func SummaryOf(s *fleet.Hotspot) Summary {
	f := fragmentsOf(s)
	return Summary{types[f.typeIndex], f.name, f.ssid, f.address}
}

// types are the types that a hotspot can have. The first is for one without a type.
var types = [...]beacon.Type{"", beacon.Home, beacon.Business, beacon.Public}

// toLocation and toAddress are the text of a response from the name of a hotspot of each
// type to its latitude and to its address.
var toLocation, toAddress = afterName(`,"location":{"lat":`), afterName(`,"address":`)

func afterName(next string) (texts [len(types)]string) {
	for i, name := range types {
		texts[i] = `,"type":"` + string(name) + `"` + next
	}
	return texts
}

// appendSummary begins an object about a hotspot, up to and including its address.
func appendSummary(out []byte, s *fleet.Hotspot, f fragments) []byte {
	out = append(append(out, `{"id":"`...), s.ID()...)
	out = append(append(out, `","name":`...), f.name...)
	out = append(append(out, toLocation[f.typeIndex]...), f.lat...)
	out = append(append(out, `,"lng":`...), f.lng...)
	return append(append(out, `,"address":`...), f.address...)
}

// appendPlace writes the id and the coordinates of a hotspot, as members of an object.
func appendPlace(out []byte, s *fleet.Hotspot, f fragments) []byte {
	out = append(append(out, `"id":"`...), s.ID()...)
	out = append(append(out, `","lat":`...), f.lat...)
	return append(append(out, `,"lng":`...), f.lng...)
}

// appendApproximate writes that the place is not the true one, if so.
func appendApproximate(out []byte, s *fleet.Hotspot) []byte {
	if s.Hidden() {
		out = append(out, `,"approximate":true`...)
	}
	return out
}

// appendConnection writes what an app needs to connect: the name of the network, and
// whether the hotspot is open (decision D103).
func appendConnection(out []byte, s *fleet.Hotspot, f fragments, now time.Time) []byte {
	out = append(append(out, `,"ssid":`...), f.ssid...)
	open, until := s.OpenAt(now)
	if open {
		out = append(out, `,"open_now":true,"open_until":`...)
	} else {
		out = append(out, `,"open_now":false,"opens_at":`...)
	}
	if until.IsZero() {
		return append(out, "null"...)
	}
	return append(stamp(until).append(append(out, '"')), '"')
}

// appendFeature begins a GeoJSON feature about a hotspot, up to the id in its properties.
func appendFeature(out []byte, s *fleet.Hotspot, f fragments) []byte {
	out = append(beginFeature(out, s.ID()), f.lng...)
	out = append(append(out, ','), f.lat...)
	return continueFeature(out, s.ID())
}

// beginFeature begins a GeoJSON feature, up to its coordinates.
func beginFeature(out []byte, id string) []byte {
	out = append(append(out, `{"type":"Feature","id":"`...), id...)
	return append(out, `","geometry":{"type":"Point","coordinates":[`...)
}

// continueFeature writes what follows the coordinates, up to the id in the properties.
func continueFeature(out []byte, id string) []byte {
	out = append(append(out, `]},"properties":{"id":"`...), id...)
	return append(out, '"')
}

// appendText writes a JSON string. Names and addresses are valid UTF-8: they were
// checked on input.
func appendText(out []byte, text string) []byte {
	out, err := jsontext.AppendQuote(out, text)
	if err != nil {
		panic(err)
	}
	return out
}
