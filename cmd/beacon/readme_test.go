package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The blocks of README.md that call curl run as printed, one line after the
// other in one shell, beside a running server.
func TestReadme_Curl(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	p := startServer(t, nil)
	defer p.stop(t)
	tried := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		calls := len(regexp.MustCompile(`(?m)^curl `).FindAllString(block[1], -1)) // others fill a variable
		if calls == 0 {
			continue
		}
		tried += calls
		script := strings.NewReplacer("http://127.0.0.1:8080", p.url, "go run ./cmd/beacon", "beacon").Replace(block[1])
		shell := exec.Command("sh", "-euc", script)
		shell.Dir = p.cmd.Dir // where the server keeps beacon.db
		out, err := shell.Output()
		answers := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err != nil || len(answers) != calls {
			t.Errorf("%s printed %s, %v", script, out, err)
		}
		for _, answer := range answers {
			good := strings.HasPrefix(answer, `{"data":`) || strings.HasPrefix(answer, `{"type":"FeatureCollection",`)
			if !json.Valid([]byte(answer)) || !good {
				t.Errorf("%s printed %s", script, answer)
			}
		}
	}
	if tried < 5 {
		t.Errorf("README.md has %d curl lines; it should have five", tried)
	}
}
