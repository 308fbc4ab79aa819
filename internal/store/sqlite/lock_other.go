//go:build !unix

package sqlite

import "os"

// lockFile reports that others may be using the file: nothing is deleted.
func lockFile(*os.File) bool { return false }

// Unused relies on the files beside the database instead: see alone.
func Unused(string) error { return nil }
