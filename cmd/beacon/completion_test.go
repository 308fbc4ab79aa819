package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

func completionScript(t *testing.T, shell string) string {
	t.Helper()
	var out, diagnosis bytes.Buffer
	if code := run(t.Context(), []string{"completion", shell}, &out, &diagnosis); code != exitDone {
		t.Fatal(diagnosis.String())
	}
	file := filepath.Join(t.TempDir(), "beacon."+shell)
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// completions is what is offered after some words: all of it, or "…" and a part.
var completions = map[string]string{
	"":                             "… serve keys rewards audit import backup restore simulate openapi completion version",
	"ser":                          "serve",
	"keys ":                        "create list revoke",
	"keys cr":                      "create",
	"serve --log-f":                "--log-format",
	"serve --log-format ":          "json text",
	"serve --log-format t":         "text",
	"serve --addr ":                "",
	"openapi ":                     "preview network",
	"openapi p":                    "preview",
	"completion ":                  "bash zsh fish",
	"keys create --s":              "--scopes",
	"rewards settle --f":           "--force",
	"import ":                      "here.csv",
	"import --dry-run ":            "here.csv",
	"import here.csv --dr":         "--dry-run",
	"restore here.csv --db h":      "here.csv",
	"rewards settle --db h":        "here.csv",
	"serve --log-format text --lo": "--load-shedding --log-format --log-level",
	"serve --rate-limit off --no":  "",
	"keys revoke --":               "… --db --help",
	"version --":                   "--sbom --help",
}

func offered(t *testing.T, got, want, line string) {
	t.Helper()
	have := strings.Fields(got)
	part, some := strings.CutPrefix(want, "…")
	wanted := strings.Fields(part)
	slices.Sort(have)
	slices.Sort(wanted)
	if some {
		have = slices.DeleteFunc(have, func(word string) bool { return !slices.Contains(wanted, word) })
	}
	if !slices.Equal(have, wanted) {
		t.Errorf("after %q it offers %q; want %q", "beacon "+line, got, want)
	}
}

func TestCompletion_Bash(t *testing.T) {
	script := completionScript(t, "bash")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "here.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range completions {
		shell := exec.Command("bash", "-uc", `source "$1"; complete -p beacon >/dev/null || exit 1
			read -ra COMP_WORDS <<<"beacon $2"; [[ -z $2 || $2 == *" " ]] && COMP_WORDS+=("")
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _beacon; echo "${COMPREPLY[*]}"`, "bash", script, line)
		shell.Dir = folder
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		offered(t, string(out), want, line)
	}
	// --flag=value is three words to bash.
	out, err := exec.Command("bash", "-uc", `source "$1"; COMP_WORDS=(beacon serve --log-format = t); COMP_CWORD=4; _beacon; echo "${COMPREPLY[*]}"
		COMP_WORDS=(beacon serve --log-format =); COMP_CWORD=3; _beacon; echo "${COMPREPLY[*]}"`, "bash", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := strings.Fields(string(out)); !slices.Equal(got, []string{"text", "json", "text"}) {
		t.Errorf("after = it offers %v", got)
	}
}

func TestCompletion_Fish(t *testing.T) {
	level.Tool(t, "fish", "fish")
	script := completionScript(t, "fish")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "here.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range completions {
		shell := exec.Command("fish", "--no-config", "-c", `source $argv[1]; complete -C "beacon $argv[2]" | string split -f 1 \t`, script, line)
		shell.Dir = folder
		shell.Env = append(os.Environ(), "HOME="+folder)
		out, _ := shell.Output() // it is 1 when nothing is offered
		offered(t, string(out), want, line)
	}
}

// zsh completes in a terminal alone; here it is made to read the script, and to
// say what it would offer.
func TestCompletion_Zsh(t *testing.T) {
	level.Tool(t, "zsh", "zsh")
	script := completionScript(t, "zsh")
	folder := t.TempDir()
	for line, want := range completions {
		if strings.Contains(want, "here.csv") {
			want = "FILES"
		}
		shell := exec.Command("zsh", "-fc", `compdef() { : }; _files() { print FILES }
			compadd() { [[ $1 == -- ]] && shift; print -l -- $@ }
			_describe() { local one; shift; [[ $1 == flag ]] && shift; for one in ${(P)1}; do print -r -- ${one%%:*}; done }
			source $1; words=(beacon ${=2}); [[ -z $2 || $2 == *" " ]] && words+=(""); CURRENT=$#words; prefix=$words[-1]
			_beacon | while read -r word; do [[ $word == $prefix* || $word == FILES ]] && print -r -- $word; done; true`, "zsh", script, line)
		shell.Dir = folder
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		offered(t, string(out), want, line)
	}
}
