package api

import "net/http"

// IsHeartbeat reports whether a request is a heartbeat. Heartbeats have priority when
// the machine is overloaded.
func IsHeartbeat(r *http.Request) bool {
	_, ok := heartbeatPath(r)
	return ok
}
