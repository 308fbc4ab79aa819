// Command release writes what is published of a version of Beacon into a folder: an archive
// of the program for each platform with the licenses and the software bill of materials of
// what it is made of, Debian packages, an image for containers, and their checksums. The
// same commit gives the same bytes.
//
// It is a module of its own, so that what it is made of stays apart from everything else.
package main
