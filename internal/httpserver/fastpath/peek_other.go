//go:build !unix

package fastpath

// canSeeLeaving reports whether a disconnect can be detected. Where it cannot, net/http
// serves every connection.
const canSeeLeaving = false

func (c *conn) peek() (ended, broken bool) { return false, false }
