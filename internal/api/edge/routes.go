package edge

import (
	"net/http"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Base is the path prefix of every endpoint.
const Base = "/v1"

// Route is an endpoint that requires an API key, or a person who is signed in.
type Route struct {
	Pattern string
	Needs   beacon.Permission
	run     Endpoint
}

// On returns a route.
func On(pattern string, needs beacon.Permission, run Endpoint) Route {
	return Route{pattern, needs, run}
}

// OpenRoute is an endpoint that does its own authentication, if any.
type OpenRoute struct {
	Pattern string
	Handler http.Handler
}

// Open returns a route without a key.
func Open(pattern string, handle http.HandlerFunc) OpenRoute { return OpenRoute{pattern, handle} }
