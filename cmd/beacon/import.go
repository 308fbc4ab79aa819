package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/importer"
)

type importCmd struct {
	File        string            `arg:"" placeholder:"FILE" help:"The file to import: CSV, GeoJSON, nodes.json or meshviewer.json."`
	URL         string            `name:"url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"The server to register the hotspots on. Default ${default}."`
	Key         string            `placeholder:"bcn_…" help:"A key with the scope hotspots:write, whose user will own the hotspots. Better set as BEACON_KEY: other users can see a command line."`
	Map         map[string]string `mapsep:"," placeholder:"COLUMN=NAME" help:"What the file calls a column, as in name=Knotenname,lat=Breite."`
	Set         map[string]string `mapsep:"none" placeholder:"COLUMN=VALUE" help:"What a column holds where the file says nothing, as in type=public. May be repeated."`
	DryRun      bool              `help:"Check the file without registering anything. Needs no server."`
	Connections int               `default:"8" help:"How many requests to send at the same time. Default ${default}."`
}

func (importCmd) Help() string {
	return `A CSV file starts with a line of column names, in any order, followed by one line
per hotspot (RFC 4180). The separator may be a comma, a semicolon, a tab or a bar.
The encoding is UTF-8.

` + importer.Columns() + `
Other columns are ignored. Common names such as latitude, Breite, hostname or mac
are known; --map names others. A decimal point may be a comma. GeoJSON is a
FeatureCollection of Points whose properties have the same names, except lat and lng.

Of Freifunk's nodes.json (both versions), meshviewer.json and nodelist.json, the
hostname, the place and the MAC address are taken, or the node_id if that is one;
--set says the type and the SSID. What has no coordinates is skipped.

Hotspots are identified by mac_address. One that is already registered is not
changed, so the same file can be imported again, for example after an interruption.
Faulty lines are reported on standard error, and the others are still imported;
the exit code is then 1.`
}

func (importCmd) Examples() string {
	return `  beacon import hotspots.csv --dry-run                       only check the file
  BEACON_KEY=bcn_… beacon import hotspots.csv                register at http://127.0.0.1:8080
  beacon import list.csv --map name=Ort,mac_address=Gerät --set type=public --dry-run
  BEACON_KEY=bcn_… beacon import meshviewer.json --set type=public --set ssid=freifunk.net
  BEACON_KEY=bcn_… beacon import city.geojson --url https://wifi.example.org
`
}

// Run imports a file (decision C5).
func (c importCmd) Run(out *console) error {
	if err := c.check(); err != nil {
		return err
	}
	file, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	source := meter(file)
	rows, err := importer.Read(source, c.mapping())
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	var register importer.Register
	if !c.DryRun {
		server, err := importer.Connect(out.ctx, c.URL, c.Key, c.Connections)
		if err != nil {
			return orInterrupted(out, err, "import the file again")
		}
		register = server.Register
	}
	return c.run(out, source, rows, register)
}

// run imports all rows and prints the outcome.
func (c importCmd) run(out *console, source *meteredReader, rows importer.Rows, register importer.Register) error {
	done := new(tally)
	stop := showProgress(out.stderr, func() string { return source.bar(done.String()) })
	unused, err := importer.Run(out.ctx, rows, register, c.Connections, func(place string, o importer.Outcome) {
		done[o.Kind].Add(1)
		if o.Text != "" {
			fmt.Fprintf(out.stderr, "%s%s:%s: %s\n", clearLine(out.stderr), c.File, place, o.Text)
		}
	})
	stop()
	if len(unused) > 0 {
		fmt.Fprintf(out.stderr, "beacon: ignored: %s\n", quoted(unused))
	}
	fmt.Fprintln(out.stdout, done.summary(c.DryRun))
	switch {
	case err != nil:
		return orInterrupted(out, fmt.Errorf("%s: %w", c.File, err), "import the file again")
	case done.of(importer.Failed) > 0:
		return fmt.Errorf("%s not valid", count(int(done.of(importer.Failed)), "line"))
	}
	return nil
}

func quoted(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, strconv.Quote(name))
	}
	return strings.Join(all, ", ")
}

// orInterrupted replaces an error that was caused by an interrupt. Again is what to do then.
func orInterrupted(out *console, err error, again string) error {
	if out.ctx.Err() != nil {
		return errors.New("interrupted; " + again + " to continue")
	}
	return err
}

func (c importCmd) check() error {
	switch {
	case c.Connections < 1 || c.Connections > 1000:
		return usageError("--connections must be 1 to 1000")
	case !c.DryRun && c.Key == "":
		return usageError("import needs a key: set BEACON_KEY, or use --dry-run to only check the file")
	}
	return checkTable(c.URL, c.Key, c.mapping())
}

// checkTable checks the flags of commands that send a table to a server.
func checkTable(url, key string, m importer.Mapping) error {
	if _, err := client.New(url, key); err != nil {
		return usageError("--url " + err.Error())
	}
	if err := m.Check(); err != nil {
		return usageError(err.Error())
	}
	return nil
}

func (c importCmd) mapping() importer.Mapping { return importer.Mapping{From: c.Map, Set: c.Set} }

// tally counts the outcomes of rows, by their kind.
type tally [importer.Failed + 1]atomic.Int64

func (t *tally) of(kind importer.Kind) int64 { return t[kind].Load() }

// String formats the tally for the progress bar.
func (t *tally) String() string {
	there := t.of(importer.Present) + t.of(importer.Different)
	return fmt.Sprintf("%d registered, %d already there, %d failed", t.of(importer.Registered), there, t.of(importer.Failed)) + t.skipped()
}

func (t *tally) skipped() string {
	if n := t.of(importer.Skipped); n > 0 {
		return fmt.Sprintf(", %d skipped", n)
	}
	return ""
}

func (t *tally) summary(dry bool) string {
	if dry {
		return fmt.Sprintf("%d valid, %d not valid%s; nothing was registered", t.of(importer.Registered), t.of(importer.Failed), t.skipped())
	}
	said := t.String()
	if n := t.of(importer.Different); n > 0 {
		said += fmt.Sprintf("; %d of them differ and were not changed", n)
	}
	return said
}

// meteredReader knows how much of a file has been read.
type meteredReader struct {
	r    io.Reader
	size int64 // 0: unknown
	done atomic.Int64
}

// meter returns a file whose size it knows, if it has one.
func meter(file *os.File) *meteredReader {
	m := &meteredReader{r: file}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		m.size = info.Size()
	}
	return m
}

func (m *meteredReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.done.Add(int64(n))
	return n, err
}

func (m *meteredReader) bar(what string) string {
	if m.size == 0 {
		return what
	}
	return bar("%: "+what, 100*m.done.Load()/m.size, 100)
}
