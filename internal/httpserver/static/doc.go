// Package static sends files that are part of the program: with a type, an
// entity tag, gzip where it is taken, and headers that shut out what a page does
// not need. It knows nothing of what is in the files, nor of where they are
// found. Its one invariant: the bytes and the tag of a file never change.
package static
