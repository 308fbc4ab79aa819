package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/basemap/extract"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Exit codes (decision C5).
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// cli is the command line. Every flag has an environment variable: --admin-addr is
// BEACON_ADMIN_ADDR. --help shows what a command's methods Help and Examples return.
type cli struct {
	Serve      serveCmd      `cmd:"" help:"Run a server."`
	Demo       demoCmd       `cmd:"" help:"Run a demo network: real places, made-up history, simulated devices."`
	Keys       keysCmd       `cmd:"" help:"Create, list and revoke API keys."`
	People     peopleCmd     `cmd:"" help:"Invite people, list them, let them in and keep them out."`
	Rewards    rewardsCmd    `cmd:"" help:"Settle months, verify statements, show what is closed and settled."`
	Holds      holdsCmd      `cmd:"" help:"Hold back what hotspots earn, and decide about it."`
	Macs       macsCmd       `cmd:"" help:"Release reserved MAC addresses."`
	Settings   settingsCmd   `cmd:"" help:"Show or change the settings of the network."`
	Basemap    basemapCmd    `cmd:"" help:"Download streets for the map, and look into a file of them."`
	Audit      auditCmd      `cmd:"" help:"List who changed what, newest first."`
	Import     importCmd     `cmd:"" help:"Register the hotspots of a file."`
	Verify     verifyCmd     `cmd:"" help:"Record the visits of a list, by which staff verify hotspots."`
	Backup     backupCmd     `cmd:"" help:"Copy the database to a file while servers run."`
	Restore    restoreCmd    `cmd:"" help:"Create a database from a backup."`
	Move       moveCmd       `cmd:"" help:"Move a database from SQLite to PostgreSQL, or back."`
	Migrate    migrateCmd    `cmd:"" help:"Bring a database of an older version up to date, without a server."`
	Doctor     doctorCmd     `cmd:"" help:"Check a database and report what is wrong with it."`
	Health     healthCmd     `cmd:"" help:"Ask a running server how it is."`
	Simulate   simulateCmd   `cmd:"" help:"Simulate devices that talk to a server."`
	OpenAPI    openapiCmd    `cmd:"" name:"openapi" help:"Print the OpenAPI document of an API."`
	Completion completionCmd `cmd:"" help:"Print a completion script for a shell."`
	Version    versionCmd    `cmd:"" help:"Print the version and how it was built."`
}

// console is a command's access to the outside world.
type console struct {
	ctx    context.Context
	stdout io.Writer
	stderr io.Writer
}

const description = `The backend of a community Wi-Fi network.

Flags can also be set in the environment: --admin-addr is BEACON_ADMIN_ADDR.`

// run runs one command and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	helped := false
	var commands cli
	parser, err := kong.New(&commands,
		kong.Name("beacon"),
		kong.Description(description),
		kong.DefaultEnvars("BEACON"),
		kong.Vars{"rate_limit": edge.DefaultPerKey, "basemap_builds": extract.DefaultFrom},
		kong.Help(helpWithExamples),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { helped = true }), // kong exits after --help
	)
	if err != nil {
		panic(err) // a mistake in the struct tags: every test would show it
	}
	command, err := parser.Parse(spelled(args))
	if helped {
		return exitDone
	}
	if err != nil {
		fmt.Fprintf(stderr, "beacon: %v\n", err)
		if parse, ok := errors.AsType[*kong.ParseError](err); ok {
			meant := "beacon" // and the commands that were parsed
			if node := parse.Context.Selected(); node != nil {
				meant = node.FullPath()
			}
			fmt.Fprintf(stderr, "Run \"%s --help\" for usage.\n", meant)
		}
		return exitUsage
	}
	return report(stderr, command.Run(&console{ctx: ctx, stdout: stdout, stderr: stderr}))
}

// numbers matches numbers with commas that begin with a minus, which is no flag.
var numbers = regexp.MustCompile(`^-[0-9.]+,`)

// spelled returns the arguments as the parser knows them: "beacon help serve" is "beacon
// serve --help", and "beacon --version" is "beacon version". A place in the west or in the
// south gets a space in front: the parser takes what begins with a minus for a flag.
func spelled(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if numbers.MatchString(arg) {
			args[i] = " " + arg
		}
	}
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	}
	return args
}

// usageError is a mistake in the use of a command that the parser cannot find.
type usageError string

func (e usageError) Error() string { return string(e) }

// report prints an error and returns the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	code, text := exitFailed, err.Error()
	if _, ok := errors.AsType[usageError](err); ok {
		code = exitUsage
	}
	if e, ok := errors.AsType[*beacon.Error](err); ok && (e.Kind == beacon.InvalidRequest || e.Kind == beacon.MissingParameter) {
		code, text = exitUsage, asFlags(e)
	}
	fmt.Fprintf(stderr, "beacon: %s\n", text)
	return code
}

// asFlags describes the faults of a request in terms of the flags they came from.
func asFlags(e *beacon.Error) string {
	flags := map[string]string{"user_id": "user", "expires_at": "expires"}
	var faults []string
	for _, f := range e.Fields {
		faults = append(faults, "--"+cmp.Or(flags[f.Field], strings.ReplaceAll(f.Field, "_", "-"))+" "+f.Message)
	}
	return strings.Join(faults, "; ")
}

// helpWithExamples prints the help, with a command's examples below its flags.
func helpWithExamples(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	selected := ctx.Selected()
	if selected == nil {
		_, err := fmt.Fprint(ctx.Stdout, rootExamples)
		return err
	}
	if command, ok := selected.Target.Addr().Interface().(interface{ Examples() string }); ok {
		_, err := fmt.Fprint(ctx.Stdout, "\nExamples:\n", command.Examples())
		return err
	}
	return nil
}

const rootExamples = `
Examples:
  beacon demo                                             try it: a demo network with keys and devices
  beacon serve                                            run a server on http://127.0.0.1:8080
  beacon keys create --user new --scopes hotspots:write   create a key for registering hotspots
  beacon openapi preview                                  print the OpenAPI document of the preview
`
