//go:build linux

package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// uci has the settings of the file for Linux. Those that may have several values are
// lists. As the real one does, "get" quotes values of lists that have white space, and
// "show" all values; an apostrophe between quotes is '\”. What is changed is there for
// everybody after "commit". Other packages are files of answers.
func uci(args []string) int {
	if len(args) > 0 && args[0] == "-q" {
		args = args[1:]
	}
	separator := " "
	if len(args) > 1 && args[0] == "-d" {
		separator, args = args[1], args[2:]
	}
	if len(args) != 2 {
		return 255
	}
	settings := filepath.Join(os.Getenv("BEACON_ROOT"), "etc/beacon/agent.conf")
	staged := settings + ".staged"
	text, err := os.ReadFile(staged)
	if err != nil {
		text, _ = os.ReadFile(settings)
	}
	stage := func(lines string) int { return exitOf(os.WriteFile(staged, []byte(lines), 0o600)) }
	option, ours := strings.CutPrefix(args[1], "beacon.agent.")
	name, value, _ := strings.Cut(option, "=")
	switch verb := args[0]; {
	case verb == "commit":
		return exitOf(os.Rename(staged, settings))
	case verb == "export":
		fmt.Print(string(text))
	case args[1] == "beacon.agent=beacon" || verb == "save":
	case verb == "get" && !ours:
		return replay("uci get", args[1:])
	case verb == "delete":
		lines := strings.SplitAfter(string(text), "\n")
		return stage(strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, name+"=") }), ""))
	case verb == "set":
		return max(uci([]string{"delete", "beacon.agent." + name}), uci([]string{"add_list", args[1]}))
	case verb == "add_list":
		return stage(string(text) + name + "=" + value + "\n")
	case verb == "get" || verb == "show":
		return printOption(verb == "show", args[1], valuesOf(string(text), name), separator)
	default:
		return 255
	}
	return 0
}

func valuesOf(text, name string) (values []string) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), name+"="); ok {
			values = append(values, value)
		}
	}
	return values
}

func printOption(show bool, path string, values []string, separator string) int {
	if len(values) == 0 {
		return 1
	}
	for i, value := range values {
		if show || len(values) > 1 && strings.ContainsAny(value, " \t") {
			values[i] = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
	}
	if show {
		fmt.Print(path, "=")
	}
	fmt.Println(strings.Join(values, separator))
	return 0
}
