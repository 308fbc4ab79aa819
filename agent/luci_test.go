//go:build linux

package agent_test

import (
	"encoding/json"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

const luciApp = "openwrt/luci-app-beacon/"

// decode reads a file of JSON that has no other fields.
func decode(t testing.TB, file string, into any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(read(t, file)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatal(file, err)
	}
}

type access struct {
	File map[string][]string `json:"file"`
	UCI  []string            `json:"uci"`
}

// permits is what rpcd decides of a command: the words with blanks between match a pattern.
func (a access) permits(command string) bool {
	for pattern, verbs := range a.File {
		if ok, err := path.Match(strings.ReplaceAll(pattern, "/", "|"), strings.ReplaceAll(command, "/", "|")); ok && err == nil && slices.Contains(verbs, "exec") {
			return true
		}
	}
	return false
}

// rights reads who may do what on the page.
func rights(t testing.TB) (reader, writer access) {
	t.Helper()
	var all map[string]struct {
		Description string `json:"description"`
		Read, Write access
	}
	decode(t, luciApp+"root/usr/share/rpcd/acl.d/luci-app-beacon.json", &all)
	one, ok := all["luci-app-beacon"]
	if !ok || len(all) != 1 || one.Description == "" {
		t.Fatalf("the rights are %v", all)
	}
	return one.Read, one.Write
}

// The menu leads to the page, for those who have the rights to it; who may only read sees
// the status, and changes nothing.
func TestLuCI_Menu(t *testing.T) {
	var menu map[string]struct {
		Title  string `json:"title"`
		Order  int    `json:"order"`
		Action struct {
			Type string `json:"type"`
			Path string `json:"path"`
		} `json:"action"`
		Depends struct {
			ACL []string          `json:"acl"`
			FS  map[string]string `json:"fs"`
			UCI map[string]bool   `json:"uci"`
		} `json:"depends"`
	}
	decode(t, luciApp+"root/usr/share/luci/menu.d/luci-app-beacon.json", &menu)
	entry := menu["admin/services/beacon"]
	if len(menu) != 1 || entry.Action.Type != "view" || !slices.Equal(entry.Depends.ACL, []string{"luci-app-beacon"}) || entry.Depends.FS["/usr/sbin/beacon-agent"] != "executable" {
		t.Errorf("the menu is %+v", menu)
	}
	read(t, luciApp+"htdocs/luci-static/resources/view/"+entry.Action.Path+".js")
	reader, writer := rights(t)
	for command, want := range map[string][2]bool{
		"status": {true, false}, "link K7Q2-M4XD": {false, true}, "enrol": {false, true}, "unlink": {false, true}, "run": {}, "enrol -f /etc/shadow": {}, "status; reboot": {},
	} {
		command = "/usr/sbin/beacon-agent " + command
		if got := [2]bool{reader.permits(command), writer.permits(command)}; got != want {
			t.Errorf("%s: readers and writers may: %v; want %v", command, got, want)
		}
	}
}

// The page asks the agent and nothing else, shows what the agent says, and asks for nothing
// that its rights do not permit.
func TestLuCI_Page(t *testing.T) {
	level.Tool(t, "node", "nodejs")
	run := exec.Command("node", "testdata/luci.js", luciApp+"htdocs/luci-static/resources/view/beacon.js", "Link=", "Link=K7Q2;reboot", "Link= k7q2-m4xd ", "Enrol now", "Unlink")
	out, err := run.Output()
	if err != nil {
		t.Fatal(err, string(out), err.(*exec.ExitError).Stderr)
	}
	var got struct {
		Asked, Shown, Options, Addresses []string
		Status                           string
		Hidden                           bool
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	const status, agent = "/usr/sbin/beacon-agent status", "/usr/sbin/beacon-agent "
	if want := []string{status, "uci beacon", "poll 10", status, status, agent + "link k7q2-m4xd", status, agent + "enrol", status, agent + "unlink", status}; !slices.Equal(got.Asked, want) {
		t.Errorf("it asked %q; want %q", got.Asked, want)
	}
	const again = "danger: Type the link code that the console shows."
	if want := []string{again, again, "danger: beacon-agent: refused: the code is wrong", "info: enrol is done", "info: unlink is done"}; !slices.Equal(got.Shown, want) || got.Status != "status is done" {
		t.Errorf("it showed %q and %q; want %q", got.Shown, got.Status, want)
	}
	if !got.Hidden || !slices.Equal(got.Addresses, []string{"https://a.example", "http://10.0.0.1"}) {
		t.Errorf("the key is hidden: %v; it takes %q", got.Hidden, got.Addresses)
	}
	reader, writer := rights(t)
	for _, command := range got.Asked {
		if strings.HasPrefix(command, agent) && !reader.permits(command) && !writer.permits(command) {
			t.Errorf("nobody may %s", command)
		}
	}
	settings := read(t, "openwrt/beacon-agent/files/beacon.config")
	for _, name := range got.Options {
		if !strings.Contains(settings, " "+name+" '") {
			t.Errorf("the agent has no setting %s", name)
		}
	}
}
