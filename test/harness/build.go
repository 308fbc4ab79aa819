package harness

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Binary is the beacon that all tests of a package run. Main makes it.
var Binary string

// BinaryVariable names a binary to test instead of one that each package builds for
// itself: scripts/test builds one for all, and a test of mutants one that is broken.
const BinaryVariable = "BEACON_TEST_BINARY"

// Main builds the binary, runs the tests of a package that calls it from its
// TestMain, and returns the code to exit with.
func Main(m *testing.M) int {
	var err error
	if folder, err = os.MkdirTemp("", "beacon-test"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	if Binary = os.Getenv(BinaryVariable); Binary == "" {
		Binary = filepath.Join(folder, "beacon")
		if err := Build(Binary); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if err := os.Setenv("BEACON_LOAD_SHEDDING", "off"); err != nil { // see Start
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// folder is where binaries are built.
var folder string

// Build makes the binary as it is delivered; flags go to "go build".
func Build(binary string, flags ...string) error {
	build := exec.Command("go", append(append([]string{"build"}, flags...), "-o", binary, "./cmd/beacon")...)
	build.Dir = Root()
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	if test, err := os.Stat(os.Args[0]); err == nil {
		for _, name := range writtenAfter(test.ModTime(), Root()) {
			fmt.Fprintf(os.Stderr, "%s was written after this test was built: the server that it tests may be another one\n", name)
		}
	}
	return nil
}

// writtenAfter returns the sources of the binary that were written after a time. If they
// are edited while tests run, the server that is tested may be neither the old one nor the
// new one.
func writtenAfter(moment time.Time, root string) (names []string) {
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone
		}
		if entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		if file, err := entry.Info(); err == nil && file.ModTime().After(moment) {
			names = append(names, path)
		}
		return nil
	})
	return names
}

// OverlayVariable names the sources that the binary of BinaryVariable was built
// with in place of others, as "go build -overlay" takes them.
const OverlayVariable = "BEACON_TEST_OVERLAY"

// Variant is a binary in which some files of the project are others, such as the
// one that tells the time. Whatever else is broken in the binary that is tested
// is broken in this one too. Build makes it once.
type Variant struct {
	Name  string
	Files map[string]string // their content by their place in the project
	once  sync.Once
	err   error
}

// Build returns the binary.
func (v *Variant) Build(t testing.TB) (binary string) {
	t.Helper()
	binary = filepath.Join(folder, v.Name)
	v.once.Do(func() { v.err = v.build(binary) })
	if v.err != nil {
		t.Fatal(v.err)
	}
	return binary
}

func (v *Variant) build(binary string) error {
	overlay, err := givenOverlay()
	if err != nil {
		return err
	}
	for path, content := range v.Files {
		other := filepath.Join(folder, v.Name+"-"+filepath.Base(path))
		if err := os.WriteFile(other, []byte(content), 0o600); err != nil {
			return err
		}
		overlay.Replace[filepath.Join(Root(), path)] = other
	}
	table, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	file := filepath.Join(folder, v.Name+"-overlay.json")
	if err := os.WriteFile(file, table, 0o600); err != nil {
		return err
	}
	return Build(binary, "-overlay", file)
}

type overlay struct{ Replace map[string]string }

// givenOverlay returns what OverlayVariable names.
func givenOverlay() (o overlay, err error) {
	o.Replace = map[string]string{}
	given := os.Getenv(OverlayVariable)
	if given == "" {
		return o, nil
	}
	text, err := os.ReadFile(given)
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(text, &o)
}

// Source returns a source of the project as it is built here: a test that changes it must
// not undo what OverlayVariable changed.
func Source(file string) (string, error) {
	o, err := givenOverlay()
	if err != nil {
		return "", err
	}
	path := filepath.Join(Root(), file)
	if other, ok := o.Replace[path]; ok {
		path = other
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// Root returns the folder of the project, which a test is started within.
func Root() string {
	if root == "" {
		panic("the tests of Beacon need its sources around them")
	}
	return root
}

// root is empty in a program that a test starts elsewhere.
var root = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "cmd", "beacon")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}()
