// Package static serves files that are part of the program: with a type, an entity tag,
// compressed if accepted, and headers that restrict what a page can do. It does not know what
// is in the files, nor where they come from. Its one invariant: the bytes and the tag of
// a file never change.
package static
