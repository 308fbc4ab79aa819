package store

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Schema is what a database is made of, in lines such as "column hotspots.id not
// null", "key hotspots (id)" and "unique index hotspots_mac_live on hotspots
// (mac_live)". Lines can be compared, whichever engine they are of.
type Schema []string

// Lines of a schema.
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
	columnText = regexp.MustCompile(`^(\w+) +\S.*$`)
	keyText    = regexp.MustCompile(`^CONSTRAINT \w+ PRIMARY KEY \((.*)\)$`)
	alterText  = regexp.MustCompile(`^ALTER TABLE (\w+) \{add column\} (\w+) (.*)$`)
	indexText  = regexp.MustCompile(`^CREATE (UNIQUE )?INDEX IF NOT EXISTS (\w+) ON (\w+) \((.*)\)$`)
)

// SchemaOf reads off migrations what they make. Our migrations are written in one
// form; a statement that is not in it is an error, so that none is forgotten.
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
	return nil, fmt.Errorf("cannot tell what this makes: %.60s", statement)
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
			return nil, fmt.Errorf("cannot tell what this makes: %.60s", line)
		}
	}
	return lines, nil
}

// SchemaPart is one row of what an engine says about its tables: a column of a
// table, or of one of its indexes.
type SchemaPart struct {
	Table, Column string
	Index         string // whose column it is; empty: the table's own
	Flag          bool   // of a table's column: it is not null; of an index: it is unique
	Key           bool   // the index is the primary key
}

// SchemaLines makes lines of the parts, which are in the order of their columns.
func SchemaLines(parts []SchemaPart) (lines Schema) {
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

// ReadSchema asks for the parts of a schema with a query of five columns, in the
// order of SchemaPart.
func ReadSchema(ctx context.Context, conn *sql.Conn, text string) (parts []SchemaPart, err error) {
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p SchemaPart
		if err := rows.Scan(&p.Table, &p.Column, &p.Index, &p.Flag, &p.Key); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, rows.Err()
}

// Missing are the lines that another schema has and this one lacks.
func (s Schema) Missing(want Schema) Schema {
	return slices.DeleteFunc(slices.Clone(want), func(line string) bool { return slices.Contains(s, line) })
}
