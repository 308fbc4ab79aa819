package basemap

import "bytes"

// Read reads a file that is in memory.
func Read(body []byte) (*Map, error) { return read(bytes.NewReader(body), int64(len(body))) }
