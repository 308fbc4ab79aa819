//go:build !unix

package httpserver

// canSeeLeaving reports whether a disconnect can be detected. Where it cannot, net/http
// serves every connection.
const canSeeLeaving = false

func (c *client) gone() bool { return false }
