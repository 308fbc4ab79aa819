package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"github.com/beacon-wifi/beacon/internal/store"
)

// Copying are the settings of a backup or a restore.
type Copying struct {
	Replace  bool                             // replace an existing file
	Progress func(what string, share float64) // called with the finished share of a step; may be nil
}

func (c Copying) tell(what string, share float64) {
	if c.Progress != nil {
		c.Progress(what, share)
	}
}

// Backup copies the database at from into one file at to, while others read and write
// it. The copy is a snapshot that contains everything acknowledged before. It is
// checked, and appears at to complete or not at all.
func Backup(ctx context.Context, from, to string, opts Copying) error {
	from, err := existing(from)
	if err != nil {
		return err
	}
	if err := free(from, to); err != nil {
		return err
	}
	return place(to, opts, func(draft *os.File) error {
		if err := copyPages(ctx, from, draft.Name(), opts); err != nil {
			return fmt.Errorf("copy %s: %w", from, err)
		}
		return check(ctx, draft.Name(), opts)
	})
}

// IsFile reports whether a file is a database of SQLite, by how it begins. It is for commands:
// to close a file that this process has open as a database would release its locks.
func IsFile(path string) bool {
	const begins = "SQLite format 3\x00"
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(begins))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == begins
}

// Restore creates a database at to from the backup at from. There must be no file at to
// unless opts.Replace is set.
func Restore(ctx context.Context, from, to string, opts Copying) error {
	from, err := existing(from)
	if err != nil {
		return err
	}
	if err := alone(from); err != nil {
		return fmt.Errorf("%w: this is a database, not a backup", err)
	}
	if err := Unused(to); err != nil {
		return err
	}
	if err := alone(to); err != nil {
		return fmt.Errorf("%w: it belongs to another database; move it first", err)
	}
	if err := withImmutable(ctx, from, checkSchema); err != nil { // before gigabytes are copied
		return fmt.Errorf("%s: %w", from, err)
	}
	return place(to, opts, func(draft *os.File) error {
		giveToFolder(draft)
		if err := copyFile(ctx, from, draft.Name(), opts); err != nil {
			return fmt.Errorf("copy %s: %w", from, err)
		}
		return check(ctx, draft.Name(), opts)
	})
}

// existing checks that the file exists: SQLite would create it.
func existing(path string) (string, error) {
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// free rejects a target at which a database is in use, including the source itself.
func free(from, to string) error {
	source, err := os.Stat(from)
	if err != nil {
		return err
	}
	if target, err := os.Stat(to); err == nil && os.SameFile(source, target) {
		return fmt.Errorf("%s is the database itself", to)
	}
	if err := alone(to); err != nil {
		return fmt.Errorf("%w: a database is in use there", err)
	}
	return nil
}

// alone rejects a database that has a log beside it: it is incomplete without it.
func alone(path string) error {
	for _, suffix := range []string{"-wal", "-journal"} {
		info, err := os.Stat(path + suffix)
		if err == nil && info.Size() > 0 {
			return fmt.Errorf("there is a file %s", path+suffix)
		}
	}
	return nil
}

// draftPattern names a copy that is not complete.
const draftPattern = ".beacon-copy-*"

// place has a file written next to its destination, and moves it there once all of it
// is on disk. Only its owner may read it.
func place(to string, opts Copying, write func(draft *os.File) error) error {
	if _, err := os.Lstat(to); err == nil && !opts.Replace {
		return fmt.Errorf("%s: %w", to, fs.ErrExist)
	}
	sweep(filepath.Dir(to))
	draft, err := os.CreateTemp(filepath.Dir(to), draftPattern)
	if err != nil {
		return err
	}
	defer draft.Close()           // releases the lock
	defer os.Remove(draft.Name()) // does nothing after a rename; removes the extra name after a link
	lockFile(draft)
	if err := write(draft); err != nil {
		return err
	}
	if err := syncPath(draft.Name()); err != nil {
		return err
	}
	if err := move(draft.Name(), to, opts.Replace); err != nil {
		return err
	}
	return syncPath(filepath.Dir(to))
}

// move moves a file to its destination. A link, unlike a rename, never overwrites a
// file, but not every file system supports links.
func move(draft, to string, replace bool) error {
	if !replace {
		err := os.Link(draft, to)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, err := os.Lstat(to); err == nil {
			return fmt.Errorf("%s: %w", to, fs.ErrExist)
		}
	}
	return os.Rename(draft, to)
}

func syncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// pagesAtOnce is how many pages are copied between two checks of the context.
const pagesAtOnce = 1000

// backuper is the part of the driver's connection used here.
type backuper interface {
	NewBackup(uri string) (*sqlite.Backup, error)
}

// copyPages copies a database page by page. The transaction pins its snapshot: without
// it, the copy would restart whenever someone writes.
func copyPages(ctx context.Context, from, to string, opts Copying) error {
	return withConn(ctx, dsn(from, "rw", Options{}), func(ctx context.Context, conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		defer conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		if err := checkSchema(ctx, conn); err != nil {
			return err
		}
		return conn.Raw(func(driver any) error {
			// The file is synced once it is complete.
			backup, err := driver.(backuper).NewBackup(fileURL(to, url.Values{"_pragma": {"journal_mode(OFF)", "synchronous(OFF)"}}))
			if err != nil {
				return err
			}
			return errors.Join(stepThrough(ctx, backup, opts), backup.Finish())
		})
	})
}

// withConn opens a database, and calls use with a connection to it.
func withConn(ctx context.Context, dsn string, use func(context.Context, *sql.Conn) error) error {
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return use(ctx, conn)
}

func fileURL(path string, settings url.Values) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: settings.Encode()}).String()
}

func stepThrough(ctx context.Context, backup *sqlite.Backup, opts Copying) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if more, err = backup.Step(pagesAtOnce); err != nil {
			return err
		}
		opts.tell("copied", 1-float64(backup.Remaining())/float64(max(backup.PageCount(), 1)))
	}
	return nil
}

const copyPiece = 4 << 20

func copyFile(ctx context.Context, from, to string, opts Copying) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for done := int64(0); err == nil; done += copyPiece {
		opts.tell("copied", min(float64(done)/float64(max(info.Size(), 1)), 1))
		if _, err = io.CopyN(out, in, copyPiece); err == nil {
			err = ctx.Err()
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, out.Close())
}

// check verifies that a copy is complete and usable by this program.
func check(ctx context.Context, path string, opts Copying) error {
	opts.tell("checked", 0)
	err := withImmutable(ctx, path, func(ctx context.Context, conn *sql.Conn) error {
		return errors.Join(checkSchema(ctx, conn), checkPages(ctx, conn))
	})
	if err != nil {
		return fmt.Errorf("the copy is damaged: %w", err)
	}
	opts.tell("checked", 1)
	return nil
}

func checkSchema(ctx context.Context, conn *sql.Conn) error {
	return store.CheckSchema(ctx, conn, foreign)
}

// withImmutable reads a database that nobody writes, and creates no files beside it.
func withImmutable(ctx context.Context, path string, read func(context.Context, *sql.Conn) error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	return withConn(ctx, fileURL(path, url.Values{"mode": {"ro"}, "immutable": {"1"}}), read)
}

// checkPages reads everything, and compares tables with their indexes.
func checkPages(ctx context.Context, conn *sql.Conn) error {
	said, err := store.ReadRows(ctx, conn, func(line *string) []any { return []any{line} }, "PRAGMA integrity_check(10)")
	var faults []error
	for _, line := range said {
		if line != "ok" {
			faults = append(faults, errors.New(line))
		}
	}
	return errors.Join(append(faults, err)...)
}
