package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// kind is what the test does with a block.
type kind int

const (
	ignored kind = iota // text that is neither run nor written down
	command             // run in the page's shell; it must succeed
	refusal             // run in the page's shell; it must fail
	server              // run beside the page's shell, in place of the server before
	another             // run beside the page's shell and beside the servers before
	file                // written into the page's folder
	script              // the same, and run by a block after it
	output              // what the block before it printed
)

// block is a fenced block of a page.
type block struct {
	kind kind
	line int    // where it begins
	name string // of a file
	json bool   // of an output: white space does not count
	text string
}

var (
	opening  = regexp.MustCompile("^( *)(`{3,}|~{3,}) *([^`]*)$")
	fileName = regexp.MustCompile(`^[a-z0-9-]+\.[a-z]+$`)
)

// shells are languages whose blocks are meant to be typed; "" may hide one.
var shells = []string{"sh", "bash", "shell", "zsh", "shell-session", "shellscript", ""}

// parse finds the fenced blocks of a page. What looks as if it were to be typed
// but would not be run is an error, and so is an output that nothing printed.
func parse(markdown string) ([]block, error) {
	var blocks []block
	lines := strings.Split(markdown, "\n")
	for i := 0; i < len(lines); i++ {
		found := opening.FindStringSubmatch(lines[i])
		if found == nil {
			continue
		}
		b, err := classify(strings.Fields(found[3]))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		b.line = i + 1
		end := i + 1
		for ; end < len(lines) && !closes(lines[end], found[2]); end++ {
			b.text += strings.TrimPrefix(lines[end], found[1]) + "\n"
		}
		if end == len(lines) {
			return nil, fmt.Errorf("line %d: the block has no end", b.line)
		}
		if b.kind == output && (len(blocks) == 0 || !blocks[len(blocks)-1].runs()) {
			return nil, fmt.Errorf("line %d: an output must follow what printed it", b.line)
		}
		if b.kind == output && strings.Trim(b.text, "… \n") == "" {
			return nil, fmt.Errorf("line %d: the output says nothing", b.line)
		}
		blocks = append(blocks, b)
		i = end
	}
	return blocks, checkScripts(blocks)
}

// checkScripts refuses a script that no command runs.
func checkScripts(blocks []block) error {
	for i, b := range blocks {
		runs := func(later block) bool { return later.runs() && strings.Contains(later.text, b.name) }
		if b.kind == script && !slices.ContainsFunc(blocks[i+1:], runs) {
			return fmt.Errorf("line %d: nothing runs %s", b.line, b.name)
		}
	}
	return nil
}

func closes(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// classify reads the words after the fence.
func classify(info []string) (block, error) {
	language, rest := "", ""
	if len(info) > 0 {
		language, rest = info[0], strings.Join(info[1:], " ")
	}
	kinds := map[string]kind{"": command, "fails": refusal, "server": server, "another server": another}
	switch {
	case language == "sh" && fileName.MatchString(rest):
		return block{kind: script, name: rest}, nil
	case language == "sh":
		k, known := kinds[rest]
		if !known {
			return block{}, fmt.Errorf("nobody knows what %q means; sh, sh fails, sh server and sh another server are run", "sh "+rest)
		}
		return block{kind: k}, nil
	case slices.Contains(shells, language):
		return block{}, fmt.Errorf("a block of %q is not run; call it sh, or text when it is nothing to be typed", language)
	case fileName.MatchString(rest):
		return block{kind: file, name: rest}, nil
	case rest != "":
		return block{}, fmt.Errorf("%q is no name for a file", rest)
	case language == "console" || language == "json":
		return block{kind: output, json: language == "json"}, nil
	}
	return block{kind: ignored}, nil
}

// runs tells whether a block can print something.
func (b block) runs() bool {
	return b.kind == command || b.kind == refusal || b.kind == server || b.kind == another
}
