package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// ErrSeal reports a row that is not what was written. It contains nothing of the row,
// which may hold someone's address.
var ErrSeal = errors.New("the row is damaged: its checksum does not match")

// content is what a seal covers: the version and the encoded values of a row. The
// version matters because a program older than seals writes the next version and leaves
// the seal, which then does not belong to it.
type content struct {
	version int64
	said    []byte
}

// usualContent is the encoded size of most rows.
const usualContent = 512

// unchanging is the version of rows that are written once.
const unchanging = 1

func (c *content) text(texts ...string) {
	for _, text := range texts {
		c.said = binary.AppendUvarint(c.said, uint64(len(text)))
		c.said = append(c.said, text...)
	}
}

func (c *content) integer(numbers ...int64) {
	for _, n := range numbers {
		c.said = binary.LittleEndian.AppendUint64(c.said, uint64(n))
	}
}

// real encodes -0 as 0, because SQLite stores it as 0.
func (c *content) real(x float64) {
	c.said = binary.LittleEndian.AppendUint64(c.said, math.Float64bits(x+0))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal returns the low 31 bits of the version and the CRC-32C of the rest. A stored 0
// means no seal.
func (c *content) seal() int64 {
	return c.version&math.MaxInt32<<32 | int64(crc32.Checksum(c.said, castagnoli))
}

// check compares the content with the stored seal, unless that is of an earlier version.
func (c *content) check(stored int64) error {
	fresh := c.seal()
	if stored == 0 || stored == fresh {
		return nil
	}
	if was := stored >> 32; was >= unchanging && was < fresh>>32 {
		return nil
	}
	return ErrSeal
}

// sealOf is the field of a row's seal, behind those that it covers.
func sealOf(said func() *content) cell {
	return &coded[int64]{
		encode: func() (int64, error) { return said().seal(), nil },
		decode: func(stored int64) error { return said().check(stored) },
	}
}

// changeContent returns all of a change. One that no person made has the checksum that it had
// before there were people.
func changeContent(change *beacon.Change) *content {
	c := &content{version: unchanging, said: make([]byte, 0, usualContent)}
	c.text(change.Node, string(change.Kind), change.Target)
	c.text(string(change.Actor.Key), string(change.Actor.User), change.Actor.Request, change.Actor.Note)
	if change.Actor.Person != "" {
		c.text(string(change.Actor.Person))
	}
	c.integer(change.Seq, change.Version, micros(change.At))
	return c
}
