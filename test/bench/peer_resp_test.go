package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// respConn speaks RESP, the protocol of Redis.
type respConn struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

// reply is a text or a list.
type reply struct {
	text string
	list []reply
}

func dialRESP(addr string) (*respConn, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &respConn{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// do sends a command and reads the answer.
func (c *respConn) do(args ...string) (reply, error) {
	c.out = fmt.Appendf(c.out[:0], "*%d\r\n", len(args))
	for _, arg := range args {
		c.out = strconv.AppendInt(append(c.out, '$'), int64(len(arg)), 10)
		c.out = append(append(append(c.out, "\r\n"...), arg...), "\r\n"...)
	}
	if _, err := c.conn.Write(c.out); err != nil {
		return reply{}, err
	}
	return c.read()
}

func (c *respConn) read() (reply, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return reply{}, err
	}
	if len(line) < 3 {
		return reply{}, fmt.Errorf("answer %q", line)
	}
	kind, rest := line[0], line[1:len(line)-2]
	switch kind {
	case '-':
		return reply{}, errors.New(rest)
	case '$', '*':
		return c.readLong(kind, rest)
	default: // a status or a number
		return reply{text: rest}, nil
	}
}

// readLong reads what begins with its length: a text, or a list.
func (c *respConn) readLong(kind byte, length string) (r reply, err error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return reply{}, err
	}
	if kind == '$' {
		text := make([]byte, n+len("\r\n"))
		_, err = io.ReadFull(c.in, text)
		return reply{text: string(text[:n])}, err
	}
	for range n {
		one, err := c.read()
		if err != nil {
			return r, err
		}
		r.list = append(r.list, one)
	}
	return r, nil
}

// respServer is a server of that protocol, with a connection for each client.
type respServer struct {
	process
	clients []*respConn
}

// startRESP runs a server in a folder of its own, on a port that is free.
func startRESP(b *testing.B, command func(folder, port string) *exec.Cmd) *respServer {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	_, port, _ := net.SplitHostPort(addr)
	cmd := command(filepath.Clean(b.TempDir()), port)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s := &respServer{process: process{addr: addr, pid: cmd.Process.Pid}}
	for deadline := time.Now().Add(20 * time.Second); len(s.clients) < connections; {
		client, err := dialRESP(addr)
		if err == nil {
			_, err = client.do("PING")
		}
		switch {
		case err == nil:
			s.clients = append(s.clients, client)
			b.Cleanup(func() { client.conn.Close() })
		case time.Now().After(deadline):
			b.Fatalf("%s does not answer: %v", cmd.Path, err)
		default:
			time.Sleep(10 * time.Millisecond)
		}
	}
	return s
}

// must sends a command of which only the success counts.
func (s *respServer) must(b *testing.B, args ...string) {
	b.Helper()
	if _, err := s.clients[0].do(args...); err != nil {
		b.Fatalf("%s: %v", args[0], err)
	}
}
