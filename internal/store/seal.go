package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// ErrSeal is of a row that is not what was written. It holds nothing of the row:
// that may be someone's address.
var ErrSeal = errors.New("the row is not what was written: its seal is of something else")

// content is what a row says, and in which version: a program that is older than
// seals writes the next version and leaves the seal, which is then none of it.
type content struct {
	version int64
	said    []byte
}

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

// real takes -0 for 0: SQLite keeps it as that.
func (c *content) real(numbers ...float64) {
	for _, x := range numbers {
		c.said = binary.LittleEndian.AppendUint64(c.said, math.Float64bits(x+0))
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal is the version, as far as 31 bits hold it, and the CRC-32C of the rest. 0 in
// its place is no seal at all.
func (c *content) seal() int64 {
	return c.version&math.MaxInt32<<32 | int64(crc32.Checksum(c.said, castagnoli))
}

// check compares with what the row has for a seal.
func (c *content) check(stored int64) error {
	const versionBits = math.MaxInt32 << 32
	if fresh := c.seal(); stored != 0 && stored != fresh && stored&versionBits == fresh&versionBits {
		return ErrSeal
	}
	return nil
}

// usualContent is as long as most rows are.
const usualContent = 512

// content is all of a hotspot but mac_live, which is compared with its MAC address.
// It reuses the memory of the last one.
func (r *hotspotRow) content() *content {
	c := &r.said
	if c.said == nil {
		c.said = make([]byte, 0, usualContent)
	}
	c.version, c.said = r.version, c.said[:0]
	c.text(r.id, r.operator, r.name, r.kind, r.address, r.ssid, r.mac, r.hours, r.deviceHash, r.pastHours, r.pastService)
	c.real(r.lat, r.lng, r.bandwidth, r.radius)
	c.integer(r.verifiedAt, r.linkedAt, r.maxConnections, r.createdAt, r.updatedAt, r.deletedAt)
	return c
}

// unchanging is the version of what is written once.
const unchanging = 1

// keyContent is what never changes of a key; that it was revoked is in the changes.
func keyContent(k *beacon.Key, scopes string) *content {
	c := &content{version: unchanging, said: make([]byte, 0, usualContent)}
	c.text(string(k.ID), string(k.User), k.Name, scopes, string(k.SecretHash[:]))
	c.integer(micros(k.CreatedAt), micros(k.ExpiresAt))
	return c
}

func changeContent(change *beacon.Change) *content {
	c := &content{version: unchanging, said: make([]byte, 0, usualContent)}
	c.text(change.Node, string(change.Kind), change.Target)
	c.text(string(change.Actor.Key), string(change.Actor.User), change.Actor.Request, change.Actor.Note)
	c.integer(change.Seq, change.Version, micros(change.At))
	return c
}
