package docs

import (
	"regexp"
	"strings"

	"github.com/beacon-wifi/beacon/test/harness"
)

// ports are the addresses of a page, each with a free one in its place: pages run
// side by side, and beside whatever else the machine serves.
type ports map[string]string

// address matches one, also as the settings of PgBouncer have it.
var address = regexp.MustCompile(`\b127\.0\.0\.1(:| port=|\nlisten_port = )([0-9]+)`)

// real puts the free ports into a text of the page.
func (p ports) real(text string) string {
	return address.ReplaceAllStringFunc(text, func(found string) string {
		parts := address.FindStringSubmatch(found)
		written := "127.0.0.1:" + parts[2]
		if p[written] == "" {
			p[written] = harness.FreeAddress()
		}
		return strings.Replace(p[written], ":", parts[1], 1)
	})
}

// written puts the page's ports into what was printed.
func (p ports) written(printed string) string {
	for written, real := range p {
		printed = strings.ReplaceAll(printed, real, written)
		_, realPort, _ := strings.Cut(real, ":")
		_, writtenPort, _ := strings.Cut(written, ":")
		printed = strings.ReplaceAll(printed, "localhost:"+realPort, "localhost:"+writtenPort)
	}
	return printed
}
