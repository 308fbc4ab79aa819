package store

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Schema describes a database in lines such as "column hotspots.id not null", "key
// hotspots (id)" and "unique index hotspots_mac_live on hotspots (mac_live)". Lines of
// different engines can be compared.
type Schema []string

// columnLine, keyLine and indexLine return the lines of a schema.
func columnLine(table, column string, notNull bool) string {
	line := fmt.Sprintf("column %s.%s", table, column)
	if notNull {
		line += " not null"
	}
	return line
}

func keyLine(table string, columns []string) string {
	return fmt.Sprintf("key %s (%s)", table, strings.Join(columns, ", "))
}

func indexLine(name, table string, unique bool, columns []string) string {
	line := fmt.Sprintf("index %s on %s (%s)", name, table, strings.Join(columns, ", "))
	if unique {
		line = "unique " + line
	}
	return line
}

var (
	tableText  = regexp.MustCompile(`(?s)^CREATE TABLE IF NOT EXISTS (\w+) \(\n(.*)\n\)`)
	columnText = regexp.MustCompile(`^(\w+) +(\S.*)$`)
	keyText    = regexp.MustCompile(`^CONSTRAINT \w+ PRIMARY KEY \((.*)\)$`)
	alterText  = regexp.MustCompile(`^ALTER TABLE (\w+) \{add column\} (\w+) (.*)$`)
	indexText  = regexp.MustCompile(`^CREATE (UNIQUE )?INDEX IF NOT EXISTS (\w+) ON (\w+) \((.*)\)$`)
)

// SchemaOf returns the schema that migrations create. Our migrations use a fixed set of
// statement forms; any other statement is an error, so that none is missed.
func SchemaOf(steps []Migration) (Schema, error) {
	var lines Schema
	for _, step := range steps {
		for _, statement := range step.Statements {
			some, err := schemaOf(statement)
			if err != nil {
				return nil, fmt.Errorf("migration %s: %w", step.Name, err)
			}
			lines = append(lines, some...)
		}
	}
	return lines, nil
}

func schemaOf(statement string) (Schema, error) {
	if m := tableText.FindStringSubmatch(statement); m != nil {
		return tableLines(m[1], m[2])
	}
	if m := alterText.FindStringSubmatch(statement); m != nil {
		return Schema{columnLine(m[1], m[2], strings.Contains(m[3], "NOT NULL"))}, nil
	}
	if m := indexText.FindStringSubmatch(statement); m != nil {
		return Schema{indexLine(m[2], m[3], m[1] != "", strings.Split(m[4], ", "))}, nil
	}
	return nil, fmt.Errorf("cannot parse this statement: %.60s", statement)
}

func tableLines(table, body string) (lines Schema, err error) {
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimSuffix(strings.TrimSpace(line), ",")
		key, column := keyText.FindStringSubmatch(line), columnText.FindStringSubmatch(line)
		switch {
		case line == "":
		case key != nil:
			lines = append(lines, keyLine(table, strings.Split(key[1], ", ")))
		case column != nil:
			lines = append(lines, columnLine(table, column[1], strings.HasSuffix(line, "NOT NULL")))
		default:
			return nil, fmt.Errorf("cannot parse this statement: %.60s", line)
		}
	}
	return lines, nil
}

// schemaPart is one row of an engine's schema information: a column of a table or of
// one of its indexes.
type schemaPart struct {
	Table, Column string
	Index         string // the index that has the column; empty if it is the table's own
	Flag          bool   // for a table: the column is not null; for an index: it is unique
	Key           bool   // the index is the primary key
}

// schemaLines returns the lines for parts, which are in column order.
func schemaLines(parts []schemaPart) (lines Schema) {
	for i := 0; i < len(parts); {
		p := parts[i]
		if p.Index == "" {
			lines = append(lines, columnLine(p.Table, p.Column, p.Flag))
			i++
			continue
		}
		var columns []string
		for ; i < len(parts) && parts[i].Table == p.Table && parts[i].Index == p.Index; i++ {
			columns = append(columns, parts[i].Column)
		}
		if p.Key {
			lines = append(lines, keyLine(p.Table, columns))
		} else {
			lines = append(lines, indexLine(p.Index, p.Table, p.Flag, columns))
		}
	}
	return lines
}

// readSchema reads a schema with a query of five columns, in the order of schemaPart. Its
// rows are in the order of columns.
func readSchema(ctx context.Context, conn *sql.Conn, text string) (Schema, error) {
	parts, err := ReadRows(ctx, conn, func(p *schemaPart) []any { return []any{&p.Table, &p.Column, &p.Index, &p.Flag, &p.Key} }, text)
	return schemaLines(parts), err
}

// Missing returns the lines that want has and s lacks.
func (s Schema) Missing(want Schema) Schema {
	return slices.DeleteFunc(slices.Clone(want), func(line string) bool { return slices.Contains(s, line) })
}
