package httpserver

import "net/http"

// Refuse answers a request with an error of the given status, in the shape of
// the interface that the request was for. It is called where no handler of the
// interface runs: an unknown path, a method not allowed (the Allow header is
// then set already), a URL that is too long, a panic.
type Refuse func(w http.ResponseWriter, r *http.Request, status int)
