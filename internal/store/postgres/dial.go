package postgres

import (
	"context"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// dial finds out within half a minute that the other side is gone.
var dial = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
	Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
}}).DialContext

// patiently makes connections whose statements are never canceled. The driver
// would ask for that, beside the connection, whenever it gives up on an answer; and
// a COMMIT that waits for a synchronous standby is not undone by it: PostgreSQL
// stops waiting, and shows to everyone what the standby does not have. Servers
// followed it and, once the standby had taken over, knew of changes that had never
// been, and missed those that got their numbers.
//
// Left alone, such a COMMIT waits until the standby is back, unseen, or ends with
// the primary. Other statements end by their own limit.
func patiently(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return patient{conn}, nil
	}
}

// patient is a connection that does not tell where it leads to: there the driver
// would ask for the cancellation.
type patient struct{ net.Conn }

func (patient) RemoteAddr() net.Addr { return nowhere{} }

// nowhere cannot be dialed.
type nowhere struct{}

func (nowhere) Network() string { return "nowhere" }
func (nowhere) String() string  { return "nowhere" }
