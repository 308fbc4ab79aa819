package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/beacon-wifi/beacon/internal/doctor"
)

type doctorCmd struct {
	database
	oidcFlags
	publicURL
	Quick bool `help:"Skip the checks that read everything a second time: indexes against their tables, days served at places, and statements as documents."`
	JSON  bool `name:"json" help:"Print one JSON record per line, one for each check."`
}

func (doctorCmd) Help() string {
	return `Recomputes everything that can be recomputed: unique addresses, rewards, sums,
chains of hashes, statements. It writes and repairs nothing, and servers may run
meanwhile. While a check reads, the write-ahead log of a SQLite database grows.
The exit code is 0 if the database is sound, 1 if something is wrong.`
}

func (doctorCmd) Examples() string {
	return `  beacon doctor                                            check beacon.db in this folder
  beacon doctor --quick --db postgres://beacon@db.example.org/beacon
  beacon doctor --json --db restored.db
`
}

// Run reports whether a database is sound.
func (c doctorCmd) Run(out *console) error {
	wrong, err := c.check(out)
	switch {
	case err != nil:
		return err
	case slices.Equal(wrong, []string{checkOIDC}):
		return errors.New("the database is sound, but nobody can sign in by the identity provider")
	case len(wrong) > 0 && !slices.ContainsFunc(wrong, func(name string) bool { return name != checkOIDC && name != doctor.Admins }):
		return errors.New("the database is sound, but no admin can sign in")
	case len(wrong) > 0:
		return errors.New("the database is not sound")
	case c.JSON:
		return nil
	}
	_, err = fmt.Fprintln(out.stdout, "the database is sound")
	return err
}

// check prints the results of all checks, and returns the names of those that found something
// wrong.
func (c doctorCmd) check(out *console) (wrong []string, err error) {
	x, err := c.examine(out.ctx)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	var line atomic.Pointer[string]
	line.Store(new("checking"))
	stop := showProgress(out.stderr, func() string { return *line.Load() })
	var results []doctor.Result
	_, err = doctor.Examine(out.ctx, x, doctor.Options{
		Quick: c.Quick, Now: time.Now(),
		Progress: func(check string, looked int64) { line.Store(new(fmt.Sprintf("%s: %d rows", check, looked))) },
		Done:     func(r doctor.Result) { results = append(results, r) },
	})
	stop()
	if err != nil && out.ctx.Err() != nil {
		return nil, errors.New("interrupted; the remaining checks did not run")
	}
	if issuer, err := c.checkProvider(out); err != nil {
		return nil, err
	} else if issuer != nil {
		results = append(results, *issuer)
	}
	for _, r := range results {
		if err := c.tell(out, r); err != nil {
			return nil, err
		}
		if r.Wrong > 0 {
			wrong = append(wrong, r.Check)
		}
	}
	return wrong, err
}

// checkOIDC is the name of what checkProvider does.
const checkOIDC = "oidc"

// checkProvider asks the provider of OpenID Connect, if there is one, and says with which
// redirect URL this server is registered there.
func (c doctorCmd) checkProvider(out *console) (*doctor.Result, error) {
	public, err := c.url(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
	if err != nil {
		return nil, err
	}
	provider, err := c.provider(public, time.Now)
	if err != nil || provider == nil {
		return nil, err
	}
	r := &doctor.Result{Check: checkOIDC, Looked: c.OIDCIssuer + ", where the redirect URL of this server is " + public + oidcPage}
	if err := provider.Check(out.ctx); err != nil {
		r.Wrong, r.Faults = 1, []doctor.Fault{{What: err.Error()}}
		r.Advice = "open " + strings.TrimSuffix(c.OIDCIssuer, "/") + "/.well-known/openid-configuration from this machine"
	}
	return r, nil
}

// tell prints the result of a check.
func (c doctorCmd) tell(out *console, r doctor.Result) error {
	if c.JSON {
		return json.NewEncoder(out.stdout).Encode(r)
	}
	verdict, about := "ok", r.Looked
	switch {
	case r.Skipped != "":
		verdict, about = "-", "skipped: "+r.Skipped
	case r.Wrong > 0:
		verdict = "WRONG"
		about = count(r.Wrong, "fault") + "; checked " + r.Looked
		if r.Looked == "" {
			about = count(r.Wrong, "fault")
		}
	}
	if _, err := fmt.Fprintf(out.stdout, "%-6s %-10s  %s\n", verdict, r.Check, about); err != nil {
		return err
	}
	for _, f := range r.Faults {
		fmt.Fprintf(out.stdout, "         %s\n", f)
	}
	if more := r.Wrong - len(r.Faults); more > 0 {
		fmt.Fprintf(out.stdout, "         and %d more\n", more)
	}
	if r.Advice != "" {
		fmt.Fprintf(out.stdout, "         what to do: %s\n", r.Advice)
	}
	return nil
}
