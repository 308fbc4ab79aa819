//go:build linux

package harness

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// poolerPort names the socket of a pooler. None listens on a port.
const poolerPort = "6432"

// throughPooler reports whether an address is that of a Pooler.
func throughPooler(db string) bool { return strings.Contains(db, "port="+poolerPort) }

// Pooler is a PgBouncer of a test's own that lends each transaction another session.
type Pooler struct {
	folder string // of the socket, the log and the configuration
	server *exec.Cmd
	exited chan struct{}
}

// NewPooler starts a PgBouncer in front of the server of a database. More are lines of its
// configuration.
func NewPooler(t testing.TB, database string, more ...string) *Pooler {
	t.Helper()
	address := parseURL(t, database)
	host, port := address.Hostname(), address.Port()
	if host == "" {
		host = address.Query().Get("host")
	}
	behind := fmt.Sprintf("host=%s user=%s", host, address.User.Username())
	if port != "" {
		behind += " port=" + port
	}
	p := &Pooler{folder: clusterFolder(t)}
	lines := append([]string{
		"[databases]", "* = " + behind,
		"[pgbouncer]", "pool_mode = transaction", "server_round_robin = 1", "auth_type = any", "auth_file =",
		"listen_port = " + poolerPort, "listen_addr =", "unix_socket_dir = " + p.folder, "logfile = " + filepath.Join(p.folder, "log"),
		"max_client_conn = 1000", "default_pool_size = 30", "server_login_retry = 1",
	}, more...)
	if err := os.WriteFile(p.config(), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	handOver(t, p.config())
	p.Start(t)
	return p
}

func (p *Pooler) config() string { return filepath.Join(p.folder, "pgbouncer.ini") }

// Start runs PgBouncer and waits until it takes connections.
func (p *Pooler) Start(t testing.TB) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer")
	}
	if err != nil {
		t.Skipf("NOT TESTED: a database behind a pooler: %v; make check installs pgbouncer where it may", err)
	}
	p.server = exec.Command(program, p.config())
	p.server.Dir = p.folder
	p.server.SysProcAttr = &syscall.SysProcAttr{Credential: serverUser(t), Pdeathsig: syscall.SIGKILL}
	if err := p.server.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	p.exited = exited
	go func() {
		_ = p.server.Wait() // it is ended by a signal
		close(exited)
	}()
	t.Cleanup(p.Kill)
	Eventually(t, "PgBouncer takes connections", func() bool {
		select {
		case <-exited:
			log, _ := os.ReadFile(filepath.Join(p.folder, "log"))
			t.Fatalf("PgBouncer ended:\n%s", log)
		default:
		}
		conn, err := net.Dial("unix", p.socket())
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// Kill ends PgBouncer at once, with the connections of its clients.
func (p *Pooler) Kill() {
	_ = p.server.Process.Kill()
	<-p.exited
	_ = os.Remove(p.socket())
}

// URL is the address of a database through the pooler.
func (p *Pooler) URL(t testing.TB, database string) string {
	t.Helper()
	address := parseURL(t, database)
	settings := address.Query()
	settings.Set("host", p.folder)
	settings.Set("port", poolerPort)
	through := url.URL{Scheme: address.Scheme, User: address.User, Path: address.Path, RawQuery: settings.Encode()}
	return through.String()
}

func (p *Pooler) socket() string { return filepath.Join(p.folder, ".s.PGSQL."+poolerPort) }
