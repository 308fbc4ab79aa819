package console_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

//go:generate go test -run TestGrants -update .

var update = flag.Bool("update", false, "write src/grants.ts")

// The pages show what someone may do, and no button that would be refused: they have the
// table of permissions from the server's own.
func TestGrants(t *testing.T) {
	const file = "src/grants.ts"
	var b bytes.Buffer
	b.WriteString("// The table of permissions of package beacon. Do not edit: go generate ./console writes it.\n")
	b.WriteString("export const grants = [\n")
	for _, g := range beacon.Grants() {
		fmt.Fprintf(&b, "  { permission: %s, anyone: %t, scope: %s, roles: %s, posts: %s },\n", quote(t, g.Permission), g.Anyone, quote(t, g.Scope), quote(t, g.Roles), quote(t, g.Posts))
	}
	b.WriteString("] as const;\n")
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, b.Bytes()) {
		t.Errorf("%v; %s is not beacon.Grants(): run go generate ./console, then make console", err, file)
	}
}

func quote(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("null"), []byte("[]")), []byte(`","`), []byte(`", "`)))
}
