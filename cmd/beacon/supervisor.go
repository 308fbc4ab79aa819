package main

import (
	"context"
	"errors"
	"net"
	"os"
)

// tellSupervisor tells systemd that the server is ready, where that has started it
// and waits for it (Type=notify): what comes after it may then ask. The form is that
// of sd_notify(3).
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
