//go:build !unix

package httpserver

// canSeeLeaving: where it cannot be seen that a client has left, net/http serves
// every connection.
const canSeeLeaving = false

func (c *client) gone() bool { return false }
