package docs

import (
	"bufio"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// postgres starts a PostgreSQL server for one page, which may make roles and
// databases in it as it likes, and gives its address.
func postgres(t *testing.T) string {
	t.Helper()
	if os.Getenv("BEACON_TEST_POSTGRES") == "" {
		t.Skip("this needs PostgreSQL: run make check, or scripts/with-postgres go test ./test/docs")
	}
	const start = `psql -q "$BEACON_TEST_POSTGRES" -c 'CREATE ROLE postgres SUPERUSER LOGIN'; echo "$BEACON_TEST_POSTGRES"; exec cat`
	cmd := exec.Command("../../scripts/with-postgres", "sh", "-c", start)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "BEACON_TEST_POSTGRES=") { // or it would give us the one that all share
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // which ends cat, and with it the server
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return address.Host
}
