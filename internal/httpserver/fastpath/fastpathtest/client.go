package fastpathtest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Client is one end of a connection.
type Client struct {
	net.Conn
	In *bufio.Reader
}

// Dial connects to a server.
func Dial(t *testing.T, addr string) *Client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &Client{conn, bufio.NewReader(conn)}
}

// Say sends text.
func (c *Client) Say(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// Hear reads one response.
func (c *Client) Hear(t *testing.T) (*http.Response, string) {
	t.Helper()
	response, err := http.ReadResponse(c.In, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// IsClosed waits for the end of the connection, with nothing before it.
func (c *Client) IsClosed(t *testing.T) {
	t.Helper()
	if rest, err := io.ReadAll(c.In); err != nil || len(rest) > 0 {
		t.Errorf("the connection ends with %q, %v", rest, err)
	}
}

var varying = regexp.MustCompile(`\r\n(Date: [A-Z][a-z][a-z], .*|X-Request-Id: .*)\r\n`)

// Talk sends what a client sends, in as many packets, and gives all that comes
// back until the server is done with it.
func Talk(t *testing.T, addr string, halfClose bool, packets ...string) string {
	t.Helper()
	conn := Dial(t, addr).Conn
	defer conn.Close()
	for _, packet := range packets {
		if _, err := io.WriteString(conn, packet); err != nil {
			break // the server may have heard enough
		}
	}
	if halfClose {
		_ = conn.(*net.TCPConn).CloseWrite() // the same
	}
	got, err := io.ReadAll(conn)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatalf("%.200q: %v after %q", packets, err, got)
	}
	// The last pattern matches twice in a row where both fields follow each other.
	return string(varying.ReplaceAll(varying.ReplaceAll(got, []byte("\r\n(varies)\r\n")), []byte("\r\n(varies)\r\n")))
}
