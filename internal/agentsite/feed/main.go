// Command feed writes a feed of the agent's packages for OpenWrt up to 24.10 into a folder,
// to be served by any web server. BEACON_FEED_KEY names a file with a secret key of usign or
// signify without a passphrase, which signs it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/beacon-wifi/beacon/internal/agentsite"
)

func main() {
	out := flag.String("out", "dist/agent", "the folder")
	flag.Parse()
	if err := write(*out, os.Getenv("BEACON_FEED_KEY")); err != nil {
		fmt.Fprintln(os.Stderr, "feed:", err)
		os.Exit(1)
	}
}

func write(out, key string) (err error) {
	var secret []byte
	if key == "" {
		fmt.Println("The feed is not signed: name a file with a secret key of usign in BEACON_FEED_KEY.")
	} else if secret, err = os.ReadFile(key); err != nil {
		return err
	}
	files, err := agentsite.Feed(secret)
	if err != nil {
		return err
	}
	// What was there is of another version, or signed by another key.
	old, err := filepath.Glob(filepath.Join(out, "*.ipk"))
	if err != nil {
		return err
	}
	for _, name := range append(old, filepath.Join(out, "Packages.sig"), filepath.Join(out, "beacon.pub")) {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for name, body := range files {
		if err := os.WriteFile(filepath.Join(out, name), body, 0o644); err != nil {
			return err
		}
	}
	return nil
}
