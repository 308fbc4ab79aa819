package api

import "net/http"

// IsHeartbeat reports whether a request is a device's: those come first when
// there is more to do than the machine can.
func IsHeartbeat(r *http.Request) bool {
	_, ok := heartbeatPath(r)
	return ok
}
