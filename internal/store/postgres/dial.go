package postgres

import (
	"context"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// dial detects within half a minute that the other side is gone.
var dial = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
	Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
}}).DialContext

// patiently returns connections whose statements are never canceled. Whenever the
// driver gives up waiting for a response, it would send a cancel request on a second
// connection. That does not undo a COMMIT that waits for a synchronous standby:
// PostgreSQL stops waiting, and makes visible what the standby does not have. Servers
// then applied changes that, after the standby had taken over, had never existed, and
// missed those that reused their numbers.
//
// Left alone, such a COMMIT stays invisible until the standby is back, or ends with the
// primary. Other statements end by their own timeout.
func patiently(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return patient{conn}, nil
	}
}

// patient is a connection that hides its remote address, to which the driver would send
// the cancel request.
type patient struct{ net.Conn }

func (patient) RemoteAddr() net.Addr { return nowhere{} }

// nowhere is an address that cannot be dialed.
type nowhere struct{}

func (nowhere) Network() string { return "nowhere" }
func (nowhere) String() string  { return "nowhere" }
