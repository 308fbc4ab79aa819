package security_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// tool gives the binary of one of the tools that go.mod pins.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.Command("go", "tool", "-n", name).Output()
	if err != nil {
		t.Fatalf("go tool %s: %v", name, err)
	}
	return strings.TrimSpace(string(path))
}

// finding is what gosec says of a line.
type finding struct {
	Rule    string `json:"rule_id"`
	File    string `json:"file"`
	Line    string `json:"line"`
	Details string `json:"details"`
}

// sort is what a row of accepted.txt speaks of: findings of a rule in a package.
type sort struct{ rule, folder string }

// accepted reads how many findings of each sort were looked at and found to be no
// fault. A row says why.
func accepted(t *testing.T) map[sort]int {
	t.Helper()
	file, err := os.Open("accepted.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := map[sort]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) < 7 {
			t.Fatalf("accepted.txt: %q; want a rule, a package, a number and a reason", line)
		}
		count, err := strconv.Atoi(words[2])
		of := sort{words[0], words[1]}
		if err != nil || rows[of] != 0 {
			t.Fatalf("accepted.txt: %q: no number, or there twice", line)
		}
		rows[of] = count
	}
	return rows
}

// shipped are the folders of the packages that are in the binary, or are imported
// by programs of others. What tests are made of attacks itself.
func shipped(t *testing.T) []string {
	t.Helper()
	const ours = "github.com/beacon-wifi/beacon"
	list := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}", "./cmd/beacon", "./client")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for path := range strings.Lines(string(out)) {
		if inner, ok := strings.CutPrefix(strings.TrimSpace(path), ours+"/"); ok {
			folders = append(folders, "./"+inner)
		}
	}
	if len(folders) < 25 {
		t.Fatalf("the binary is made of %v only", folders)
	}
	return folders
}

// gosec finds nothing that was not looked at. A finding is mended or, where it is
// none, told why in accepted.txt; a row there that has no finding any more goes.
func TestGosec(t *testing.T) {
	cmd := exec.Command(tool(t, "gosec"), append([]string{"-quiet", "-fmt=json"}, shipped(t)...)...)
	cmd.Dir = root
	out, err := cmd.Output() // it fails when it finds something
	var report struct {
		Issues []finding      `json:"Issues"`
		Errors map[string]any `json:"Golang errors"`
		Stats  struct{ Files int }
	}
	if jsonErr := json.Unmarshal(out, &report); jsonErr != nil {
		t.Fatalf("%v: %v: %.2000s", err, jsonErr, out)
	}
	if len(report.Errors) > 0 || report.Stats.Files < 150 {
		t.Fatalf("gosec read %d files, and could not read %v", report.Stats.Files, report.Errors)
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	found := map[sort][]string{}
	for _, f := range report.Issues {
		file, err := filepath.Rel(top, f.File)
		if err != nil {
			t.Fatal(err)
		}
		of := sort{f.Rule, filepath.ToSlash(filepath.Dir(file))}
		found[of] = append(found[of], fmt.Sprintf("\n  %s:%s: %s", file, f.Line, f.Details))
	}
	rows := accepted(t)
	for of, lines := range found {
		if len(lines) != rows[of] {
			slices.Sort(lines)
			t.Errorf("%s %s: found %d, accepted %d:%s", of.rule, of.folder, len(lines), rows[of], strings.Join(lines, ""))
		}
	}
	for of := range maps.Keys(rows) {
		if len(found[of]) == 0 {
			t.Errorf("accepted.txt: there is no %s in %s any more", of.rule, of.folder)
		}
	}
}
