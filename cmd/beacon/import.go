package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/importer"
)

type importCmd struct {
	File        string `arg:"" placeholder:"FILE" help:"What to import: a table (.csv, .tsv) or points (.geojson, .json)."`
	URL         string `name:"url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"The server to register the hotspots at. Default ${default}."`
	Key         string `placeholder:"bcn_…" help:"A key with the scope hotspots:write, whose user the hotspots will belong to. Better given as BEACON_KEY: others can see a command line."`
	DryRun      bool   `help:"Check the file, and register nothing. Needs no server."`
	Connections int    `default:"8" help:"How many hotspots to register at the same time. Default ${default}."`
}

// Help is shown below the flags.
func (importCmd) Help() string {
	return `A table begins with a line of column names, in any order, and has a hotspot on
each line after it (RFC 4180). What stands between the names, a comma, a
semicolon, a tab or a bar, stands between the cells. The text is UTF-8.

  name                  3 to 50 characters
  type                  home, business or public
  lat, lng              in degrees, with a point: 40.7532
  ssid                  1 to 32 bytes
  mac_address           as in 02:00:5e:10:00:01, or with - or . or nothing
  address               optional
  max_connections       optional; 16, 64 or 128 without it, by the type
  bandwidth_limit_mbps  optional; 50, 200 or 300 without it, by the type
  coverage_radius_m     optional, 10 to 500; 50, 75 or 100 without it, by the type
  operating_hours       optional, JSON as in the interface; always open without it

Other columns are left out. GeoJSON is a FeatureCollection of Points with the
same names as properties, but for lat and lng.

A hotspot is known by its mac_address: one that is registered already is left as
it is, so the same file can be imported again, also after an interruption. Lines
at fault are told on standard error, and the others are imported all the same; the
exit code is 1 then.`
}

// Examples are shown by --help.
func (importCmd) Examples() string {
	return `  beacon import hotspots.csv --dry-run                       only look whether the file is right
  BEACON_KEY=bcn_… beacon import hotspots.csv                register at http://127.0.0.1:8080
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
	source := &meteredReader{r: file}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		source.size = info.Size()
	}
	rows, err := c.kind()(source)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	var register importer.Register
	if !c.DryRun {
		server, err := importer.Connect(out.ctx, c.URL, c.Key, c.Connections)
		if err != nil {
			return orInterrupted(out, err)
		}
		register = server.Register
	}
	return c.run(out, source, rows, register)
}

// run imports all rows and prints the outcome.
func (c importCmd) run(out *console, source *meteredReader, rows importer.Rows, register importer.Register) error {
	done := new(tally)
	watch := newWatch(out.stderr, func() string { return source.bar(done.String()) })
	unused, err := importer.Run(out.ctx, rows, register, c.Connections, func(place string, o importer.Outcome) {
		done.add(o.Kind)
		if o.Text != "" {
			fmt.Fprintf(out.stderr, "%s%s:%s: %s\n", clearLine(out.stderr), c.File, place, o.Text)
		}
	})
	watch.stop()
	if len(unused) > 0 {
		fmt.Fprintf(out.stderr, "beacon: not used: %s\n", quoted(unused))
	}
	fmt.Fprintln(out.stdout, done.summary(c.DryRun))
	switch {
	case err != nil:
		return orInterrupted(out, fmt.Errorf("%s: %w", c.File, err))
	case done.failed.Load() > 0:
		return fmt.Errorf("%s at fault", count(int(done.failed.Load()), "line"))
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

// orInterrupted replaces an error that was caused by an interrupt.
func orInterrupted(out *console, err error) error {
	if out.ctx.Err() != nil {
		return errors.New("interrupted; to go on, import the file again")
	}
	return err
}

// clearLine returns the text that clears the progress bar, if there is one.
func clearLine(out io.Writer) string {
	if onTerminal(out) {
		return "\r\x1b[K"
	}
	return ""
}

func (c importCmd) check() error {
	switch {
	case c.kind() == nil:
		return usageError(fmt.Sprintf("%s: give a file whose name ends in .csv, .tsv, .geojson or .json", c.File))
	case c.Connections < 1 || c.Connections > 1000:
		return usageError("--connections must be 1 to 1000")
	case !c.DryRun && c.Key == "":
		return usageError("import needs BEACON_KEY, or --key; or --dry-run, to check the file alone")
	}
	if _, err := client.New(c.URL, c.Key); err != nil {
		return usageError("--url " + err.Error())
	}
	return nil
}

// kind chooses the reader of a file by its name.
func (c importCmd) kind() func(io.Reader) (importer.Rows, error) {
	switch strings.ToLower(filepath.Ext(c.File)) {
	case ".csv", ".tsv":
		return importer.CSV
	case ".geojson", ".json":
		return importer.GeoJSON
	}
	return nil
}

// tally counts the outcomes of rows.
type tally struct {
	registered, there, differing, failed atomic.Int64
}

func (t *tally) add(kind importer.Kind) {
	switch kind {
	case importer.Registered:
		t.registered.Add(1)
	case importer.Present:
		t.there.Add(1)
	case importer.Different:
		t.there.Add(1)
		t.differing.Add(1)
	case importer.Failed:
		t.failed.Add(1)
	}
}

// String formats the tally for the progress bar.
func (t *tally) String() string {
	return fmt.Sprintf("%d registered, %d already there, %d failed", t.registered.Load(), t.there.Load(), t.failed.Load())
}

func (t *tally) summary(dry bool) string {
	if dry {
		return fmt.Sprintf("%d good, %d at fault; nothing was registered", t.registered.Load(), t.failed.Load())
	}
	said := t.String()
	if n := t.differing.Load(); n > 0 {
		said += fmt.Sprintf("; %d of those there differ and were left as they are", n)
	}
	return said
}

// meteredReader knows how much of a file has been read.
type meteredReader struct {
	r    io.Reader
	size int64 // 0: unknown
	done atomic.Int64
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
	return bar("bytes: "+what, m.done.Load(), m.size)
}
