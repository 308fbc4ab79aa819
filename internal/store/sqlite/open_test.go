package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/internal/store"
	"github.com/beacon-wifi/beacon/internal/store/sqlite"
	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// openVariable makes the test binary open and close every database whose path
// it reads, and say how that went.
const openVariable = "BEACON_TEST_OPEN"

func openAsTold(in io.Reader, out io.Writer) {
	var db *store.DB
	for lines := bufio.NewScanner(in); lines.Scan(); {
		fresh, err := sqlite.Open(context.Background(), lines.Text(), sqlite.Options{Now: storetest.Now, Wait: storetest.Patience})
		if db != nil {
			err = errors.Join(err, db.Close())
		}
		db = fresh
		fmt.Fprintf(out, "%v\n", err)
	}
}

// startOpener starts a process that opens the files whose paths it is told. It ends with
// the test.
func startOpener(t *testing.T) (child *exec.Cmd, in io.WriteCloser, out *bufio.Reader) {
	t.Helper()
	child = exec.Command(os.Args[0])
	child.Env = append(os.Environ(), openVariable+"=1")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = child.Wait()
	})
	return child, in, bufio.NewReader(pipe)
}

// Processes that open a fresh file at the same moment all get it, and so do
// those that open one while the last other closes it.
func TestOpen_ProcessesAtOnce(t *testing.T) {
	level.Repeats(t)
	const processes, files = 3, 100
	var tell []io.WriteCloser
	var hear []*bufio.Reader
	for range processes {
		_, in, out := startOpener(t)
		tell, hear = append(tell, in), append(hear, out)
	}
	folder := t.TempDir()
	for n := range files {
		path := filepath.Join(folder, fmt.Sprintf("%d.db", n))
		for _, in := range tell {
			fmt.Fprintln(in, path)
		}
		for i, out := range hear {
			answer, err := out.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if answer = strings.TrimSpace(answer); answer != "<nil>" {
				t.Errorf("file %d, process %d: %s", n, i, answer)
			}
		}
	}
}
