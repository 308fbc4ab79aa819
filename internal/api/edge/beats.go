package edge

import (
	"net/http"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

const (
	HeartbeatPattern = "POST /v1/hotspots/{id}/heartbeats"
	BeatPrefix       = Base + "/hotspots/"
	BeatSuffix       = "/heartbeats"
	hotspotIDLength  = len(beacon.HotspotPrefix) + id.Length
)

// HeartbeatPath reports whether a request is a heartbeat, and returns the hotspot. A
// request it does not recognize may still be one, in an unusual spelling: the mux
// decides that.
func HeartbeatPath(r *http.Request) (hotspot beacon.HotspotID, ok bool) {
	path := r.URL.Path
	if len(path) != len(BeatPrefix)+hotspotIDLength+len(BeatSuffix) || r.Method != http.MethodPost || r.URL.RawPath != "" ||
		path[:len(BeatPrefix)] != BeatPrefix || path[len(BeatPrefix)+hotspotIDLength:] != BeatSuffix {
		return "", false
	}
	name := path[len(BeatPrefix) : len(BeatPrefix)+hotspotIDLength]
	return beacon.HotspotID(name), name[:len(beacon.HotspotPrefix)] == beacon.HotspotPrefix && strings.IndexByte(name, '/') < 0
}

// IsHeartbeat reports whether a request is a heartbeat. Heartbeats have priority when
// the machine is overloaded.
func IsHeartbeat(r *http.Request) bool {
	if r.Pattern == HeartbeatPattern { // ServeHTTP has recognized it
		return true
	}
	_, ok := HeartbeatPath(r)
	return ok
}
