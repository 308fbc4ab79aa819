//go:build !unix

package sqlite

import "os"

// giveToFolder does nothing: there is no root.
func giveToFolder(*os.File) {}
