package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

type healthCmd struct {
	Addr  string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"The address that the server listens on. Default ${default}."`
	Ready bool   `help:"Ask for more: that it is ready for requests, with its database."`
}

func (healthCmd) Help() string {
	return `Fails unless a server answers there within five seconds that it is alive: what a
supervisor asks that restarts what is not. BEACON_ADDR is the address for both.`
}

func (healthCmd) Examples() string {
	return `  beacon health
  beacon health --ready --addr 127.0.0.1:8081
`
}

// healthTime is how long a server may take to answer.
const healthTime = 5 * time.Second

// maxHealth bounds what is read of the answer.
const maxHealth = 4 << 10

// Run asks the server and prints what it says.
func (c healthCmd) Run(out *console) error {
	ctx, cancel := context.WithTimeout(out.ctx, healthTime)
	defer cancel()
	path := "/healthz"
	if c.Ready {
		path = "/readyz"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.Addr+path, nil)
	if err != nil {
		return usageError("--addr must be HOST:PORT, such as 127.0.0.1:8080")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("no server answers at %s: %w", c.Addr, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxHealth))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server at %s says %s: %s", c.Addr, response.Status, body)
	}
	_, err = fmt.Fprintf(out.stdout, "%s\n", body)
	return err
}
