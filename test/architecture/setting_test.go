package architecture_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// severalSettings are enough to say that a file lists them, and does not only read some.
const severalSettings = 4

var someSettings = []*regexp.Regexp{
	regexp.MustCompile(`MaxConnections|max_connections`), regexp.MustCompile(`BandwidthLimitMbps|bandwidth_limit_mbps`),
	regexp.MustCompile(`CoverageRadiusM|coverage_radius_m`), regexp.MustCompile(`ShowSSID|show_ssid`), regexp.MustCompile(`OperatingHours|operating_hours`),
}

// A setting of a hotspot is added in at most twelve files, which CONTRIBUTING.md names. No other
// file of the product lists settings.
func TestSetting_TwelveFiles(t *testing.T) {
	page, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, found := strings.Cut(string(page), "\n## A new setting of a hotspot\n")
	recipe, _, _ = strings.Cut(recipe, "\n## ")
	steps := regexp.MustCompile(`(?m)^\d+\. .*`).FindAllString(recipe, -1)
	if !found || len(steps) < 8 || len(steps) > 12 {
		t.Errorf("CONTRIBUTING.md adds a setting in %d steps, a file each; want at most 12", len(steps))
	}
	named := map[string]bool{}
	for _, step := range steps {
		for _, path := range regexp.MustCompile("`([a-zA-Z_./]+/[a-zA-Z_./]+|[A-Z]+\\.md)`").FindAllStringSubmatch(step, -1) {
			named[path[1]] = true
			if _, err := os.Stat(path[1]); err != nil {
				t.Errorf("CONTRIBUTING.md: %v", err)
			}
		}
	}
	others := map[string]bool{
		"internal/api/hotspots/register_earlier.go": true, // what builds before kept
		"client/typescript/src/schema.ts":           true, // generated
		"console/src/import/run.ts":                 true, // examples, by column
	}
	for _, root := range []string{"internal", "client", "cmd", "console/src"} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			switch filepath.Ext(path) {
			case ".go", ".ts", ".tsx":
			default:
				return err
			}
			if err != nil || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/storetest/") {
				return err
			}
			text, err := os.ReadFile(path)
			lists := 0
			for _, setting := range someSettings {
				if setting.Match(text) {
					lists++
				}
			}
			if lists >= severalSettings && !named[path] && !others[path] {
				t.Errorf("%s lists settings, and is not among the files in which CONTRIBUTING.md adds one", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
