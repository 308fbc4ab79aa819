package node

import (
	"context"
	"errors"
	"net"
	"os"
)

// tellSupervisor notifies systemd that the server is ready, if systemd started it and
// waits for it (Type=notify). Units ordered after it may then use it. The protocol is
// sd_notify(3).
func tellSupervisor(ctx context.Context) error {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unixgram", socket)
	if err != nil {
		return err
	}
	_, err = conn.Write([]byte("READY=1"))
	return errors.Join(err, conn.Close())
}
