package client

import (
	"bufio"
	"bytes"
	"io"
)

// maxMessageLine limits the memory for a line that a server sends.
const maxMessageLine = 1 << 20

// eachMessage reads a stream of server-sent events to its end, which is an error too:
// a stream should not end. It calls tell with the data of each event, which includes
// its number and type, and alive for each line, including comments.
func eachMessage(r io.Reader, alive func(), tell func(data []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxMessageLine)
	var data []byte
	for lines.Scan() {
		alive()
		line := lines.Bytes() // without \n or \r\n
		if len(line) == 0 {
			if len(data) > 0 {
				if err := tell(data); err != nil {
					return err
				}
			}
			data = data[:0]
			continue
		}
		if name, value, _ := bytes.Cut(line, []byte(":")); string(name) == "data" {
			if len(data) > 0 {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
