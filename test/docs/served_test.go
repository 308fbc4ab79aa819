package docs

import (
	"html"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// theirs is the address of the network whose server the pages are read on. No page starts
// a server with that address.
const theirs = "https://network.example.net"

var shownBlock = regexp.MustCompile(`(?s)<pre[^>]*><code>(.*?)</code></pre>`)

// read takes what is run and compared from the guides as a server shows them: readers copy
// it from there.
func (p *page) read(t testing.TB, server *harness.Server) {
	t.Helper()
	response, err := http.Get(server.URL + "/docs/" + strings.TrimSuffix(filepath.Base(p.name), ".md"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v %v", p.name, response.Status, err)
	}
	blocks, err := parse(p.text)
	if err != nil {
		t.Fatalf("%s, %v", p.name, err)
	}
	shown := shownBlock.FindAllStringSubmatch(string(body), -1)
	if len(shown) != len(blocks) {
		t.Fatalf("%s has %d blocks, and the server shows %d", p.name, len(blocks), len(shown))
	}
	for i := range blocks {
		blocks[i].text = html.UnescapeString(shown[i][1])
	}
	p.blocks = blocks
}
