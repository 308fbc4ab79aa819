package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Examples are shown by --help.
func (completionCmd) Examples() string {
	return `  source <(beacon completion bash)                           in this shell, or in ~/.bashrc
  beacon completion zsh > "${fpath[1]}/_beacon"
  beacon completion fish > ~/.config/fish/completions/beacon.fish
`
}

// Run prints a completion script for a shell, generated from the commands.
func (c completionCmd) Run(out *console, parser *kong.Kong) error {
	commands := describe(parser.Model.Node, "")
	scripts := map[string]func([]completion) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
	_, err := fmt.Fprint(out.stdout, scripts[c.Shell](commands))
	return err
}

// completion is what can follow a command.
type completion struct {
	path     string // "keys create"; empty for the program itself
	commands []choice
	flags    []flagChoice
	values   []string // of its argument
	files    bool     // its argument is a file
}

// choice is a word and its meaning.
type choice struct{ word, help string }

// flagChoice is a flag, with what can follow it.
type flagChoice struct {
	choice
	takesValue bool
	values     []string
	files      bool
}

// describe lists a command and all its subcommands.
func describe(node *kong.Node, path string) []completion {
	one := completion{path: path}
	for _, flag := range node.Flags {
		if !flag.Hidden {
			one.flags = append(one.flags, describeFlag(flag))
		}
	}
	for _, argument := range node.Positional {
		one.values = append(one.values, enumerated(argument)...)
		one.files = one.files || isFile(argument.Name, argument.Tag.PlaceHolder)
	}
	var below []completion
	for _, child := range node.Children {
		if child.Hidden {
			continue
		}
		one.commands = append(one.commands, choice{child.Name, firstSentence(child.Help)})
		below = append(below, describe(child, strings.TrimSpace(path+" "+child.Name))...)
	}
	if path != "" && len(one.commands) == 0 && !slices.ContainsFunc(one.flags, func(f flagChoice) bool { return f.word == "--help" }) {
		one.flags = append(one.flags, flagChoice{choice: choice{"--help", "Show help."}})
	}
	return append([]completion{one}, below...)
}

func describeFlag(flag *kong.Flag) flagChoice {
	return flagChoice{
		choice:     choice{"--" + flag.Name, firstSentence(flag.Help)},
		takesValue: !flag.IsBool(),
		values:     enumerated(flag.Value),
		files:      isFile(flag.Name, flag.PlaceHolder),
	}
}

func enumerated(value *kong.Value) []string {
	if value.Enum == "" {
		return nil
	}
	return strings.Split(value.Enum, ",")
}

// isFile reports whether a value is a file name, judging by its placeholder.
func isFile(name, placeholder string) bool {
	return strings.Contains(placeholder, "FILE") || name == "file"
}

// firstSentence returns the first sentence of a help text, which is enough beside a
// word.
func firstSentence(help string) string {
	sentence, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(sentence, ".")
}

// paths lists all commands, for a shell to recognise.
func paths(all []completion) (list []string) {
	for _, c := range all {
		if c.path != "" {
			list = append(list, c.path)
		}
	}
	return list
}
