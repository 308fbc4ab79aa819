//go:build linux

package agent_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// stubs stand for programs that Debian does not have, or that need hardware. Those that
// print what the hardware is like print a file of the folder TEST_ANSWERS, named after
// the words they were called with, and fail without one.
var stubs = map[string]func(args []string) int{
	"hostapd_cli":   func(args []string) int { return replay("hostapd_cli", args) },
	"iw":            func(args []string) int { return replay("iw", args) },
	"jsonfilter":    jsonfilter,
	"ping":          func([]string) int { return replay("ping", nil) },
	"sleep":         sleep,
	"ubus":          ubus,
	"uci":           uci,
	"uclient-fetch": uclientFetch,
}

func answersFolder() string { return os.Getenv("TEST_ANSWERS") }

func replay(program string, args []string) int {
	name := strings.ReplaceAll(strings.Join(append([]string{program}, args...), " "), "/", "_")
	text, err := os.ReadFile(filepath.Join(answersFolder(), name))
	if err != nil {
		return 237
	}
	_, _ = os.Stdout.Write(text)
	return 0
}

// ubus does what testdata/tools/ubus.txt records of the program: an object is there if there
// is an answer of it.
func ubus(args []string) int {
	if len(args) < 2 {
		return 1
	}
	names, _ := filepath.Glob(filepath.Join(answersFolder(), "ubus call "+args[1]+" *"))
	for i, name := range names {
		names[i] = strings.Fields(filepath.Base(name))[2]
	}
	switch {
	case args[0] == "list" && len(names) > 0:
		for _, name := range slices.Compact(names) {
			fmt.Println(name)
		}
		return 0
	case args[0] == "call" && replay("ubus", args) == 0:
		return 0
	case args[0] == "call" && len(names) > 0:
		fmt.Fprintf(os.Stderr, "Command failed: ubus %s (Method not found)\n", strings.Join(args, " "))
		return 253
	}
	fmt.Fprintln(os.Stderr, "Command failed: Not found")
	return 4
}

func exitOf(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

// sleep records the time, and passes little of it.
func sleep(args []string) int {
	file, err := os.OpenFile(filepath.Join(answersFolder(), "slept"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 1
	}
	defer file.Close()
	if _, err := fmt.Fprintln(file, args[0]); err != nil {
		return 1
	}
	time.Sleep(10 * time.Millisecond) // the agent must not use all of the machine
	return 0
}

// uclientFetch has the options, messages and exit codes of OpenWrt's program as of
// 24.10. Like it, it shows no headers, and the body of a 200 only, sends chunks, and
// compares the name of the server after it has sent the request.
func uclientFetch(args []string) int {
	request, _ := http.NewRequest(http.MethodGet, "http://invalid", nil)
	roots, output := x509.NewCertPool(), ""
	quiet := false
	for i := 0; i < len(args); i++ {
		name, value, _ := strings.Cut(args[i], "=")
		switch name {
		case "-q":
			quiet = true
		case "-T", "-O":
			i++
			if name == "-O" {
				output = args[i]
			}
		case "--ca-certificate":
			text, _ := os.ReadFile(value)
			roots.AppendCertsFromPEM(text)
		case "--user-agent":
			request.Header.Set("User-Agent", value)
		case "--header":
			key, text, _ := strings.Cut(value, ": ")
			request.Header.Set(key, text)
		case "--post-data", "--post-file":
			data := []byte(value)
			if name == "--post-file" {
				data, _ = os.ReadFile(value)
			}
			request.Method, request.ContentLength = http.MethodPost, -1
			request.Body = io.NopCloser(bytes.NewReader(data))
		default:
			if strings.HasPrefix(name, "-") {
				return fetchUsage()
			}
			request.URL, _ = request.URL.Parse(args[i])
			request.Host = ""
		}
	}
	if request.URL.Host == "invalid" {
		return fetchUsage()
	}
	say := func(format string, values ...any) {
		if !quiet {
			fmt.Fprintf(os.Stderr, format+"\n", values...)
		}
	}
	say("Downloading '%s'", request.URL)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	response, err := client.Do(request)
	var certificate *tls.CertificateVerificationError
	var hostname x509.HostnameError
	switch {
	case errors.As(err, &hostname):
		client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		_, _ = client.Do(request)
		say("Connection error: Server hostname does not match SSL certificate")
		return 5
	case errors.As(err, &certificate):
		say("Connection error: Invalid SSL certificate")
		return 5
	case err != nil:
		say("Connection error: Connection failed")
		return 4
	case response.StatusCode != http.StatusOK && response.StatusCode != http.StatusNoContent:
		say("HTTP error %d", response.StatusCode)
		return 8
	}
	say("Writing to stdout\n - 0%% |                     |     0   0:00:00 ETA")
	if output == "-" {
		_, err = io.Copy(os.Stdout, response.Body)
	}
	say("Download completed")
	if err != nil {
		return 3
	}
	return 0
}

func fetchUsage() int {
	fmt.Fprintln(os.Stderr, "Usage: uclient-fetch [options] <URL>\nOptions:\n\t--header='Header: value'\tAdd HTTP header. Multiple allowed")
	return 1
}
