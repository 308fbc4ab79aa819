package docs

import (
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

// The test of pages is worth what it notices.
func TestRun(t *testing.T) {
	level.Tool(t, "curl", "curl")
	const fence = "```"
	block := func(info, text string) string { return fence + info + "\n" + text + "\n" + fence + "\n" }
	for name, c := range map[string]struct{ page, want string }{
		"a page that holds":          {block("sh", "A=1") + block("sh", "echo \"$A\" 127.0.0.1:8080") + block("console", "1 127.0.0.1:8080"), ""},
		"a failing command":          {block("sh", "false\ntrue"), "a command failed"},
		"a failing part of a pipe":   {block("sh", "false | cat"), "a command failed"},
		"a variable nobody set":      {block("sh", "echo \"$NOBODY\""), "a command failed"},
		"a shell that leaves":        {block("sh", "exit 0") + block("sh", "true"), "exit status 0"},
		"a wrong flag":               {block("sh", "beacon version --loud"), "unknown flag --loud"},
		"an answer that is an error": {block("sh server", "beacon serve") + block("sh", "curl -s http://127.0.0.1:8080/v1/keys"), "does not say so"},
		"another output":             {block("sh", "echo one") + block("console", "two"), "in truth it printed\none"},
		"an output that goes on":     {block("sh", "echo one; echo two") + block("console", "one"), "in truth"},
		"any lines":                  {block("sh", "echo one; echo two; echo three") + block("console", "one\n…\nth…e"), ""},
		"a bar of progress":          {block("sh", "echo '[===   ] 1 of 2 days'; echo one") + block("console", "one"), ""},
		"other JSON":                 {block("sh", `echo '{"a": 1}'`) + block("json", `{"a":2}`), "in truth"},
		"JSON in other lines":        {block("sh", `echo '{"a":[1,2]}'`) + block("json", "{\n  \"a\": [1, …]\n}"), ""},
		"an output of nothing":       {block("console", "x"), "must follow"},
		"an output that is all":      {block("sh", "echo one") + block("console", "…"), "says nothing"},
		"a shell of another name":    {block("bash", "echo"), "is not run"},
		"a block without a name":     {block("", "echo"), "is not run"},
		"a word nobody knows":        {block("sh later", "echo"), "nobody knows"},
		"a block without an end":     {fence + "sh\necho\n", "no end"},
		"a block in a list":          {"1. do\n   " + fence + "sh\n   false\n   " + fence + "\n", "a command failed"},
		"a refusal":                  {block("sh fails", "beacon keys create --user nobody") + block("console", "beacon: …"), ""},
		"a refusal that is none":     {block("sh fails", "true"), "a command failed"},
		"a file":                     {block("json a.json", `{}`) + block("sh", "cat a.json") + block("json", "{}"), ""},
		"a script":                   {block("sh a.sh", "echo one") + block("sh", "sh a.sh") + block("console", "one"), ""},
		"a script nobody runs":       {block("sh a.sh", "echo one") + block("sh", "true"), "nothing runs a.sh"},
		"a file in another folder":   {block("json ../a.json", `{}`), "no name for a file"},
		"an output of a stub":        {block("sh", "docker version") + block("console", "28"), "which is not run here"},
		"a server that cannot":       {block("sh server", "beacon serve --addr nowhere"), "the server ended"},
		"a server, and another one":  {block("sh server", "beacon serve") + block("sh server", "beacon serve --db b.db") + block("sh", "curl -sf http://127.0.0.1:8080/readyz"), ""},
		"two servers at one place":   {block("sh server", "beacon serve") + block("sh another server", "beacon serve --db b.db"), "address already in use"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := page{text: c.page}.run(t.Context(), t.TempDir(), t.TempDir())
			switch {
			case err == nil && c.want != "":
				t.Errorf("passes; want %q", c.want)
			case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}
