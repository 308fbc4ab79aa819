// Package httpserver is the base of every HTTP API of Beacon: limits and timeouts,
// request ids, recovery from panics, the data for the access log, strict JSON input,
// complete JSON output, health checks, and a drain that loses no request. It knows no
// API: the caller passes an [ErrorWriter] that writes errors in the right format. Package
// fastpath serves plain requests; net/http serves all others, and the responses are
// the same. A request's context ends when its connection breaks, not when its client has
// only closed its sending side: see EndWithInput. Its one invariant: whatever a client
// sends, it gets exactly one complete response, or the connection is closed.
//
//	front := &httpserver.Handler{
//		Next: handler, Refuse: refuse, Now: time.Now, Log: log, Observe: accessLog.Observe,
//	}
//	err := httpserver.Serve(ctx, listener, front)
package httpserver
