package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/beacon-wifi/beacon/internal/basemap/basemaptest"
	"github.com/beacon-wifi/beacon/test/harness"
)

// scriptCommands are what the scripts can say beside testscript's own words, which
// they cannot replace.
func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"server":   scriptServer,
		"shutdown": scriptShutdown,
		"fetch":    scriptFetch,
		"download": scriptDownload,
		"await":    scriptAwait,
		"keep":     scriptKeep,
		"sql":      scriptSQL,
		"city":     scriptCity,
	}
}

// scriptCity is "city SCHEMA FILE": it writes a file of streets.
func scriptCity(ts *testscript.TestScript, _ bool, args []string) {
	city := basemaptest.City{Lat: 52.52, Lng: 13.405, Schema: args[0]}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), city.Encode(), 0o600))
}

// running is the key under which a script finds its server.
const running = "BEACON_TEST_SERVER_PID"

// scriptServer is "server FLAG…": it runs "beacon serve" until the script ends,
// and puts its address into $URL.
func scriptServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("say ! exec beacon serve")
	}
	cmd := exec.Command("beacon", append([]string{"serve", "--admin-addr", "off"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = os.Environ()
	for _, name := range []string{"BEACON_DB", "BEACON_ADDR", "BEACON_RATE_LIMIT", "BEACON_LOAD_SHEDDING", "BEACON_CLOCK_START", "BEACON_CLOCK_RATE"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	if ts.Getenv("BEACON_ADDR") == "" {
		cmd.Args = append(cmd.Args, "--addr", "127.0.0.1:0")
	}
	log, err := os.Create(filepath.Join(ts.MkAbs("."), "server.log"))
	ts.Check(err)
	defer log.Close()
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	exited := make(chan struct{})
	line, _ := bufio.NewReader(out).ReadString('\n')
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		<-exited
	})
	url, ready := strings.CutPrefix(strings.TrimSpace(line), "beacon: listening on ")
	if !ready {
		ts.Fatalf("the server printed %q; its log: %s", line, ts.ReadFile("server.log"))
	}
	ts.Setenv("URL", url)
	ts.Setenv(running, fmt.Sprint(cmd.Process.Pid))
}

// scriptShutdown ends the server as a supervisor does, and waits for that. ("stop"
// is a word of testscript's own, and would end the script.)
func scriptShutdown(ts *testscript.TestScript, _ bool, _ []string) {
	var pid int
	_, err := fmt.Sscan(ts.Getenv(running), &pid)
	ts.Check(err)
	ts.Check(syscall.Kill(pid, syscall.SIGTERM))
	for deadline := time.Now().Add(harness.Patience); syscall.Kill(pid, 0) == nil; {
		if time.Now().After(deadline) {
			ts.Fatalf("the server does not stop")
		}
		time.Sleep(5 * time.Millisecond) // between two looks, up to a deadline
	}
}

// scriptFetch is "fetch METHOD PATH KEY [BODY]": it prints status, headers and
// body of the answer.
func scriptFetch(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 || neg {
		ts.Fatalf("usage: fetch METHOD PATH KEY [BODY]")
	}
	response := ask(ts, args)
	defer response.Body.Close()
	fmt.Fprintln(ts.Stdout(), response.Status)
	ts.Check(response.Header.Write(ts.Stdout()))
	_, err := io.Copy(ts.Stdout(), response.Body)
	ts.Check(err)
}

// scriptDownload is "download FILE PATH KEY TYPE": it keeps what the server sends.
func scriptDownload(ts *testscript.TestScript, _ bool, args []string) {
	response := ask(ts, []string{"GET", args[1], args[2]}, "Accept", args[3])
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		ts.Fatalf("the answer is %s", response.Status)
	}
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), body, 0o600))
}

func ask(ts *testscript.TestScript, args []string, header ...string) *http.Response {
	var body io.Reader
	if len(args) > 3 {
		body = strings.NewReader(args[3])
	}
	request, err := http.NewRequest(args[0], ts.Getenv("URL")+args[1], body)
	ts.Check(err)
	request.Header.Set("Authorization", "Bearer "+args[2])
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	return response
}

// scriptAwait is "await STATUS METHOD PATH KEY": it asks until that is the answer.
func scriptAwait(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(harness.Patience); ; {
		response := ask(ts, args[1:])
		response.Body.Close()
		if fmt.Sprint(response.StatusCode) == args[0] {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("the answer is still %s", response.Status)
		}
		time.Sleep(5 * time.Millisecond) // between two looks, up to a deadline
	}
}

// scriptKeep is "keep VARIABLE [FIELD]": it puts what was printed last, or a
// field of the JSON object in it, such as data.code, into a variable.
func scriptKeep(ts *testscript.TestScript, _ bool, args []string) {
	value := strings.TrimSpace(ts.ReadFile("stdout"))
	if len(args) == 2 {
		var object any
		ts.Check(json.Unmarshal([]byte(value[strings.Index(value, "{"):]), &object))
		for name := range strings.SplitSeq(args[1], ".") {
			object = object.(map[string]any)[name] //nolint:forcetypeassert // a script that is wrong fails
		}
		value = fmt.Sprint(object)
	}
	ts.Setenv(args[0], value)
}

// scriptSQL is "sql FILE STATEMENT": what a script does to a database behind
// the program's back.
func scriptSQL(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(args[1])
	ts.Check(err)
}
