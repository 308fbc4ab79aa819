package docs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/beacon-wifi/beacon/test/harness"
)

// page is a text with blocks that run.
type page struct {
	name   string
	text   string
	blocks []block           // of the text, if they are read elsewhere
	env    []string          // what its shell finds beside the usual
	words  map[string]string // what is written differently on the page
	ports  ports             // addresses that exist already
}

// run does what a page says in an empty folder, and gives what went otherwise.
func (p page) run(ctx context.Context, folder, notes string) error {
	blocks, err := p.blocks, error(nil)
	if blocks == nil {
		blocks, err = parse(p.text)
	}
	if err != nil {
		return err
	}
	addresses := ports{}
	maps.Copy(addresses, p.ports)
	env, err := environment(addresses)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*harness.Patience)
	defer cancel()
	s, err := begin(ctx, folder, notes, append(env, p.env...))
	if err != nil {
		return err
	}
	err = p.through(s, blocks, addresses)
	if ended := s.end(); err == nil {
		err = ended
	}
	return err
}

// through goes through the blocks of a page.
func (p page) through(s *session, blocks []block, addresses ports) (wrong error) {
	for i, b := range blocks {
		if b.kind == ignored || b.kind == output || exempt(p.name, b.text) {
			continue
		}
		text := addresses.real(b.text)
		for written, meant := range p.words {
			text = strings.ReplaceAll(text, written, meant)
		}
		if b.kind == file || b.kind == script {
			if err := os.WriteFile(filepath.Join(s.shell.Dir, b.name), []byte(text), 0o600); err != nil {
				return err
			}
			continue
		}
		printed, err := s.do(b.kind, text)
		said, _ := os.ReadFile(printed)
		if err != nil {
			return errors.Join(wrong, fmt.Errorf("line %d: %w:\n%s\nIt printed:\n%s", b.line, err, b.text, shortened(string(said))))
		}
		if i+1 == len(blocks) || blocks[i+1].kind != output {
			if strings.Contains(string(said), `"error":`) {
				wrong = errors.Join(wrong, fmt.Errorf("line %d: this is refused, and the page does not say so:\n%s", b.line, shortened(string(said))))
			}
			continue
		}
		if stub := stubOf(b.text); stub != "" {
			return fmt.Errorf("line %d: this shows an output of %s, which is not run here", b.line, stub)
		}
		if want := blocks[i+1]; !want.matches(addresses.written(string(said))) {
			wrong = errors.Join(wrong, fmt.Errorf("line %d: the page shows\n%s\nand in truth it printed\n%s", want.line, want.text, shortened(addresses.written(string(said)))))
		}
	}
	return wrong
}

func shortened(text string) string {
	const most = 4000
	if len(text) <= most {
		return text
	}
	return text[:most] + " and so on"
}

// do runs the text of a block in the way of its kind.
func (s *session) do(k kind, text string) (printed string, err error) {
	switch k {
	case refusal:
		_, printed, err = s.order("refuse", text)
		return printed, err
	case server:
		if err := s.stopServers(); err != nil {
			return "", err
		}
		return s.serve(text)
	case another:
		return s.serve(text)
	default:
		_, printed, err = s.order("run", text)
		return printed, err
	}
}

var setting = regexp.MustCompile(`^(BEACON|PG)[A-Z_]*=`)

// environment is what the shell of every page finds.
func environment(addresses ports) ([]string, error) {
	var env []string
	for _, variable := range os.Environ() {
		if !setting.MatchString(variable) {
			env = append(env, variable)
		}
	}
	source, err := filepath.Abs("../..")
	if err = errors.Join(err, linkBinary()); err != nil {
		return nil, err
	}
	// The addresses that servers listen on by themselves, and are asked at.
	usual := addresses.real("BEACON_ADDR=127.0.0.1:8080 BEACON_ADMIN_ADDR=127.0.0.1:9090")
	env = append(env, strings.Fields(usual)...)
	return append(env, "PATH="+programs+":"+os.Getenv("PATH"), "BEACON_SOURCE="+source, "LC_ALL=C.UTF-8", "TZ=UTC"), nil
}
