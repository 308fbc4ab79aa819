package console

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
)

// Package is an npm package that the pages are built from.
type Package struct {
	Name, Version, Licence string
}

// section separates the parts of the licence file.
const section = "\n------------------------------------------------------------------------------\n"

var packageLine = regexp.MustCompile(`^(\S+) (\d\S*) \((.+)\)$`)

// Packages lists the packages in the pages, from the licence file that their build
// writes.
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
