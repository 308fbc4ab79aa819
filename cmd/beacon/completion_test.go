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
	"keys ":                        "create list invite revoke",
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
	"version --":                   "--help",
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

// TestCompletion asks as the scripts do.
func TestCompletion(t *testing.T) {
	t.Chdir(folderWithFile(t))
	for line, want := range completions {
		words := strings.Split(line, " ")
		var out, diagnosis bytes.Buffer
		if code := run(t.Context(), append([]string{"completion", "bash"}, words...), &out, &diagnosis); code != exitDone {
			t.Fatal(diagnosis.String())
		}
		offered(t, out.String(), want, line)
	}
}

// folderWithFile returns a folder with the file here.csv.
func folderWithFile(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "here.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestCompletion_Bash(t *testing.T) {
	script := completionScript(t, "bash")
	for line, want := range map[string]string{"": completions[""], "serve --log-f": "--log-format", "import ": "here.csv"} {
		shell := exec.Command("bash", "-uc", `source "$1"; complete -p beacon >/dev/null || exit 1
			read -ra COMP_WORDS <<<"beacon $2"; [[ -z $2 || $2 == *" " ]] && COMP_WORDS+=("")
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _beacon; echo "${COMPREPLY[*]}"`, "bash", script, line)
		shell.Dir = folderWithFile(t)
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
	folder := folderWithFile(t)
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
	folder := folderWithFile(t)
	for line, want := range completions {
		shell := exec.Command("zsh", "-fc", `compdef() { : }
			_describe() { local one; for one in ${(P)2}; do print -r -- ${one%%:*}; done }
			source $1; words=(beacon ${=2}); [[ -z $2 || $2 == *" " ]] && words+=(""); CURRENT=$#words
			_beacon; true`, "zsh", script, line)
		shell.Dir = folder
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		offered(t, string(out), want, line)
	}
}
