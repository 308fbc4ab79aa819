//go:build linux

package endtoend_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

// TestHolds_Commands: people decide about a hold with the command line. The server is
// killed after each decision, and the next one finds what was decided.
func TestHolds_Commands(t *testing.T) {
	harness.Stores(t, func(t *testing.T, db string) {
		s := harness.Start(t, db)
		operator := harness.NewClient(t, harness.CreateKey(t, db, "hotspots:write").Key)
		hotspot := operator.MustRegister(t, s, 1)
		first, second, near := harness.CreateKey(t, db, "hotspots:verify").Key, harness.CreateKey(t, db, "hotspots:verify").Key, harness.CreateKey(t, db, "hotspots:write,hotspots:verify").Key
		harness.NewClient(t, near).MustRegister(t, s, 2) // some metres away
		holds := func(key, want string, args ...string) string {
			t.Helper()
			command := exec.CommandContext(t.Context(), harness.Binary, append(append([]string{"holds"}, args...), "--url", s.URL)...)
			command.Env = append(os.Environ(), "BEACON_KEY="+key)
			out, err := command.CombinedOutput()
			if text := string(out); !strings.Contains(text, want) {
				t.Fatalf("holds %q: %v %s; want %q", args, err, text, want)
			}
			if err == nil && args[0] != "list" {
				s.Kill()
				s = harness.Start(t, db)
			}
			return string(out)
		}
		day := func(n int) string { return time.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
		hold, _, _ := strings.Cut(holds(first, "is active until "+day(10), "create", "--hotspot", hotspot, "--reason", "no radio", "--evidence", "photo 7", "--until", day(10)), " ")
		holds(first, "second person", "extend", hold, "--reason", "not seen yet", "--until", day(20))
		holds(near, "someone else must decide this", "extend", hold, "--reason", "not seen yet", "--until", day(20))
		holds(second, "is active until "+day(20), "extend", hold, "--reason", "not seen yet", "--until", day(20))
		holds(second, "a second person can confirm", "void", hold, "--reason", "nothing there")
		holds(first, "void", "void", hold, "--reason", "nothing there")
		holds(first, "the hold was voided", "extend", hold, "--reason", "more", "--until", day(25))
		if list := holds(first, hold, "list"); !strings.Contains(list, "voided") {
			t.Errorf("the holds are %s", list)
		}
	})
}
