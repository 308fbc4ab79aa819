package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// identity recognises the files of an open database. A file that is moved, deleted or
// replaced stays open under the server: SQLite goes on writing to it without an error,
// and nobody finds that again.
type identity struct {
	path string

	mu    sync.Mutex
	files [2]os.FileInfo // the database and its log, as last confirmed; nil before
}

var errReplaced = errors.New("the database file was moved, deleted or replaced while it was open")

// confirm returns an error if the file at the path is not the one that was there before.
// It looks the files up by name and opens none: closing one would release the locks that
// SQLite holds on it. A database never shrinks, so one that has was overwritten.
func (i *identity) confirm() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	for n, suffix := range []string{"", "-wal"} {
		now, err := os.Stat(i.path + suffix)
		switch first := i.files[n]; {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: there is no file %s", errReplaced, i.path+suffix)
		case err != nil:
			return nil //nolint:nilerr // it cannot be seen just now, which proves nothing
		case first != nil && !os.SameFile(first, now):
			return fmt.Errorf("%w: %s is another file", errReplaced, i.path+suffix)
		case first != nil && suffix == "" && now.Size() < first.Size():
			return fmt.Errorf("%w: %s has shrunk from %d to %d bytes", errReplaced, i.path, first.Size(), now.Size())
		}
		i.files[n] = now
	}
	return nil
}

// sweep deletes the drafts of copies that were killed. One that is still being written
// is locked.
func sweep(folder string) {
	drafts, _ := fs.Glob(os.DirFS(folder), draftPattern) // a folder that cannot be read has none to delete
	for _, name := range drafts {
		draft := filepath.Join(folder, name)
		file, err := os.OpenFile(draft, os.O_RDWR, 0)
		if err != nil {
			continue // another user's, or just gone
		}
		if lockFile(file) {
			_ = os.Remove(draft)
		}
		_ = file.Close()
	}
}
