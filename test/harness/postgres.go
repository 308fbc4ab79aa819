//go:build linux

package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
)

// Cluster is a PostgreSQL server of a test's own, which may be stopped and
// replaced by another. It listens in a folder, on no port that another could take
// while it is down.
type Cluster struct {
	folder   string // of the socket, the log and the data
	settings []string
	off      string // how far its clock is off, as faketime takes it
	server   *exec.Cmd
	exited   chan struct{}
}

// A process may be killed at any time and leave its files as it wrote them: to
// sync them is for power cuts, which these tests are not about.
var clusterSettings = []string{
	"-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200", "-c", "deadlock_timeout=200ms",
	"-c", "wal_keep_size=256MB", "-c", "max_wal_size=1GB",
}

// NewCluster makes a cluster and starts it.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	return newCluster(t, "")
}

// NewClusterOff makes one whose clock is off, such as by "+40d"; it skips the test
// where that cannot be done.
func NewClusterOff(t testing.TB, by string) *Cluster {
	t.Helper()
	if _, err := exec.LookPath("faketime"); err != nil {
		t.Skipf("NOT TESTED: a database whose clock is wrong: %v; make torture installs faketime where it may", err)
	}
	return newCluster(t, by)
}

func newCluster(t testing.TB, off string) *Cluster {
	t.Helper()
	c := &Cluster{folder: clusterFolder(t), off: off}
	c.create(t)
	return c
}

// create makes the files of the cluster, and starts it.
func (c *Cluster) create(t testing.TB, flags ...string) {
	t.Helper()
	usual := []string{"-D", c.data(), "-U", "beacon", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"}
	c.run(t, "initdb", append(usual, flags...)...)
	c.Start(t)
	c.Exec(t, `CREATE DATABASE beacon`)
}

// clusterFolder makes a folder that belongs to who runs the servers, and that
// they can reach, as they cannot the temporary folders of tests.
func clusterFolder(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "beacon-cluster")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	handOver(t, folder)
	return folder
}

// handOver gives a folder to who runs the servers.
func handOver(t testing.TB, folder string) {
	t.Helper()
	if as := serverUser(t); as != nil {
		if err := os.Chown(folder, int(as.Uid), int(as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// serverUser is who runs PostgreSQL, which refuses to run as root; nil is the
// user of the test.
func serverUser(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatalf("nobody to run PostgreSQL as: %v", err)
	}
	uid, _ := strconv.ParseUint(account.Uid, 10, 32) // numbers, on this system
	gid, _ := strconv.ParseUint(account.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// tool finds a program of PostgreSQL's server: the newest.
func tool(t testing.TB, name string) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	slices.SortFunc(found, func(a, b string) int { return len(a) - len(b) + strings.Compare(a, b) })
	if len(found) > 0 {
		return found[len(found)-1]
	}
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv(storetest.PostgresVariable) != "" { // make test names a server, so its programs must be there
			t.Fatalf("PostgreSQL's %s is not here: %v", name, err)
		}
		t.Skipf("this needs PostgreSQL's %s: run make test", name)
	}
	return path
}

func (c *Cluster) data() string { return filepath.Join(c.folder, "data") }

// URL is the address of the cluster's database.
func (c *Cluster) URL() string { return c.url("beacon") }

func (c *Cluster) url(database string) string {
	return "postgres://beacon@/" + database + "?sslmode=disable&host=" + c.folder
}

func (c *Cluster) command(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(tool(t, name), args...)
	cmd.Dir = c.folder
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: serverUser(t), Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (c *Cluster) run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := c.command(t, name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// Start runs the server and waits until it takes connections.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(c.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c.server = c.command(t, "postgres", slices.Concat([]string{"-D", c.data(), "-k", c.folder}, clusterSettings, c.settings)...)
	if c.off != "" {
		c.server.Args = append([]string{"faketime", "-f", c.off}, c.server.Args...)
		if c.server.Path, err = exec.LookPath("faketime"); err != nil {
			t.Fatal(err)
		}
	}
	c.server.Stdout, c.server.Stderr = log, log
	if err := c.server.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	c.exited = exited
	go func() {
		_ = c.server.Wait() // it is ended by a signal
		close(exited)
	}()
	t.Cleanup(func() { c.Stop(t) })
	Eventually(t, "PostgreSQL takes connections; its log: "+log.Name(), func() bool {
		// As pg_ctl does it: the eighth line of this file is the server's state.
		text, _ := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
		lines := strings.Split(string(text), "\n")
		return len(lines) > 7 && strings.TrimSpace(lines[7]) == "ready"
	})
}

// Stop ends the server at once, as "pg_ctl stop -m immediate" does: what it was
// at is found in its log when it starts again.
func (c *Cluster) Stop(t testing.TB) {
	select {
	case <-c.exited:
		return
	default:
	}
	_ = c.server.Process.Signal(syscall.SIGQUIT)
	select {
	case <-c.exited:
	case <-time.After(Patience):
		t.Error("PostgreSQL does not end")
		_ = c.server.Process.Kill()
	}
}

// Restart ends the server at once and starts it again.
func (c *Cluster) Restart(t testing.TB) {
	t.Helper()
	c.Stop(t)
	c.Start(t)
}

// Exec runs statements outside of any transaction.
func (c *Cluster) Exec(t testing.TB, statements ...string) {
	t.Helper()
	db := OpenSQL(t, c.url("postgres"))
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func (c *Cluster) ask(t testing.TB, question string) (answer string) {
	t.Helper()
	db := OpenSQL(t, c.url("postgres"))
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), question).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	return answer
}

// NewStandby makes a cluster that follows this one.
func (c *Cluster) NewStandby(t testing.TB) *Cluster {
	t.Helper()
	s := &Cluster{folder: clusterFolder(t)}
	s.run(t, "pg_basebackup", "-D", s.data(), "-d", fmt.Sprintf("host=%s user=beacon", c.folder), "-R", "-c", "fast", "--no-sync")
	s.Start(t)
	Eventually(t, "the standby follows", func() bool {
		return c.ask(t, `SELECT count(*)::text FROM pg_stat_replication WHERE state = 'streaming'`) == "1"
	})
	return s
}

// Synchronous says whether a commit is acknowledged only once the standby has it.
func (c *Cluster) Synchronous(t testing.TB, on bool) {
	t.Helper()
	names := ""
	if on {
		names = "*"
	}
	c.Exec(t, fmt.Sprintf(`ALTER SYSTEM SET synchronous_standby_names = '%s'`, names), `SELECT pg_reload_conf()`)
	Eventually(t, "the setting is in force", func() bool {
		state := c.ask(t, `SELECT coalesce(max(sync_state), '') FROM pg_stat_replication`)
		return c.ask(t, `SHOW synchronous_standby_names`) == names && (state == "sync") == on
	})
}

// Promote makes a standby the primary; it waits for no standby of its own.
func (c *Cluster) Promote(t testing.TB) {
	t.Helper()
	c.Exec(t, `SELECT pg_promote()`, `ALTER SYSTEM SET synchronous_standby_names = ''`, `SELECT pg_reload_conf()`)
	Eventually(t, "the standby waits for nobody", func() bool {
		return c.ask(t, `SHOW synchronous_standby_names`) == ""
	})
}
