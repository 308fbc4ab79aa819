//go:build unix

package sqlite

import (
	"os"
	"path/filepath"
	"syscall"
)

// giveToFolder gives a file that root has just created to the owner of its folder: the
// service that has the folder, and runs as another user, must be able to open it. SQLite
// does the same for the files beside it. Where everyone may write, the folder's owner
// means nothing.
func giveToFolder(file *os.File) {
	if os.Geteuid() != 0 {
		return
	}
	folder, err := os.Stat(filepath.Dir(file.Name()))
	if err != nil || folder.Mode().Perm()&0o002 != 0 {
		return
	}
	if owner, ok := folder.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 {
		_ = file.Chown(int(owner.Uid), int(owner.Gid)) // root may lack the right to, in a container
	}
}
