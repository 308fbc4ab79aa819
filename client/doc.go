// Package client is a client of a Beacon server. It has a method for each operation
// of the API under /v1, and needs only the standard library.
//
//	c, err := client.New("https://wifi.example.org", os.Getenv("BEACON_KEY"))
//	…
//	found, err := c.Nearby(ctx, client.NearbyQuery{Lat: 40.7536, Lng: -73.9832})
//
// An error response is an [*Error], with its code, its status, the faulty fields and
// the id of the request:
//
//	if errors.Is(err, client.ErrNotFound) { … }
//	if e, ok := errors.AsType[*client.Error](err); ok { log.Print(e.RequestID) }
//
// Paged lists are sequences that request one page after the other. So are events,
// which resume where they stopped when the connection is lost:
//
//	for event, err := range c.Events(ctx, client.FromNow) { … }
//
// A request is retried if the server asks for that (429, 503), after the time that it
// gave, or if the connection fails, but only if repeating it is safe: reads,
// registrations (which carry an Idempotency-Key), verifications, and heartbeats,
// which have an identity. Everything else is sent once.
//
// The package does not validate requests: the server does, and names every faulty
// field at once. A Client has no state but its connections, and is safe for
// concurrent use.
package client
