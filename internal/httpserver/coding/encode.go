package coding

import (
	"bytes"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Bodies that are made for one request are compressed at the fastest level: on the JSON of
// a nearby response it leaves a fifth, and the best level leaves a sixth at ten times the
// cost. Windows are small, so that the memory of an encoder is too: most bodies fit.
const window = 128 << 10

// zstdAll encodes whole bodies. It has one encoder per processor, which callers share.
var zstdAll = sync.OnceValue(func() *zstd.Encoder { return newZstd(zstd.SpeedFastest, runtime.GOMAXPROCS(0)) })

// newZstd cannot fail: its options are valid.
func newZstd(level zstd.EncoderLevel, encoders int) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(encoders),
		zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err)
	}
	return e
}

// streams are encoders that write to a stream, of each coding. An encoder with a
// concurrency of one starts no goroutine.
var streams = [count]sync.Pool{
	Gzip: {New: func() any { return newGzip(gzip.BestSpeed) }},
	Zstd: {New: func() any { return newZstd(zstd.SpeedFastest, 1) }},
}

// newGzip cannot fail: its level is valid.
func newGzip(level int) *gzip.Writer {
	z, err := gzip.NewWriterLevel(nil, level)
	if err != nil {
		panic(err)
	}
	return z
}

// encoder is what both kinds of encoders are.
type encoder interface {
	io.WriteCloser
	Reset(io.Writer)
}

// Append appends the encoded body to out.
func (c Coding) Append(out, body []byte) []byte {
	switch c {
	case Gzip:
		buffer := bytes.NewBuffer(out)
		_ = c.Stream(buffer, func(w io.Writer) error { // memory does not fail
			_, err := w.Write(body)
			return err
		})
		return buffer.Bytes()
	case Zstd:
		return zstdAll().EncodeAll(body, out)
	default:
		return append(out, body...)
	}
}

// Stream calls write with a writer that encodes to out. If write fails, the encoded text
// is not finished, and out has perhaps not been written to at all.
func (c Coding) Stream(out io.Writer, write func(io.Writer) error) error {
	if c == Identity {
		return write(out)
	}
	e := streams[c].Get().(encoder)
	defer func() {
		e.Reset(nil) // the pool must not keep a connection
		streams[c].Put(e)
	}()
	e.Reset(out)
	if err := write(e); err != nil {
		return err
	}
	return e.Close()
}

// best encodes a body that is encoded once as small as possible.
func (c Coding) best(body []byte) []byte {
	if c == Zstd {
		return newZstd(zstd.SpeedBestCompression, 1).EncodeAll(body, nil)
	}
	var buffer bytes.Buffer
	z := newGzip(gzip.BestCompression)
	z.Reset(&buffer)
	_, _ = z.Write(body) // memory does not fail
	_ = z.Close()
	return buffer.Bytes()
}
