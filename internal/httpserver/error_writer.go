package httpserver

import "net/http"

// ErrorWriter responds with an error of the given status, in the format of the API that the
// request was for. It is called where no handler of that API runs: an unknown
// path, a method that is not allowed (the Allow header is then already set), a URL that
// is too long, a panic.
type ErrorWriter func(w http.ResponseWriter, r *http.Request, status int)
