package docstest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// ports are the addresses of a page, each with a free one in its place: pages run
// side by side, and beside whatever else the machine serves.
type ports map[string]string

var address = regexp.MustCompile(`\b127\.0\.0\.1:[0-9]+`)

// real puts the free ports into a text of the page.
func (p ports) real(text string) (string, error) {
	var failed error
	text = address.ReplaceAllStringFunc(text, func(written string) string {
		if p[written] == "" {
			free, err := freeAddress()
			if err != nil {
				failed = err
			}
			p[written] = free
		}
		return p[written]
	})
	return text, failed
}

// written puts the page's ports into what was printed.
func (p ports) written(printed string) string {
	for written, real := range p {
		printed = strings.ReplaceAll(printed, real, written)
	}
	return printed
}

// given are the addresses that some page has: nobody may listen there yet.
var given sync.Map

// freeAddress finds a port that nobody listens on and no other page was given,
// below those that the kernel gives to outgoing connections.
func freeAddress() (string, error) {
	for range 100 {
		free := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(10_000))
		if _, taken := given.LoadOrStore(free, true); taken {
			continue
		}
		if ln, err := net.Listen("tcp", free); err == nil {
			return free, ln.Close()
		}
	}
	return "", fmt.Errorf("there is no free port")
}

// Pages run side by side, and each starts its servers some time after it was given
// their addresses: no two may have the same.
func TestPorts_AreGivenOnce(t *testing.T) {
	seen := map[string]bool{}
	for range 500 {
		free, err := freeAddress()
		if err != nil || seen[free] {
			t.Fatalf("%s is given twice, or %v", free, err)
		}
		seen[free] = true
	}
}
