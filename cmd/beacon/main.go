// Command beacon is the backend of a community Wi-Fi network. It has one file for each
// command: flags in, a call into a package of internal, text out. Only this package
// chooses the clock of data and reads settings from the environment; limits and
// timeouts elsewhere count real time.
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
