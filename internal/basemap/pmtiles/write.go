package pmtiles

import "errors"

// maxStart is how much of a file readers load at once: its header and first directory must
// be in it.
const maxStart = 16 << 10

// leafEntries is how many entries a directory has, if there are few directories.
const leafEntries = 4096

// Start returns what stands before the tiles of a file: the header, the directories and the
// metadata. The entries are in order, and their offsets are those from the first tile on.
// The header says what the tiles are; all else in it is set.
func Start(h Header, entries []Entry, metadata []byte) ([]byte, error) {
	root, leaves := compress(encodeDirectory(entries)), []byte(nil)
	for size := leafEntries; len(root) > maxStart-HeaderSize; size *= 2 {
		var top []Entry
		leaves = leaves[:0]
		for at := 0; at < len(entries); at += size {
			leaf := compress(encodeDirectory(entries[at:min(at+size, len(entries))]))
			top = append(top, Entry{ID: entries[at].ID, Offset: int64(len(leaves)), Length: int64(len(leaf))})
			leaves = append(leaves, leaf...)
		}
		root = compress(encodeDirectory(top))
	}
	about := compress(metadata)
	h.Magic, h.Version, h.Internal = magic, 3, Gzip
	at := int64(HeaderSize)
	for _, part := range []struct {
		offset, length *int64
		size           int
	}{{&h.Root, &h.RootLength, len(root)}, {&h.Metadata, &h.MetadataLength, len(about)}, {&h.Leaves, &h.LeavesLength, len(leaves)}} {
		*part.offset, *part.length = at, int64(part.size)
		at += *part.length
	}
	h.Data, h.Clustered, h.Entries = at, 1, int64(len(entries))
	h.DataLength, h.Addressed, h.Contents = 0, 0, 0
	for _, e := range entries {
		h.Addressed += e.Run
		if e.Offset == h.DataLength { // a content that was not there before follows the others
			h.DataLength += e.Length
			h.Contents++
		} else if e.Offset > h.DataLength {
			return nil, errors.New("tiles are not in the order of their first places")
		}
	}
	return append(append(append(h.encode(), root...), about...), leaves...), nil
}
