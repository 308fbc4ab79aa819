package simulate

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strconv"
	"time"
)

// Wire is a connection for heartbeats. It implements only as much HTTP/1.1 as they
// need: a load generator that uses net/http costs about as much as the server under
// test.
type Wire struct {
	life context.Context // its end closes the connection
	base *url.URL
	line int          // of the device that sent last
	from *net.TCPAddr // nil: the system decides

	conn    net.Conn
	unwatch func() bool // ends the watch over life
	in      *bufio.Reader
	out     []byte
	body    []byte
	fresh   bool // no response was received on it yet
}

// wireBuffer is longer than the response to a heartbeat.
const wireBuffer = 4096

// NewWire returns a connection to a server, for as long as life lasts.
func NewWire(life context.Context, base *url.URL) *Wire {
	return &Wire{life: life, base: base, in: bufio.NewReaderSize(nil, wireBuffer)}
}

// Close closes the connection; the next heartbeat opens another.
func (w *Wire) Close() {
	if w.conn != nil {
		w.unwatch()
		_ = w.conn.Close() // the connection is done in any case
		w.conn = nil
	}
}

// reply is the response to a heartbeat.
type reply struct {
	status     int
	retryAfter time.Duration
	message    []byte // the body, if the response is an error
	uncounted  string // why the heartbeat changed nothing; empty if it counted
}

// judge returns why a heartbeat was not accepted, or nil. Then it also returns how long to
// wait before a retry; 0: a retry is of no use.
func (r reply) judge(d *Device) (wait time.Duration, err error) {
	if r.status == http.StatusOK {
		return 0, nil
	}
	err = fmt.Errorf("a heartbeat of hotspot %s got %d: %s", d.hotspot, r.status, r.message)
	if r.status != http.StatusTooManyRequests && r.status < 500 {
		return 0, err
	}
	return max(r.retryAfter, firstPause), err
}

// Send sends a heartbeat, once, and returns why it was not accepted.
func (w *Wire) Send(ctx context.Context, d *Device, b *Beat) error {
	r, err := w.send(ctx, d, b)
	if err == nil {
		_, err = r.judge(d)
	}
	return err
}

// send sends a heartbeat. A server may close an idle connection at any time, so a
// failure on a used connection is retried on a new one: a heartbeat that arrives
// twice counts once.
func (w *Wire) send(ctx context.Context, d *Device, b *Beat) (reply, error) {
	if d.character.Line != w.line {
		w.line = d.character.Line
		if from := loopback(w.base.Hostname(), d.character.Line); from != nil {
			w.Close()
			w.from = from
		}
	}
	for {
		if err := w.open(ctx); err != nil {
			return reply{}, err
		}
		r, err := w.exchange(d, b)
		if err == nil {
			w.fresh = false
			return r, nil
		}
		w.Close()
		if w.fresh || ctx.Err() != nil {
			return reply{}, err
		}
	}
}

func (w *Wire) open(ctx context.Context) error {
	if w.conn != nil {
		return nil
	}
	address := w.base.Host
	if w.base.Port() == "" {
		address = net.JoinHostPort(w.base.Hostname(), map[string]string{"http": "80", "https": "443"}[w.base.Scheme])
	}
	dialer := &net.Dialer{Timeout: answerTime}
	if w.from != nil {
		dialer.LocalAddr = w.from
	}
	dial := dialer.DialContext
	if w.base.Scheme == "https" {
		// Offer no protocol but the one implemented here.
		secure := tls.Dialer{NetDialer: dialer, Config: &tls.Config{NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}}
		dial = secure.DialContext
	}
	conn, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	w.conn = conn
	w.unwatch = context.AfterFunc(w.life, func() { _ = conn.Close() }) // the connection is done in any case
	w.in.Reset(conn)
	w.fresh = true
	return nil
}

// loopback returns the address that connections of some number come from, if the server is
// on this machine. All of 127.0.0.0/8 is this machine on Linux; elsewhere, or if the server
// is not, all connections come from one address.
func loopback(server string, number int) *net.TCPAddr {
	ip := net.ParseIP(server).To4()
	if here := server == "localhost" || ip != nil && ip.IsLoopback(); !here || runtime.GOOS != "linux" {
		return nil
	}
	return &net.TCPAddr{IP: net.IPv4(127, byte(number/250/250%250), 1+byte(number/250%250), 1+byte(number%250))}
}

func (w *Wire) exchange(d *Device, b *Beat) (reply, error) {
	w.body = b.Append(w.body[:0])
	out := append(w.out[:0], "POST /v1/hotspots/"...)
	out = append(out, d.hotspot...)
	out = append(out, "/heartbeats HTTP/1.1\r\nHost: "...)
	out = append(out, w.base.Host...)
	out = append(out, "\r\nAuthorization: Bearer "...)
	out = append(out, d.key...)
	out = append(out, "\r\nContent-Type: application/json\r\nContent-Length: "...)
	out = strconv.AppendInt(out, int64(len(w.body)), 10)
	out = append(out, "\r\n\r\n"...)
	w.out = append(out, w.body...)
	if err := w.conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return reply{}, err
	}
	if _, err := w.conn.Write(w.out); err != nil {
		return reply{}, err
	}
	return w.read()
}

// read reads a response. Of its header it needs little.
func (w *Wire) read() (r reply, err error) {
	line, err := w.in.ReadSlice('\n')
	if err != nil {
		return r, err
	}
	if len(line) < 13 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return r, fmt.Errorf("the response starts with %q, which is not HTTP", line)
	}
	if r.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return r, fmt.Errorf("the response starts with %q, which is not HTTP", line)
	}
	length, chunked, last := int64(-1), false, line[7] == '0'
	for {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return r, err
		}
		name, value, found := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
		if !found {
			break
		}
		switch value = bytes.TrimSpace(value); {
		case is(name, "content-length"):
			if length, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return r, err
			}
		case is(name, "transfer-encoding"):
			chunked = is(value, "chunked")
		case is(name, "connection"):
			last = is(value, "close")
		case is(name, "retry-after"):
			if n, err := strconv.Atoi(string(value)); err == nil {
				r.retryAfter = time.Duration(n) * time.Second
			}
		}
	}
	err = w.readBody(&r, length, chunked)
	if last {
		w.Close()
	}
	return r, err
}

func is(text []byte, lower string) bool { return bytes.EqualFold(text, []byte(lower)) }

// readBody reads the rest of a response. It keeps the body only of an error. A length below
// 0 was not given.
func (w *Wire) readBody(r *reply, length int64, chunked bool) (err error) {
	const most = 64 << 10
	switch {
	case chunked:
		if r.message, err = io.ReadAll(io.LimitReader(httputil.NewChunkedReader(w.in), most)); err == nil {
			_, err = w.in.ReadSlice('\n') // the empty line after the last chunk
		}
		if r.status == http.StatusOK {
			r.uncounted = uncounted(r.message)
		}
	case length < 0 || length > most:
		return errors.New("the response has no length, or is too long")
	case r.status == http.StatusOK && length <= wireBuffer:
		var body []byte
		if body, err = w.in.Peek(int(length)); err == nil {
			r.uncounted = uncounted(body)
			_, err = w.in.Discard(int(length))
		}
	default:
		r.message = make([]byte, length)
		_, err = io.ReadFull(w.in, r.message)
	}
	return err
}

// uncounted returns why a heartbeat changed nothing, from the response to it; empty if it
// counted.
func uncounted(body []byte) string {
	_, rest, found := bytes.Cut(body, []byte(`"counted":false,"reason":"`))
	if !found {
		return ""
	}
	reason, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(reason)
}
