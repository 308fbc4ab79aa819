package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/beacon-wifi/beacon/internal/importer"
)

type verifyCmd struct {
	File        string            `arg:"" placeholder:"VISITS.csv" help:"The list of visits, a CSV file."`
	URL         string            `name:"url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"The server to record the visits on. Default ${default}."`
	Key         string            `placeholder:"bcn_…" help:"A key of staff, with the scope hotspots:verify. Better set as BEACON_KEY: other users can see a command line."`
	Map         map[string]string `mapsep:"," placeholder:"COLUMN=NAME" help:"What the file calls a column, as in hotspot=Knoten,accuracy_m=Fehler."`
	Set         map[string]string `mapsep:"none" placeholder:"COLUMN=VALUE" help:"What a column holds where the file says nothing, as in visitor=Ada. May be repeated."`
	Refused     string            `placeholder:"FILE" help:"Where to write the lines that are refused, with the reasons. Default: beside the list, as in visits-refused.csv."`
	DryRun      bool              `help:"Check the list without recording anything. With a key, also whether there are such hotspots, and where."`
	Connections int               `default:"8" help:"How many visits to record at the same time. Default ${default}."`
}

func (verifyCmd) Help() string {
	return `Each line of the list is a visit of staff to a hotspot. The first line names the
columns, in any order:

` + importer.VisitHelp + `
Common names of columns, decimal commas and separators are known as in beacon import.

A visit counts as if it were entered by hand, from when it is recorded, and by the
same rules: one that finds a verified hotspot elsewhere makes it pending again. Run
the list as often as you like: a visit counts once, and not at all if another was
recorded after it was made. Lines that are refused are written to a file; mend them
there and run that file.`
}

func (verifyCmd) Examples() string {
	return `  beacon verify visits.csv --dry-run                         only check the list
  BEACON_KEY=bcn_… beacon verify visits.csv                  record at http://127.0.0.1:8080
  BEACON_KEY=bcn_… beacon verify visits-refused.csv --refused still.csv
`
}

// Run records the visits of a list.
func (c verifyCmd) Run(out *console) error {
	if c.Refused == "" {
		c.Refused = strings.TrimSuffix(c.File, filepath.Ext(c.File)) + "-refused.csv"
	}
	if err := c.check(); err != nil {
		return err
	}
	file, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	source := meter(file)
	rows, err := importer.ReadVisits(source, c.mapping())
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	var record importer.Record
	if c.Key != "" {
		staff, err := importer.ConnectStaff(out.ctx, c.URL, c.Key, c.Connections)
		if err != nil {
			return orInterrupted(out, err, "run the list again")
		}
		if record = staff.Record; c.DryRun {
			record = staff.Check
		}
	}
	return c.run(out, source, rows, record)
}

func (c verifyCmd) mapping() importer.Mapping { return importer.VisitMapping(c.Map, c.Set) }

func (c verifyCmd) check() error {
	switch {
	case c.Connections < 1 || c.Connections > 100:
		return usageError("--connections must be 1 to 100")
	case !c.DryRun && c.Key == "":
		return usageError("verify needs a key: set BEACON_KEY, or use --dry-run to only check the list")
	}
	if err := checkTable(c.URL, c.Key, c.mapping()); err != nil {
		return err
	}
	if _, err := os.Lstat(c.Refused); err == nil && !c.DryRun {
		return fmt.Errorf("%s is there already: run it, and then delete it, or name another file with --refused", c.Refused)
	}
	return nil
}

// run records all visits and prints the outcome.
func (c verifyCmd) run(out *console, source *meteredReader, rows importer.Rows, record importer.Record) error {
	done, refused := new(tally), &refusedFile{name: c.Refused}
	stop := showProgress(out.stderr, func() string { return source.bar(visitsSaid(done, c.DryRun)) })
	unused, err := importer.RecordVisits(out.ctx, rows, record, c.Connections, func(l importer.Line) error {
		done[l.Kind].Add(1)
		if l.Kind != importer.Failed {
			return nil
		}
		fmt.Fprintf(out.stderr, "%s%s:%s: %s\n", clearLine(out.stderr), c.File, l.Place, l.Text)
		if c.DryRun {
			return nil
		}
		return refused.add(l.Cells)
	})
	err = errors.Join(err, refused.close())
	stop()
	if len(unused) > 0 {
		fmt.Fprintf(out.stderr, "beacon: ignored: %s\n", quoted(unused))
	}
	fmt.Fprintln(out.stdout, visitsSaid(done, c.DryRun))
	switch n := int(done.of(importer.Failed)); {
	case err != nil:
		return orInterrupted(out, fmt.Errorf("%s: %w", c.File, err), "run the list again")
	case n > 0 && c.DryRun:
		return fmt.Errorf("%s would be refused", count(n, "line"))
	case n > 0:
		return fmt.Errorf("%s refused: mend them in %s, and run that", count(n, "line"), c.Refused)
	}
	return nil
}

func visitsSaid(t *tally, dry bool) string {
	if dry {
		return fmt.Sprintf("%d could be recorded, %d refused; nothing was recorded", t.of(importer.Registered), t.of(importer.Failed))
	}
	return fmt.Sprintf("%d recorded, %d recorded before, %d refused", t.of(importer.Registered), t.of(importer.Present), t.of(importer.Failed))
}

// refusedFile is a list of visits that were refused. It is created with its first line, and
// replaces no file.
type refusedFile struct {
	name string
	file *os.File
}

func (f *refusedFile) add(cells []string) (err error) {
	if f.file == nil {
		if f.file, err = os.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return err
		}
		if err := f.write(importer.VisitColumns()); err != nil {
			return err
		}
	}
	return f.write(cells)
}

// write writes a line at once: whatever happens next, it is there.
func (f *refusedFile) write(cells []string) error {
	w := csv.NewWriter(f.file)
	return errors.Join(w.Write(cells), flushed(w))
}

func flushed(w *csv.Writer) error {
	w.Flush()
	return w.Error()
}

func (f *refusedFile) close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
