//go:build linux

package torture_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/test/harness"
)

const nearbyPath = "/v1/hotspots/nearby?lat=40&lng=-74&status=all&limit=20"

// Flood is a flood of requests for nearby, and what came of it. It comes from a
// process of its own: in the process that measures, it would be in the way.
type Flood struct {
	Address, Key string
	Connections  int
	Deep         int // requests under way on each connection
	Span         time.Duration

	Answered, TurnedAway int64
	Failure              string
}

// floodVariable makes this binary a flood.
const floodVariable = "BEACON_TORTURE_FLOOD"

func (f *Flood) rate() float64 { return float64(f.Answered) / f.Span.Seconds() }

// flood sends a flood, and does something else meanwhile, which is told when the
// flood is over.
func flood(t *testing.T, s *harness.Server, f Flood, meanwhile func(over <-chan struct{})) Flood {
	t.Helper()
	f.Address = strings.TrimPrefix(s.URL, "http://")
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	source := exec.CommandContext(t.Context(), os.Args[0])
	source.Env = append(os.Environ(), floodVariable+"="+string(text))
	var out bytes.Buffer
	source.Stdout, source.Stderr = &out, os.Stderr
	if err := source.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		err = source.Wait()
	}()
	meanwhile(over)
	<-over
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &f)
	}
	if err != nil || f.Failure != "" {
		t.Fatalf("the flood ended with %v %s", err, f.Failure)
	}
	return f
}

// beFlood is what the other process does.
func beFlood(spec string) error {
	var f Flood
	if err := json.Unmarshal([]byte(spec), &f); err != nil {
		return err
	}
	request := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: beacon\r\nAuthorization: Bearer %s\r\n\r\n", nearbyPath, f.Key)
	ctx, cancel := context.WithTimeout(context.Background(), f.Span)
	defer cancel()
	var mu sync.Mutex
	var flooding sync.WaitGroup
	for range f.Connections {
		flooding.Go(func() {
			for ctx.Err() == nil { // a connection that reads too slowly is let go
				answered, turnedAway, err := pour(ctx, f.Address, request, f.Deep)
				mu.Lock()
				f.Answered += answered
				f.TurnedAway += turnedAway
				if errors.Is(err, errWrongAnswer) {
					f.Failure = err.Error()
				}
				mu.Unlock()
			}
		})
	}
	flooding.Wait()
	return json.NewEncoder(os.Stdout).Encode(f)
}

// pour asks over one connection.
func pour(ctx context.Context, address string, request []byte, deep int) (answered, turnedAway int64, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	answers := bufio.NewReaderSize(conn, 16<<10)
	if _, err := conn.Write(bytes.Repeat(request, deep)); err != nil {
		return 0, 0, err
	}
	for ctx.Err() == nil {
		status, err := readAnswer(answers)
		switch {
		case err != nil:
			return answered, turnedAway, err
		case status == http.StatusOK:
			answered++
		default:
			turnedAway++
		}
		if _, err := conn.Write(request); err != nil {
			return answered, turnedAway, err
		}
	}
	return answered, turnedAway, nil
}

var errWrongAnswer = errors.New("a wrong answer")

// readAnswer reads as much HTTP as this takes: net/http would cost more than the
// server does. Beside 200, only 503 with Retry-After will do.
func readAnswer(in *bufio.Reader) (status int, err error) {
	length, retry := 0, false
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		switch {
		case first:
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, err
			}
		case len(name) == 0:
			if status != http.StatusOK && (status != http.StatusServiceUnavailable || !retry) {
				return status, fmt.Errorf("%w: nearby answered %d; Retry-After: %v", errWrongAnswer, status, retry)
			}
			_, err := in.Discard(length)
			return status, err
		case string(name) == "Content-Length":
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		case string(name) == "Retry-After":
			retry = true
		}
	}
}
