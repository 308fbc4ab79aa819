package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	connections = 16
	turns       = 150
	perTurn     = 1_600 // requests
)

// load sends n requests, the given ones in turn from the first on, on keep-alive
// connections that each wait for an answer before the next request. Answers are
// read by length: the load generator shares the machine and must stay cheap.
func load(b *testing.B, p *process, requests []string, first, n int) {
	b.Helper()
	share := n / connections
	together(b, func(c int) error { return drive(p.addr, requests, first+c*share, share) })
}

// together lets all clients work at a time, each on its own connection.
func together(b *testing.B, client func(c int) error) {
	b.Helper()
	var clients sync.WaitGroup
	failed := make(chan error, connections)
	for c := range connections {
		clients.Go(func() {
			if err := client(c); err != nil {
				failed <- err
			}
		})
	}
	clients.Wait()
	select {
	case err := <-failed:
		b.Fatal(err)
	default:
	}
}

func drive(addr string, requests []string, first, n int) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 64<<10)
	for i := range n {
		if _, err := io.WriteString(conn, requests[(first+i)%len(requests)]); err != nil {
			return err
		}
		if err := skipAnswer(in); err != nil {
			return fmt.Errorf("answer %d: %w", i, err)
		}
	}
	return nil
}

// chunked is the length of an answer that comes in chunks.
const chunked = -2

// skipAnswer reads one answer of status 200.
func skipAnswer(in *bufio.Reader) error {
	length, first := -1, true
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && string(line) != "HTTP/1.1 200 OK\r\n" {
			return fmt.Errorf("%q", line)
		}
		first = false
		if len(line) == 2 {
			break
		}
		const name = "Content-Length: "
		if len(line) > len(name) && string(line[:len(name)]) == name {
			length = 0
			for _, digit := range line[len(name) : len(line)-2] {
				length = length*10 + int(digit-'0')
			}
		} else if string(line) == "Transfer-Encoding: chunked\r\n" {
			length = chunked
		}
	}
	switch length {
	case -1:
		return errors.New("an answer without a length")
	case chunked:
		return skipChunks(in)
	}
	_, err := in.Discard(length)
	return err
}

// skipChunks reads up to and including the chunk that has nothing in it.
func skipChunks(in *bufio.Reader) error {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		length, err := strconv.ParseInt(strings.TrimSpace(line), 16, 32)
		if err != nil {
			return err
		}
		if _, err := in.Discard(int(length) + len("\r\n")); err != nil || length == 0 {
			return err
		}
	}
}

// fetch sends one request as the load does, and gives the whole answer.
func fetch(b *testing.B, p *process, request string) canned {
	b.Helper()
	status, answer, err := exchange(p, request)
	if err != nil || status != http.StatusOK {
		b.Fatalf("%d %s, %v", status, answer.Body, err)
	}
	return answer
}

func exchange(p *process, request string) (status int, answer canned, err error) {
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		return 0, canned{}, err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		return 0, canned{}, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, canned{}, err
	}
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, canned{Header: response.Header, Body: body}, err
}

// compare reports the CPU time per request of a server, of the bare handler,
// and their ratio. They take many short turns, so that whatever else the machine
// does disturbs both alike; what counts is the sum, which the kernel's clock of
// hundredths of a second measures well enough.
func compare(b *testing.B, subject *process, requests []string) {
	b.Helper()
	limit := bare(b, fetch(b, subject, requests[0]))
	load(b, subject, requests, 0, 10*perTurn) // warm both up
	load(b, limit, requests, 0, 10*perTurn)
	ours, theirs := -subject.cpu(b), -limit.cpu(b)
	for turn := range turns { // each goes on where the one before stopped: nobody asks the same few things again and again
		load(b, subject, requests, turn*perTurn, perTurn)
		load(b, limit, requests, turn*perTurn, perTurn)
	}
	ours, theirs = ours+subject.cpu(b), theirs+limit.cpu(b)
	const total = turns * perTurn
	b.ReportMetric(0, "ns/op") // wall time says nothing here
	b.ReportMetric(ours/total*1e6, "µs-cpu/req")
	b.ReportMetric(theirs/total*1e6, "µs-cpu/req-bare")
	b.ReportMetric(ours/theirs, "×bare")
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// get spells a GET request.
func get(path string, header ...string) string {
	text := "GET " + path + " HTTP/1.1\r\nHost: beacon\r\n"
	for _, line := range header {
		text += line + "\r\n"
	}
	return text + "\r\n"
}
