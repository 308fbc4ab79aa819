package bench

import (
	"bufio"
	"context"
	"net"
	"slices"
	"sync"
	"time"
)

// steady asks a server at a fixed rate, whether or not it keeps up, and notes how
// long each answer took from the moment at which the request was due.
type steady struct {
	addr  string
	next  func([]byte) []byte // writes the next request over what it is given
	rate  int                 // requests a second
	lines int                 // connections: as many as ever wait at the same time

	mu      sync.Mutex
	answers []answered
}

type answered struct {
	due  time.Time
	took time.Duration
	err  error
}

// run asks until ctx ends.
func (s *steady) run(ctx context.Context) {
	began := time.Now()
	var clients sync.WaitGroup
	for c := range s.lines {
		clients.Go(func() { s.client(ctx, began.Add(time.Duration(c)*time.Second/time.Duration(s.rate))) })
	}
	clients.Wait()
}

func (s *steady) client(ctx context.Context, first time.Time) {
	var conn net.Conn
	var in *bufio.Reader
	var request []byte
	interval := time.Duration(s.lines) * time.Second / time.Duration(s.rate)
	for due := first; ctx.Err() == nil; due = due.Add(interval) {
		time.Sleep(time.Until(due))
		request = s.next(request)
		var err error
		if conn == nil {
			if conn, err = net.Dial("tcp", s.addr); err == nil {
				in = bufio.NewReaderSize(conn, 16<<10)
			}
		}
		if err == nil {
			if _, err = conn.Write(request); err == nil {
				err = skipAnswer(in)
			}
		}
		if err != nil && conn != nil { // what is left of the answer is not read
			conn.Close()
			conn = nil
		}
		s.note(answered{due, time.Since(due), err})
	}
	if conn != nil {
		conn.Close()
	}
}

func (s *steady) note(a answered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, a)
}

// between gives how long those took that were due between two moments, the
// quickest first, in milliseconds, and the errors of the others.
func (s *steady) between(from, to time.Time) (took []float64, failed []error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.answers {
		switch {
		case a.due.Before(from) || a.due.After(to):
		case a.err != nil:
			failed = append(failed, a.err)
		default:
			took = append(took, float64(a.took.Microseconds())/1e3)
		}
	}
	slices.Sort(took)
	return took, failed
}
