package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints a script that needs no program to run at each key, and tells what
// each word means. github.com/jotaen/kong-completion would be shorter, but does neither.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

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
	flags    []choice
	values   // of its argument
}

// choice is a command or a flag, and its meaning.
type choice struct {
	word, help string
	takesValue bool
	values
}

// values is what a flag or an argument can be: one of some words, a file, or anything.
type values struct {
	words []string
	files bool // judging by the placeholder
}

// describe lists a command and all its subcommands.
func describe(node *kong.Node, path string) []completion {
	one := completion{path: path}
	for _, flag := range node.Flags {
		if flag.Hidden {
			continue
		}
		one.flags = append(one.flags, choice{"--" + flag.Name, firstSentence(flag.Help), !flag.IsBool(), valuesOf(flag.Value, flag.PlaceHolder)})
	}
	for _, argument := range node.Positional {
		one.values = valuesOf(argument, argument.Tag.PlaceHolder)
	}
	var below []completion
	for _, child := range node.Children {
		if child.Hidden {
			continue
		}
		one.commands = append(one.commands, choice{word: child.Name, help: firstSentence(child.Help)})
		below = append(below, describe(child, strings.TrimSpace(path+" "+child.Name))...)
	}
	if len(one.commands) == 0 {
		one.flags = append(one.flags, choice{word: "--help", help: "Show help."})
	}
	return append([]completion{one}, below...)
}

func valuesOf(value *kong.Value, placeholder string) (v values) {
	if value.Enum != "" {
		v.words = strings.Split(value.Enum, ",")
	}
	v.files = strings.Contains(placeholder, "FILE") || value.Name == "file"
	return v
}

// firstSentence returns the first sentence of a help text, which is enough beside a
// word.
func firstSentence(help string) string {
	sentence, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(sentence, ".")
}

// Both bash and zsh find the command from the words before the cursor, then try three keys
// of one table: the command with the flag before the cursor, the command with the dash that
// a flag begins with, and the command.

func bashCompletion(all []completion) string {
	return `# Completion of beacon for bash.
_beacon() {
	local path="" i at cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	for ((i = 1; i < COMP_CWORD; i++)); do
		case "${path:+$path }${COMP_WORDS[i]}" in
		` + pathPattern(all) + `) path="${path:+$path }${COMP_WORDS[i]}" ;;
		esac
	done
	# --flag=value comes as three words.
	if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
	COMPREPLY=()
	for at in "$path $prev" "$path ${cur:0:1}" "$path"; do
		case "$at" in
` + casesOf(all, bashOffer) + `		esac
	done
}
complete -F _beacon beacon
`
}

func zshCompletion(all []completion) string {
	return `#compdef beacon
# Completion of beacon for zsh.
_beacon() {
	local command="" i at prev=${words[CURRENT-1]} cur=${words[CURRENT]}
	local -a offered
	for ((i = 2; i < CURRENT; i++)); do
		case "${command:+$command }${words[i]}" in
		` + pathPattern(all) + `) command="${command:+$command }${words[i]}" ;;
		esac
	done
	for at in "$command $prev" "$command ${cur[1]}" "$command"; do
		case "$at" in
` + casesOf(all, zshOffer) + `		esac
	done
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _beacon "$@"; else compdef _beacon beacon; fi
`
}

// pathPattern matches all commands, in a case of a shell script.
func pathPattern(all []completion) string {
	var paths []string
	for _, c := range all[1:] { // the first is the program itself
		paths = append(paths, quote(c.path))
	}
	return strings.Join(paths, " | ")
}

// casesOf returns what can follow where, as cases of a shell script.
func casesOf(all []completion, offer func([]choice, values) string) string {
	var b strings.Builder
	add := func(at, action string) { fmt.Fprintf(&b, "\t\t%s) %s; return ;;\n", quote(at), action) }
	for _, c := range all {
		for _, f := range c.flags {
			if f.takesValue {
				add(c.path+" "+f.word, offer(nil, f.values))
			}
		}
		add(c.path+" -", offer(c.flags, values{}))
		add(c.path, offer(c.commands, c.values))
	}
	return b.String()
}

func bashOffer(choices []choice, v values) string {
	words := append(wordsOf(choices), v.words...)
	switch {
	case v.files:
		return `compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur")`
	case len(words) > 0:
		return fmt.Sprintf(`mapfile -t COMPREPLY < <(compgen -W %s -- "$cur")`, quote(strings.Join(words, " ")))
	}
	return ":"
}

func zshOffer(choices []choice, v values) string {
	switch {
	case v.files:
		return "_files"
	case len(v.words) > 0:
		return "compadd -- " + strings.Join(v.words, " ")
	case len(choices) == 0:
		return ":"
	}
	kind := "command"
	if strings.HasPrefix(choices[0].word, "-") {
		kind = "-o flag"
	}
	var described []string
	for _, c := range choices {
		described = append(described, quote(c.word+":"+c.help))
	}
	return fmt.Sprintf("offered=(%s); _describe %s offered", strings.Join(described, " "), kind)
}

func fishCompletion(all []completion) string {
	var b strings.Builder
	b.WriteString("# Completion of beacon for fish.\ncomplete -c beacon -f\n")
	for _, c := range all {
		when := fishCondition(c)
		for _, sub := range c.commands {
			fmt.Fprintf(&b, "complete -c beacon -n %s -a %s -d %s\n", quote(when), sub.word, quote(sub.help))
		}
		if len(c.words) > 0 {
			fmt.Fprintf(&b, "complete -c beacon -n %s -a %s\n", quote(when), quote(strings.Join(c.words, " ")))
		}
		if c.files {
			fmt.Fprintf(&b, "complete -c beacon -n %s -F\n", quote(when))
		}
		for _, f := range c.flags {
			fmt.Fprintf(&b, "complete -c beacon -n %s -l %s%s -d %s\n", quote(when), strings.TrimPrefix(f.word, "--"), fishValue(f), quote(f.help))
		}
	}
	return b.String()
}

// fishCondition returns a condition that is true while a command is being typed.
func fishCondition(c completion) string {
	if c.path == "" {
		return "__fish_use_subcommand"
	}
	var all []string
	for word := range strings.FieldsSeq(c.path) {
		all = append(all, "__fish_seen_subcommand_from "+word)
	}
	if len(c.commands) > 0 {
		all = append(all, "not __fish_seen_subcommand_from "+strings.Join(wordsOf(c.commands), " "))
	}
	return strings.Join(all, "; and ")
}

func fishValue(f choice) string {
	switch {
	case f.files:
		return " -r -F"
	case len(f.words) > 0:
		return " -x -a " + quote(strings.Join(f.words, " "))
	case f.takesValue:
		return " -x"
	}
	return ""
}

func wordsOf(choices []choice) (list []string) {
	for _, c := range choices {
		list = append(list, c.word)
	}
	return list
}

// quote quotes text as one word for any of the three shells.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "'").Replace(text) + `"`
}
