package api_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
	"github.com/beacon-wifi/beacon/test/harness"
)

const aStatement = "/v1/users/me/rewards/statements/2026-10"

// begin asks for a statement and reads no more of it than the header.
func (c client) begin(t testing.TB, header ...string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	header = append([]string{"Accept-Encoding", "identity"}, header...) // or it would be so short that nobody has to wait for its reader
	response := c.send(ctx, t, http.MethodGet, aStatement, nil, header...)
	t.Cleanup(func() { response.Body.Close() })
	return response
}

// A statement that is larger than any buffer arrives whole.
func TestStatement_Large(t *testing.T) {
	const rows = 20_000
	s := onSQLite(t, options{limits: ample, rewards: books{rows: rows}})
	c := s.anyone(t, "rewards:read")
	for accept, count := range map[string]func(body []byte) int{
		"application/json": func(body []byte) int { return bytes.Count(body, []byte(`"hotspot_id"`)) },
		"text/csv":         func(body []byte) int { return bytes.Count(body, []byte("\n")) - 1 },
	} {
		response := c.begin(t, "Accept", accept)
		body, err := io.ReadAll(response.Body)
		if err != nil || count(body) != rows || response.ContentLength != -1 || !strings.HasPrefix(response.Header.Get("Content-Type"), accept) {
			t.Errorf("%s: %d rows, %v, %v", accept, count(body), response.Header, err)
		}
	}
}

// A statement that cannot be read to its end never looks like a whole one.
func TestStatement_CutOff(t *testing.T) {
	broken := errors.New(secret)
	s := onSQLite(t, options{limits: ample, rewards: books{rows: 20_000, fail: broken}})
	c := s.anyone(t, "rewards:read")
	for _, accept := range []string{"application/json", "text/csv"} {
		response := c.begin(t, "Accept", accept)
		body, err := io.ReadAll(response.Body)
		if response.StatusCode != http.StatusOK || !errors.Is(err, io.ErrUnexpectedEOF) || len(body) < 1<<20 {
			t.Errorf("%s: %s, %d bytes, %v; want a connection that is cut off", accept, response.Status, len(body), err)
		}
		if _, err := statement.Verify(bytes.NewReader(body), nil); err == nil {
			t.Errorf("%s: what was cut off verifies", accept)
		}
	}
	harness.Eventually(t, "the log", func() bool { return strings.Count(s.log.String(), secret) == 2 })

	// What fails before anything was sent is an error like any other.
	small := client{server: onSQLite(t, options{limits: ample, rewards: books{fail: broken}})}
	c = small.anyone(t, "rewards:read")
	for _, accept := range []string{"application/json", "text/csv"} {
		a := c.get(t, aStatement, "Accept", accept)
		wantFault(t, a, http.StatusInternalServerError, "internal_error")
		if a.Header.Get("Content-Disposition") != "" {
			t.Errorf("%s calls itself a file: %v", a, a.Header)
		}
	}
}

// What takes too long before anything was sent can be tried again.
func TestStatement_TooSlow(t *testing.T) {
	s := onSQLite(t, options{limits: ample, rewards: books{fail: contextDeadline}})
	wantFault(t, s.anyone(t, "rewards:read").get(t, aStatement), http.StatusServiceUnavailable, "overloaded")
}

// What is not the name of a month names no statement, though all are settled.
func TestStatement_Months(t *testing.T) {
	s := onSQLite(t, options{limits: ample, rewards: books{}})
	c := s.anyone(t, "rewards:read")
	c.get(t, aStatement).want(t, http.StatusOK)
	for _, rest := range []string{"-01", "%00", "%20", "0", "%2F", "%0a"} {
		wantFault(t, c.get(t, aStatement+rest), http.StatusNotFound, "not_found")
	}
}

// HEAD tells what GET would, and reads no rows for it.
func TestStatement_Head(t *testing.T) {
	s := onSQLite(t, options{limits: ample, rewards: books{fail: errors.New("a row was read")}})
	c := s.anyone(t, "rewards:read")
	head := c.do(t, "HEAD", aStatement, "", "Accept", "text/csv").want(t, http.StatusOK)
	if head.Header.Get("Content-Type") != "text/csv; charset=utf-8; header=present" || head.Header.Get("Vary") != "Accept, Accept-Encoding" || head.Header.Get("Content-Disposition") == "" {
		t.Errorf("HEAD: %v", head.Header)
	}
	if log := s.log.String(); strings.Contains(log, "a row was read") {
		t.Errorf("the log says %s", log)
	}
}

// Someone who does not read is let go, and does not keep others waiting.
func TestStatement_SlowReader(t *testing.T) {
	s := onSQLite(t, options{limits: ample, rewards: books{rows: 100_000}})
	s.api.SetReaderTime(50 * time.Millisecond)
	c := s.anyone(t, "rewards:read")
	conn := c.readLittle(t, aStatement)
	harness.Eventually(t, "it to be let go", func() bool { return s.api.StatementReaders() == 0 })
	read, err := io.ReadAll(conn) // what was on its way, and then the end
	if len(read) == 0 || bytes.HasSuffix(read, []byte("\r\n0\r\n\r\n")) {
		t.Errorf("read %d bytes up to a proper end, %v", len(read), err)
	}
}

// A statement outlives the limits of a server for answers that are at hand.
func TestStatement_OutlivesTimeouts(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	s := onSQLite(t, options{limits: ample, rewards: books{rows: 40_000}, timeout: timeout})
	response := s.anyone(t, "rewards:read").begin(t)
	piece := make([]byte, 1<<20)
	for range 5 { // which takes twice as long as the timeout
		if _, err := io.ReadFull(response.Body, piece); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * timeout / 5) // a slow reader is one that takes its time
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Errorf("then %v", err)
	}
}

// A few are read at once: by one key, and by all.
func TestStatement_HowMany(t *testing.T) {
	s := onSQLite(t, options{limits: ample, rewards: books{rows: 100_000}})
	var first client
	for i := range api.MaxStatements / api.MaxStatementsAKey {
		c := s.anyone(t, "rewards:read")
		if i == 0 {
			first = c
		}
		for range api.MaxStatementsAKey {
			c.begin(t)
		}
	}
	harness.Eventually(t, "all of them", func() bool { return s.api.StatementReaders() == api.MaxStatements })
	for _, refused := range []struct {
		client
		status int
		code   string
	}{{first, http.StatusTooManyRequests, "rate_limit_exceeded"}, {s.anyone(t, "rewards:read"), http.StatusServiceUnavailable, "overloaded"}} {
		a := refused.get(t, aStatement)
		wantFault(t, a, refused.status, refused.code)
		if a.Header.Get("Retry-After") == "" {
			t.Errorf("%s has no Retry-After", a)
		}
	}
}

// When the server stops, a statement that does not end is ended.
func TestStatement_Stop(t *testing.T) {
	s := onSQLite(t, options{limits: ample, rewards: books{rows: 20_000, endless: true}})
	s.api.SetGrace(time.Millisecond)
	response := s.anyone(t, "rewards:read").begin(t)
	if _, err := io.CopyN(io.Discard, response.Body, 1<<20); err != nil {
		t.Fatal(err)
	}
	s.api.Stop()
	if _, err := io.Copy(io.Discard, response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("it ended with %v", err)
	}
}
