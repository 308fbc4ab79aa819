package fragments

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/internal/api/edge"
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
	var buffer [512]byte
	if public == nil {
		return string(summarize(buffer[:0], h))
	}
	return string(summarize(buffer[:0], *public)) + string(summarize(nil, h))
}

func summarize(out []byte, h beacon.Hotspot) []byte {
	out = append(out, make([]byte, headerSize)...)
	out[0] = byte(max(0, slices.Index(types, h.Type)))
	out = AppendText(out, h.Name)
	binary.BigEndian.PutUint16(out[nameEnds:], uint16(len(out)))
	out = strconv.AppendFloat(out, h.Location.Point.Lat, 'f', -1, 64)
	binary.BigEndian.PutUint16(out[latEnds:], uint16(len(out)))
	out = strconv.AppendFloat(out, h.Location.Point.Lng, 'f', -1, 64)
	binary.BigEndian.PutUint16(out[lngEnds:], uint16(len(out)))
	out = AppendText(out, h.Device.SSID)
	binary.BigEndian.PutUint16(out[ssidEnds:], uint16(len(out)))
	out = AppendText(out, h.Location.Address)
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
type Texts struct {
	TypeIndex                     byte // in types
	Name, lat, lng, ssid, Address string
}

// fragmentsOf returns what strangers see. It allocates nothing.
func Of(s *fleet.Hotspot) Texts { return split(s.Encoded()) }

// trueFragmentsOf returns what staff see.
func TrueOf(s *fleet.Hotspot) Texts {
	text := s.Encoded()
	if s.Hidden() {
		text = text[endAt(text, addressEnds):]
	}
	return split(text)
}

// TrueName returns the name of a hotspot, as staff see it and not as JSON.
func TrueName(s *fleet.Hotspot) string { return unquote(TrueOf(s).Name) }

// unquote returns a text that AppendText wrote.
func unquote(fragment string) string {
	text, _ := jsontext.AppendUnquote(nil, fragment)
	return string(text)
}

// TrueCells returns the name, the address, the latitude and the longitude of a hotspot, as
// staff see them and not as JSON.
func TrueCells(s *fleet.Hotspot) (name, address, lat, lng string) {
	f := TrueOf(s)
	return unquote(f.Name), unquote(f.Address), f.lat, f.lng
}

// split splits a summary.
func split(text string) Texts {
	name, lat, lng, ssid := endAt(text, nameEnds), endAt(text, latEnds), endAt(text, lngEnds), endAt(text, ssidEnds)
	return Texts{text[0], text[headerSize:name], text[name:lat], text[lat:lng], text[lng:ssid], text[ssid:endAt(text, addressEnds)]}
}

func endAt(text string, i int) int { return int(text[i])<<8 | int(text[i+1]) }

// Summary is what Summarize keeps of a hotspot. The texts are JSON.
type Summary struct {
	Type                beacon.Type
	Name, SSID, Address string
}

// SummaryOf returns the summary of a hotspot, for others than this API.
func SummaryOf(s *fleet.Hotspot) Summary {
	f := Of(s)
	return Summary{types[f.TypeIndex], f.Name, f.ssid, f.Address}
}

// types are the types that a hotspot can have. The first is for one without a type.
var types = append([]beacon.Type{""}, beacon.Types()...)

// toLocation and toAddress are the text of a response from the name of a hotspot of each
// type to its latitude and to its address.
var toLocation, ToAddress = afterName(`,"location":{"lat":`), afterName(`,"address":`)

func afterName(next string) (texts []string) {
	for _, name := range types {
		texts = append(texts, `,"type":"`+string(name)+`"`+next)
	}
	return texts
}

// AppendSummary begins an object about a hotspot, up to and including its address.
func AppendSummary(out []byte, s *fleet.Hotspot, f Texts) []byte {
	out = append(append(out, `{"id":"`...), s.ID()...)
	out = append(append(out, `","name":`...), f.Name...)
	out = append(append(out, toLocation[f.TypeIndex]...), f.lat...)
	out = append(append(out, `,"lng":`...), f.lng...)
	return append(append(out, `,"address":`...), f.Address...)
}

// AppendPlace writes the id and the coordinates of a hotspot, as members of an object.
func AppendPlace(out []byte, s *fleet.Hotspot, f Texts) []byte {
	out = append(append(out, `"id":"`...), s.ID()...)
	out = append(append(out, `","lat":`...), f.lat...)
	return append(append(out, `,"lng":`...), f.lng...)
}

// AppendApproximate writes that the place is not the true one, if so.
func AppendApproximate(out []byte, s *fleet.Hotspot) []byte {
	if s.Hidden() {
		out = append(out, `,"approximate":true`...)
	}
	return out
}

// AppendConnection writes what an app needs to connect: the name of the network, and
// whether the hotspot is open (decision D103).
func AppendConnection(out []byte, s *fleet.Hotspot, f Texts, now time.Time) []byte {
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
	return append(beacon.AppendTime(append(out, '"'), until), '"')
}

// AppendFeature begins a GeoJSON feature about a hotspot, up to the id in its properties.
func AppendFeature(out []byte, s *fleet.Hotspot, f Texts) []byte {
	out = append(BeginFeature(out, s.ID()), f.lng...)
	out = append(append(out, ','), f.lat...)
	return ContinueFeature(out, s.ID())
}

// BeginFeature begins a GeoJSON feature, up to its coordinates.
func BeginFeature(out []byte, id string) []byte {
	out = append(append(out, `{"type":"Feature","id":"`...), id...)
	return append(out, `","geometry":{"type":"Point","coordinates":[`...)
}

// ContinueFeature writes what follows the coordinates, up to the id in the properties.
func ContinueFeature(out []byte, id string) []byte {
	out = append(append(out, `]},"properties":{"id":"`...), id...)
	return append(out, '"')
}

// AppendText writes a JSON string. Names and addresses are valid UTF-8: they were
// checked on input.
func AppendText(out []byte, text string) []byte {
	out, err := jsontext.AppendQuote(out, text)
	if err != nil {
		panic(err)
	}
	return out
}

// AppendFacts encodes what is true of a hotspot at this moment.
func AppendFacts(out []byte, f fleet.Condition) []byte {
	out = append(out, `,"status":"`...)
	out = append(out, f.Status...)
	out = append(out, `","coverage_radius_m":`...)
	out = AppendRadius(out, f.RadiusM)
	out = append(out, `,"signal_quality":"`...)
	out = append(out, f.Signal.String()...)
	out = append(out, `","performance_tier":"`...)
	out = append(out, f.Tier.String()...)
	out = append(out, `","current_load":`...)
	out = edge.AppendTenThousandths(out, f.Load)
	out = append(out, `,"uptime_30d":`...)
	out = edge.AppendTenThousandths(out, f.Uptime)
	return append(out, '}')
}

// AppendRadius writes a length in metres that is stored as a float32. Most are whole.
func AppendRadius(out []byte, meters float64) []byte {
	if whole := int64(meters); float64(whole) == meters {
		return strconv.AppendInt(out, whole, 10)
	}
	return strconv.AppendFloat(out, meters, 'f', -1, 64)
}

// AppendTenths writes a length rounded to 0.1 m (decision N13).
func AppendTenths(out []byte, meters float64) []byte {
	tenths := int64(math.Round(meters * 10))
	out = strconv.AppendInt(out, tenths/10, 10)
	if rest := tenths % 10; rest != 0 {
		out = append(out, '.', byte('0'+rest))
	}
	return out
}
