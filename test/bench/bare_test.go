package bench

import (
	"encoding/gob"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// canned is an answer that the bare handler repeats, byte for byte.
type canned struct {
	Header http.Header
	Body   []byte
}

const bareVariable = "BEACON_BENCH_BARE"

// TestMain lets the test binary be the bare server too.
func TestMain(m *testing.M) {
	if file := os.Getenv(bareVariable); file != "" {
		serveBare(file)
	}
	os.Exit(m.Run())
}

// bare starts a server that does nothing but answer.
func bare(b *testing.B, answer canned) *process {
	b.Helper()
	name := filepath.Join(b.TempDir(), "answer")
	file, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	if err := gob.NewEncoder(file).Encode(answer); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), bareVariable+"="+name)
	return start(b, cmd)
}

// serveBare is the limit: the least that a net/http handler can do to write
// these bytes. Its header values are made once, not for each answer.
func serveBare(name string) {
	file, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	var answer canned
	if err := gob.NewDecoder(file).Decode(&answer); err != nil {
		panic(err)
	}
	answer.Header.Del("Date") // net/http writes it
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			_, _ = io.ReadAll(r.Body)
		}
		header := w.Header()
		maps.Copy(header, answer.Header)
		_, _ = w.Write(answer.Body)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("bare: listening on http://%s\n", ln.Addr())
	panic(http.Serve(ln, http.HandlerFunc(handler)))
}
