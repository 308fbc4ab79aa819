// Command beacon is the backend of a community Wi-Fi network. This package
// wires the others together. Here alone is decided what time it is for data, and
// here alone the environment is read; limits and timeouts count real time where
// they stand.
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
