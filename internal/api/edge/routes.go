package edge

import (
	"net/http"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Base is the path prefix of every endpoint.
const Base = "/v1"

// Route is an endpoint that requires an API key.
type Route struct {
	Pattern string
	scope   beacon.Scope // the key must have it; empty: any valid key will do (decision N6)
	run     Endpoint
}

// On returns a route.
func On(pattern string, scope beacon.Scope, run Endpoint) Route { return Route{pattern, scope, run} }

// OpenRoute is an endpoint that does its own authentication, if any.
type OpenRoute struct {
	Pattern string
	Handler http.Handler
}

// Open returns a route without a key.
func Open(pattern string, handle http.HandlerFunc) OpenRoute { return OpenRoute{pattern, handle} }
