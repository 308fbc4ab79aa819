package openfeeds

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// meshviewerFeed is what the map Meshviewer reads. It adds up clients and fails without a
// number: 0 unless the network shows how many there are (decision D178).
var meshviewerFeed = feed{
	kind: jsonType,
	head: func(f *Feeds, out []byte, e *edition) []byte {
		out = f.appendTerms(append(out, '{'))
		return append(appendTime(append(out, `"timestamp":`...), e.at), `,"links":[],"nodes":[`+"\n"...)
	},
	append: func(_ *Feeds, out []byte, h *hotspot) []byte {
		out = appendNodeID(append(out, `{"node_id":"`...), h.id)
		out = append(append(out, `","hostname":`...), h.name...)
		out = appendTime(append(out, `,"firstseen":`...), h.createdAt)
		out = appendTime(append(out, `,"lastseen":`...), lastSeen(h))
		out = append(append(out, `,"is_online":`...), online(h)...)
		out = append(append(out, `,"domain":"`...), h.kind...)
		out = appendNumber(append(out, `","location":{"latitude":`...), h.place.Lat)
		out = appendNumber(append(out, `,"longitude":`...), h.place.Lng)
		out = append(out, `},"is_gateway":false,"clients":`...)
		out = strconv.AppendInt(out, int64(h.clients), 10)
		out = strconv.AppendInt(append(out, `,"clients_wifi24":0,"clients_wifi5":0,"clients_other":`...), int64(h.clients), 10)
		return append(out, `,"addresses":[]}`...)
	},
}

// nodelistFeed is the list of nodes that maps of many communities read.
var nodelistFeed = feed{
	kind: jsonType,
	head: func(f *Feeds, out []byte, e *edition) []byte {
		out = f.appendTerms(append(out, '{'))
		out = appendTime(append(out, `"version":"1.0.1","updated_at":`...), e.at)
		out = appendText(append(out, `,"community":{"name":`...), cmp.Or(f.who().Name, beacon.DefaultNetworkName))
		return append(appendText(append(out, `,"href":`...), f.public), `},"nodes":[`+"\n"...)
	},
	append: func(f *Feeds, out []byte, h *hotspot) []byte {
		out = append(append(out, `{"id":"`...), h.id...)
		out = append(append(append(append(out, `","href":"`...), f.public...), PageBase...), h.id...)
		out = append(append(out, `","name":`...), h.name...)
		out = appendNumber(append(out, `,"node_type":"AccessPoint","position":{"lat":`...), h.place.Lat)
		out = appendNumber(append(out, `,"long":`...), h.place.Lng)
		out = append(append(out, `},"status":{"online":`...), online(h)...)
		out = appendTime(append(out, `,"lastcontact":`...), lastSeen(h))
		if h.counted {
			out = strconv.AppendInt(append(out, `,"clients":`...), int64(h.clients), 10)
		}
		return append(out, "}}"...)
	},
}

// appendNodeID writes an id of the form that links of Meshviewer have: 12 hexadecimal digits,
// always the same for a hotspot. It is made of the hotspot's id, which is public, and not of
// its MAC address, and marked as one that no device is made with.
func appendNodeID(out []byte, id string) []byte {
	const local, group = 2, 1 // bits of the first byte of a MAC address
	sum := sha256.Sum256([]byte(id))
	sum[0] = sum[0]&^group | local
	return hex.AppendEncode(out, sum[:6])
}

func online(h *hotspot) string {
	if h.status == beacon.Online {
		return "true"
	}
	return "false"
}

// lastSeen returns when the hotspot was last seen. One that never was counts as seen when
// it was registered: both formats need a time.
func lastSeen(h *hotspot) time.Time {
	if h.seenAt.IsZero() {
		return h.createdAt
	}
	return h.seenAt
}
