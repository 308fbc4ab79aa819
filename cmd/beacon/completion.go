package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints a script that asks this program what can follow, with the words so
// far. The libraries that do this for kong need six more modules.
type completionCmd struct {
	Shell string   `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
	Words []string `arg:"" optional:"" passthrough:"" help:"The words so far, as the script sends them."`
}

func (completionCmd) Examples() string {
	return `  source <(beacon completion bash)                           in this shell, or in ~/.bashrc
  beacon completion zsh > "${fpath[1]}/_beacon"
  beacon completion fish > ~/.config/fish/completions/beacon.fish
`
}

var completionScripts = map[string]string{
	"bash": `_beacon() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(beacon completion bash "${COMP_WORDS[@]:1:COMP_CWORD}")
}
complete -F _beacon beacon
`,
	"zsh": `#compdef beacon
_beacon() {
	local -a offered=("${(@f)$(beacon completion zsh "${(@)words[2,CURRENT]}")}")
	[[ -n $offered ]] && _describe beacon offered
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _beacon "$@"; else compdef _beacon beacon; fi
`,
	"fish": `complete -c beacon -f -a '(beacon completion fish (commandline -opc)[2..] (commandline -ct))'
`,
}

// Run prints the script for a shell, or what can follow the words.
func (c completionCmd) Run(out *console, parser *kong.Kong) error {
	if len(c.Words) == 0 {
		_, err := fmt.Fprint(out.stdout, completionScripts[c.Shell])
		return err
	}
	for _, o := range offers(parser.Model.Node, c.Words) {
		switch {
		case c.Shell == "zsh":
			o[0] = strings.ReplaceAll(o[0], ":", `\:`) + ":" + o[1]
		case c.Shell == "fish" && o[1] != "":
			o[0] += "\t" + o[1]
		}
		if _, err := fmt.Fprintln(out.stdout, o[0]); err != nil {
			return err
		}
	}
	return nil
}

// offers returns what can stand for the last word after those before it, each with its
// meaning.
func offers(at *kong.Node, words []string) (all [][2]string) {
	last := words[len(words)-1]
	if last == "=" { // --flag=value is three words to bash
		last = ""
	}
	var flag *kong.Flag // that waits for its value
	for _, word := range words[:len(words)-1] {
		child := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == word })
		switch named := slices.IndexFunc(at.Flags, func(f *kong.Flag) bool { return "--"+f.Name == word }); {
		case word == "=":
		case named >= 0 && !at.Flags[named].IsBool():
			flag = at.Flags[named]
		case flag == nil && child >= 0:
			at = at.Children[child]
		default:
			flag = nil
		}
	}
	offer := func(word, help string) {
		if strings.HasPrefix(word, last) {
			help, _, _ = strings.Cut(help, ". ") // one sentence is enough
			all = append(all, [2]string{word, strings.TrimSuffix(help, ".")})
		}
	}
	switch {
	case flag != nil:
		offerValues(flag.Value, flag.PlaceHolder, last, offer)
	case strings.HasPrefix(last, "-"):
		for _, f := range slices.DeleteFunc(slices.Clone(at.Flags), func(f *kong.Flag) bool { return f.Hidden }) {
			offer("--"+f.Name, f.Help)
		}
		if len(at.Children) == 0 {
			offer("--help", "Show help.")
		}
	case len(at.Positional) > 0:
		offerValues(at.Positional[0], at.Positional[0].Tag.PlaceHolder, last, offer)
	}
	for _, child := range at.Children {
		if flag == nil && !child.Hidden {
			offer(child.Name, child.Help)
		}
	}
	return all
}

// offerValues offers one of some words, or files, judging by the placeholder.
func offerValues(value *kong.Value, placeholder, last string, offer func(word, help string)) {
	for word := range strings.SplitSeq(value.Enum, ",") {
		if word != "" {
			offer(word, "")
		}
	}
	if !strings.Contains(placeholder, "FILE") && value.Name != "file" {
		return
	}
	files, _ := filepath.Glob(last + "*") // a strange name matches nothing
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			file += "/"
		}
		offer(file, "")
	}
}
