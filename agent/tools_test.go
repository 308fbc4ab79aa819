//go:build linux

package agent_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// session is what a recording of testdata/tools has of one command.
type session struct{ command, printed string }

// sessions reads a recording.
func sessions(t testing.TB, tool string) (all []session) {
	t.Helper()
	_, text, _ := strings.Cut("\n"+read(t, "testdata/tools/"+tool+".txt"), "\n$ ")
	for part := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n$ ") {
		command, printed, _ := strings.Cut(part+"\n", "\n")
		all = append(all, session{command, printed})
	}
	if len(all) < 5 {
		t.Fatalf("%s has %d commands", tool, len(all))
	}
	return all
}

// The stubs print what the programs of OpenWrt were recorded to print, with the same exit
// codes. A command whose words they do not know fails here.
func TestStubs_AreTheTools(t *testing.T) {
	for _, tool := range []string{"jsonfilter", "ubus", "uci"} {
		t.Run(tool, func(t *testing.T) {
			b := newBox(t, shells[0], tool)
			b.configure()
			b.answer("uci get system.@system[0].hostname", "node-7\n")
			all := sessions(t, tool)
			for _, s := range all {
				if tool == "ubus" && strings.HasPrefix(s.command, "ubus call") && !strings.Contains(s.printed, "? ") {
					b.answer(s.command, s.printed)
				}
			}
			file := ""
			for _, s := range all {
				if name, ok := strings.CutPrefix(s.command, "cat "); ok { // a file that is read later
					file = s.printed
					b.check(os.WriteFile(filepath.Join(b.folder, name), []byte(file), 0o600))
					continue
				}
				got := b.prints(s.command)
				if head, cut := strings.CutSuffix(s.printed, "…\n? 255\n"); cut && strings.HasPrefix(got, head) && strings.HasSuffix(got, "? 255\n") {
					continue
				}
				if got != s.printed {
					t.Errorf("%s prints\n%swant\n%s", s.command, got, s.printed)
				}
				if tool == "ubus" && !strings.Contains(s.printed, "? ") && strings.HasPrefix(s.command, "ubus call") && formed(t, file) != s.printed {
					t.Errorf("%s would be written as\n%swant\n%s", file, formed(t, file), s.printed)
				}
			}
		})
	}
}

// prints runs a line of the shell, and returns what a recording of it is.
func (b *box) prints(line string) string {
	b.t.Helper()
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Dir, cmd.Env = b.folder, []string{"PATH=" + b.bin, "BEACON_ROOT=" + b.root, "TEST_ANSWERS=" + b.answers, "NL=\n"}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Sprintf("%s? %d\n", out, exit.ExitCode())
	}
	b.check(err)
	return string(out)
}

// What testdata/wifi says that ubus prints has the form in which ubus prints.
func TestWiFi_Form(t *testing.T) {
	files, err := filepath.Glob("testdata/wifi/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if strings.Contains(file, "malformed") {
			continue
		}
		b := newBox(t, shells[0])
		recorded(t, b, strings.TrimSuffix(filepath.Base(file), ".txt"))
		answers, _ := filepath.Glob(filepath.Join(b.answers, "ubus call *"))
		for _, answer := range answers {
			if text := read(t, answer); formed(t, text) != text {
				t.Errorf("%s: %s is\n%swant\n%s", file, filepath.Base(answer), text, formed(t, text))
			}
		}
	}
}
