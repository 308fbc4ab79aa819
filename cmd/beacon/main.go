// Command beacon is the backend of a community Wi-Fi network. This package wires the
// others together. Only this package chooses the clock of data and reads the
// environment; limits and timeouts elsewhere count real time.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
