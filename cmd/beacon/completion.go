package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints a script that needs no program to run at each key, and tells what
// each word means. github.com/jotaen/kong-completion would be shorter, but does neither.
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

// Both bash and zsh find the command from the words before the cursor, then offer
// what can follow it.

func bashCompletion(all []completion) string {
	var b strings.Builder
	b.WriteString(`# Completion of beacon for bash.
_beacon() {
	local path="" i cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	for ((i = 1; i < COMP_CWORD; i++)); do
		case "${path:+$path }${COMP_WORDS[i]}" in
`)
	fmt.Fprintf(&b, "\t\t%s) path=\"${path:+$path }${COMP_WORDS[i]}\" ;;\n", patterns(paths(all)))
	b.WriteString(`		esac
	done
	# --flag=value comes as three words.
	if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
	COMPREPLY=()
	case "$path $prev" in
`)
	writeValueCases(&b, all, bashValues)
	b.WriteString("\tesac\n\tcase \"$path\" in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "\t%s)\n\t\tif [[ $cur == -* ]]; then %s\n", quote(c.path), bashValues(wordsOf(flagWords(c)), false))
		fmt.Fprintf(&b, "\t\telse %s; fi ;;\n", bashValues(append(wordsOf(c.commands), c.values...), c.files))
	}
	b.WriteString("\tesac\n}\ncomplete -F _beacon beacon\n")
	return b.String()
}

// writeValueCases writes what can follow a flag: words, a file, or anything.
func writeValueCases(b *strings.Builder, all []completion, offer func(values []string, files bool) string) {
	after := map[string][]string{}
	for _, c := range all {
		for _, f := range c.flags {
			if f.takesValue {
				action := offer(f.values, f.files)
				after[action] = append(after[action], c.path+" "+f.word)
			}
		}
	}
	for _, action := range slices.Sorted(maps.Keys(after)) {
		fmt.Fprintf(b, "\t%s) %s; return ;;\n", patterns(after[action]), action)
	}
}

// bashValues offers words, files, or nothing.
func bashValues(values []string, files bool) string {
	switch {
	case files:
		return `compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur")`
	case len(values) > 0:
		return fmt.Sprintf(`mapfile -t COMPREPLY < <(compgen -W %s -- "$cur")`, quote(strings.Join(values, " ")))
	}
	return ":"
}

func zshCompletion(all []completion) string {
	var b strings.Builder
	b.WriteString(`#compdef beacon
# Completion of beacon for zsh.
_beacon() {
	local at="" i prev=${words[CURRENT-1]}
	local -a offered
	for ((i = 2; i < CURRENT; i++)); do
		case "${at:+$at }${words[i]}" in
`)
	fmt.Fprintf(&b, "\t\t%s) at=\"${at:+$at }${words[i]}\" ;;\n", patterns(paths(all)))
	b.WriteString("\t\tesac\n\tdone\n\tcase \"$at $prev\" in\n")
	writeValueCases(&b, all, zshValues)
	b.WriteString("\tesac\n\tcase \"$at\" in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "\t%s)\n\t\tif [[ ${words[CURRENT]} == -* ]]; then\n\t\t\toffered=(%s)\n\t\t\t_describe -o flag offered\n", quote(c.path), zshChoices(flagWords(c)))
		if len(c.commands) > 0 {
			fmt.Fprintf(&b, "\t\telse\n\t\t\toffered=(%s)\n\t\t\t_describe command offered\n\t\tfi ;;\n", zshChoices(c.commands))
			continue
		}
		fmt.Fprintf(&b, "\t\telse %s; fi ;;\n", zshValues(c.values, c.files))
	}
	b.WriteString("\tesac\n}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then _beacon \"$@\"; else compdef _beacon beacon; fi\n")
	return b.String()
}

func zshValues(values []string, files bool) string {
	switch {
	case files:
		return "_files"
	case len(values) > 0:
		return "compadd -- " + strings.Join(values, " ")
	}
	return ":"
}

// zshChoices formats words for _describe.
func zshChoices(choices []choice) string {
	var all []string
	for _, c := range choices {
		all = append(all, quote(strings.ReplaceAll(c.word, ":", `\:`)+":"+c.help))
	}
	return strings.Join(all, " ")
}

func fishCompletion(all []completion) string {
	var b strings.Builder
	b.WriteString("# Completion of beacon for fish.\ncomplete -c beacon -f\n")
	for _, c := range all {
		when := fishCondition(c)
		for _, sub := range c.commands {
			fmt.Fprintf(&b, "complete -c beacon -n %s -a %s -d %s\n", quote(when), sub.word, quote(sub.help))
		}
		if len(c.values) > 0 {
			fmt.Fprintf(&b, "complete -c beacon -n %s -a %s\n", quote(when), quote(strings.Join(c.values, " ")))
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

func fishValue(f flagChoice) string {
	switch {
	case f.files:
		return " -r -F"
	case len(f.values) > 0:
		return " -x -a " + quote(strings.Join(f.values, " "))
	case f.takesValue:
		return " -x"
	}
	return ""
}

func flagWords(c completion) (list []choice) {
	for _, f := range c.flags {
		list = append(list, f.choice)
	}
	return list
}

func wordsOf(choices []choice) (list []string) {
	for _, c := range choices {
		list = append(list, c.word)
	}
	return list
}

// patterns returns the pattern of a case in a shell script.
func patterns(all []string) string {
	quotedWords := make([]string, len(all))
	for i, word := range all {
		quotedWords[i] = quote(word)
	}
	return strings.Join(quotedWords, " | ")
}

// quote quotes text as one word for any of the three shells.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "'").Replace(text) + `"`
}
