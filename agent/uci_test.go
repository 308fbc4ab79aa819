//go:build linux

package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settings are those of the file for Linux, as the section "agent" of uci's package "beacon"
// has them. What is changed is there for everybody after "commit".
type settings struct {
	path  string
	lines []string // name=value
	lists []string // the names of those that add_list made; uci prints some values of lists otherwise
}

func readSettings() *settings {
	s := &settings{path: filepath.Join(os.Getenv("BEACON_ROOT"), "etc/beacon/agent.conf")}
	text, err := os.ReadFile(s.path + ".staged")
	if err != nil {
		text, _ = os.ReadFile(s.path)
	}
	s.lines = slices.Collect(strings.Lines(string(text)))
	lists, _ := os.ReadFile(listsFile())
	s.lists = strings.Fields(string(lists))
	return s
}

func listsFile() string { return filepath.Join(answersFolder(), "lists of uci") }

func (s *settings) stage() int {
	return max(exitOf(os.WriteFile(s.path+".staged", []byte(strings.Join(s.lines, "")), 0o600)), exitOf(os.WriteFile(listsFile(), []byte(strings.Join(s.lists, " ")), 0o600)))
}

func (s *settings) commit() int {
	if err := os.Rename(s.path+".staged", s.path); err != nil && !os.IsNotExist(err) {
		return 1
	}
	return 0
}

func (s *settings) remove(name string) {
	named := func(line string) bool { return strings.HasPrefix(line, name+"=") }
	s.lines = slices.DeleteFunc(s.lines, named)
	s.lists = slices.DeleteFunc(s.lists, func(other string) bool { return other == name })
}

func (s *settings) add(name, value string) { s.lines = append(s.lines, name+"="+value+"\n") }

func (s *settings) values(name string) (values []string) {
	for _, line := range s.lines {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			values = append(values, strings.TrimSuffix(value, "\n"))
		}
	}
	return values
}

func (s *settings) isList(name string) bool {
	return slices.Contains(s.lists, name) || len(s.values(name)) > 1
}

// uci does what testdata/tools/uci.txt records of the program, for the package "beacon". What
// "get" prints of others are files of answers.
func uci(args []string) int {
	quiet, separator := false, " "
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		if quiet = quiet || args[0] == "-q"; args[0] == "-d" {
			separator, args = args[1], args[1:]
		}
		args = args[1:]
	}
	if len(args) != 2 || !slices.Contains([]string{"commit", "export", "get", "show", "set", "add_list", "delete"}, args[0]) {
		fmt.Fprintln(os.Stderr, "Usage: uci [<options>] <command> [<arguments>]")
		return 255
	}
	found := func() bool {
		path, value, _ := strings.Cut(args[1], "=")
		if path == "beacon" || path == "beacon.agent" || strings.HasPrefix(path, "beacon.agent.") {
			return readSettings().do(args[0], path, value, separator)
		}
		return args[0] == "get" && replay("uci get", args[1:]) == 0
	}
	if found() {
		return 0
	}
	if !quiet {
		fmt.Fprintln(os.Stderr, "uci: Entry not found")
	}
	return 1
}

// do runs a command, and reports whether what it is about is there.
func (s *settings) do(verb, path, value, separator string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(path, "beacon.agent"), ".")
	values := s.values(name)
	switch verb {
	case "commit":
		return s.commit() == 0
	case "export":
		s.export()
		return true
	case "set":
		if s.remove(name); name != "" && value != "" {
			s.add(name, value)
		}
		return s.stage() == 0
	case "add_list":
		if s.add(name, value); !slices.Contains(s.lists, name) {
			s.lists = append(s.lists, name)
		}
		return s.stage() == 0
	case "delete":
		s.remove(name)
		return len(values) > 0 && s.stage() == 0
	}
	if name == "" {
		fmt.Println("beacon")
		return true
	}
	for i, text := range values {
		if verb == "show" || s.isList(name) && strings.ContainsAny(text, " \t\r\n") {
			values[i] = quoted(text)
		}
	}
	if verb == "show" && len(values) > 0 {
		fmt.Print(path, "=")
	}
	if len(values) > 0 {
		fmt.Println(strings.Join(values, separator))
	}
	return len(values) > 0
}

func (s *settings) export() {
	fmt.Print("package beacon\n\nconfig beacon 'agent'\n")
	for _, line := range s.lines {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		kind := "option"
		if s.isList(name) {
			kind = "list"
		}
		fmt.Printf("\t%s %s %s\n", kind, name, quoted(value))
	}
	fmt.Println()
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
