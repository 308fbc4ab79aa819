package security

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Place is where a secret was found: a file, or an object of Git's.
type Place struct {
	Where string
	Secret
}

// ScanTree searches the files of a repository as they are now, those not yet
// added included, but for those that Git ignores.
func ScanTree(root string) (found []Place, files int, err error) {
	names, err := git(root, nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, 0, err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and that not yet noted
		}
		if err != nil {
			return nil, files, err
		}
		files++
		for _, s := range Secrets(text) {
			found = append(found, Place{name, s})
		}
	}
	return found, files, nil
}

// ScanHistory searches everything that was ever committed on any branch, messages
// included: what is published once can be read for ever.
func ScanHistory(root string) (found []Place, objects int, err error) {
	list, err := git(root, nil, "rev-list", "--objects", "--no-object-names", "--all")
	if err != nil {
		return nil, 0, err
	}
	contents, err := git(root, list, "cat-file", "--batch")
	if err != nil {
		return nil, 0, err
	}
	in := bufio.NewReader(bytes.NewReader(contents))
	for {
		var name, kind string
		var size int
		if _, err := fmt.Fscanf(in, "%s %s %d\n", &name, &kind, &size); errors.Is(err, io.EOF) {
			return found, objects, nil
		} else if err != nil {
			return nil, objects, err
		}
		object := make([]byte, size+len("\n"))
		if _, err := io.ReadFull(in, object); err != nil {
			return nil, objects, err
		}
		objects++
		for _, s := range Secrets(object) {
			found = append(found, Place{kind + " " + name, s})
		}
	}
}

func git(root string, input []byte, args ...string) ([]byte, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = root, bytes.NewReader(input)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, exit.Stderr)
	}
	return out, err
}
