// Package fastpath serves plain HTTP/1.1 requests with a small loop, and leaves all
// others to net/http. Nearly all requests of devices and apps are plain: a GET, or a
// POST with a short body, in the usual spelling (see plainRequest). A connection with
// anything else is handed over to net/http for good, with the bytes read so far. So
// net/http decides about everything unusual, slow or wrong. Its one invariant: a client
// receives the same bytes as without it, except for the date.
//
// It saves what net/http spends on cases that do not occur here: it reuses one request
// and one response for each connection, sets no deadlines, starts no goroutine to
// detect a disconnect, and has one context per connection. Instead, a reaper scans all
// connections every 250 ms and does what deadlines would. The median of 11 turns with
// --fast-path=on and off of one binary with 300,000 hotspots (BenchmarkFastPath in
// test/bench), in CPU time of the server, on a quiet machine:
//
//	nearby, 20 hotspots   24.4 µs instead of 37.5 µs: 35 % less
//	heartbeat             25.0 µs instead of 47.0 µs: 47 % less
//
// For handlers this means: a request, its header and its response are valid only until
// they return. Then they are cleared and reused for the next request on the connection,
// which may be another person's. Strings taken from them remain valid. A context ends
// with the connection, not with the request. It ends within a second when the connection
// breaks, but not when the client has only closed its sending side (see EndWithInput).
//
//	fast := fastpath.New(listener, fastpath.Config{Handler: handler, HandOver: others.give, …})
//	go fast.Run(ctx)
//	go server.Serve(others) // what was handed over
//	err := server.Serve(fast)
package fastpath
