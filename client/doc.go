// Package client talks to a Beacon server: it has a method for each operation of
// the interface under /v1, and nothing outside of the standard library.
//
//	c, err := client.New("https://wifi.example.org", os.Getenv("BEACON_KEY"))
//	…
//	found, err := c.Nearby(ctx, client.NearbyQuery{Lat: 40.7536, Lng: -73.9832})
//
// What the server refuses is an [*Error], with its code, its status, the faulty
// fields and the id of the request:
//
//	if errors.Is(err, client.ErrNotFound) { … }
//	if e, ok := errors.AsType[*client.Error](err); ok { log.Print(e.RequestID) }
//
// Lists in pages are sequences that ask for one page after the other, and so are
// events, which go on where they stopped when the connection was lost:
//
//	for event, err := range c.Events(ctx, client.FromNow) { … }
//
// A request is repeated by itself where the server asks for patience (429, 503),
// as long as it said, or where the connection fails, but only if it may safely be
// repeated: what reads, a registration (which carries an Idempotency-Key), a
// verification, and a heartbeat, which has a name. Everything else is sent once.
//
// The package does not check what it sends: the server does, and names every
// faulty field at once. It keeps no state but its connections, and a Client may
// be used by many goroutines.
package client
