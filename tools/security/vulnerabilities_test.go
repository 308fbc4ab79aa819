package security_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// databaseVariable names a folder of reports in OSV's form, one to a file, or a
// URL of a database. Without it, the one of Go's own project is asked.
const databaseVariable = "BEACON_VULN_DB"

// foundSome is what govulncheck exits with when it found something.
const foundSome = 3

// check runs govulncheck over the program. It counts packages that are imported
// and not functions that are called: commands are run by reflection, which no graph
// of calls can see through, and nearly everything would seem to be called by none.
func check(t *testing.T, database string) (out string, code int) {
	t.Helper()
	args := []string{"-scan", "package", "./cmd/beacon"}
	if database != "" {
		if !strings.Contains(database, "://") {
			absolute, err := filepath.Abs(database)
			if err != nil {
				t.Fatal(err)
			}
			database = "file://" + absolute
		}
		args = append([]string{"-db", database}, args...)
	}
	cmd := exec.Command(tool(t, "govulncheck"), args...)
	cmd.Dir = root
	text, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(text), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text), 0
}

// The program is made of nothing that is known to be vulnerable.
func TestVulnerabilities(t *testing.T) {
	database := os.Getenv(databaseVariable)
	out, code := check(t, database)
	switch {
	case code == 0:
		t.Log(out)
	case code != foundSome && database == "":
		t.Skipf("SKIPPED, the program was NOT checked for known vulnerabilities: no database can be reached; name one with %s: %s", databaseVariable, out)
	default:
		t.Errorf("govulncheck ends with %d: %s", code, out)
	}
}

// A report about something that the program is made of is heard.
func TestVulnerabilities_PlantedOneIsFound(t *testing.T) {
	database := t.TempDir()
	report := `{"schema_version":"1.3.1","id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z","published":"2026-01-01T00:00:00Z",
		"summary":"made up for a test","details":"made up for a test",
		"affected":[{"package":{"name":"golang.org/x/text","ecosystem":"Go"},
			"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
			"ecosystem_specific":{"imports":[{"path":"golang.org/x/text/unicode/norm","symbols":["Form.String"]}]}}],
		"database_specific":{"url":"https://pkg.go.dev/vuln/GO-2026-0001"}}`
	if err := os.WriteFile(filepath.Join(database, "GO-2026-0001.json"), []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := check(t, database); code != foundSome || !strings.Contains(out, "GO-2026-0001") || !strings.Contains(out, "golang.org/x/text") {
		t.Errorf("govulncheck ends with %d: %s", code, out)
	}
}
