package console

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
)

// Package is something from npm that the pages are made of.
type Package struct {
	Name, Version, Licence string
}

// section is what stands between two parts of the file of licences.
const section = "\n------------------------------------------------------------------------------\n"

var packageLine = regexp.MustCompile(`^(\S+) (\d\S*) \((.+)\)$`)

// Packages lists what the pages are made of, as the file of licences has it, which
// is written when they are built.
func Packages() ([]Package, error) {
	files, err := fs.Glob(dist, "dist/assets/licences-*.txt")
	if err != nil {
		return nil, err
	}
	var all []Package
	for _, file := range files {
		text, err := dist.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for part := range strings.SplitSeq(string(text), section) {
			title, _, _ := strings.Cut(strings.TrimSpace(part), "\n")
			if found := packageLine.FindStringSubmatch(title); found != nil {
				all = append(all, Package{found[1], found[2], found[3]})
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("console: the file of licences names no package")
	}
	return all, nil
}
