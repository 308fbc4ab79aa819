package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// exchange sends JSON and gives the data of the answer.
func exchange(t *testing.T, method, url, key, body string) map[string]any {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Data  map[string]any
		Error any
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s answered %d %v, %v", method, url, response.StatusCode, answer.Error, err)
	}
	return answer.Data
}

// makeKey makes a key on the command line.
func makeKey(t *testing.T, db string, scopes string) string {
	t.Helper()
	out, err := exec.Command("beacon", "keys", "create", "--db", db, "--user", "new", "--scopes", scopes).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// What opens something is told once, to who may have it: it stands neither in the
// database nor in its log, nor in what the server logs, and neither do MAC addresses
// stand in the latter.
func TestServe_KeepsSecrets(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	db := filepath.Join(folder, "beacon.db")
	admin := makeKey(t, db, "admin")
	p := startServer(t, []string{"BEACON_LOG_LEVEL=debug"}, "--db", db)
	made := exchange(t, "POST", p.url+"/v1/keys", admin, `{"scopes":["hotspots:write"]}`)["key"].(string)
	hotspot := exchange(t, "POST", p.url+"/v1/hotspots", made, `{"name":"Home","type":"home","location":{"lat":40.712776,"lng":-74.005974,"address":"7 Hidden Lane"},
		"device":{"ssid":"home","mac_address":"02:00:5e:77:88:99"}}`)["id"].(string)
	code := exchange(t, "POST", p.url+"/v1/hotspots/"+hotspot+"/link-code", made, "")["code"].(string)
	device := exchange(t, "POST", p.url+"/v1/devices/link", "", fmt.Sprintf(`{"code":%q,"mac_address":"02005e778899"}`, code))["device_key"].(string)
	exchange(t, "POST", p.url+"/v1/hotspots/"+hotspot+"/heartbeats", device, `{"boot_id":"a","seq":0,"clients":1,"rx_bytes":1,"tx_bytes":1}`)
	fetch(t, p.url+"/v1/hotspots/nearby?lat=40.712776&lng=-74.005974&access_token="+made, "Authorization", "Bearer "+made)
	fetch(t, p.url+"/v1/hotspots/"+made, "Authorization", "Bearer "+made+"x")

	secrets := []string{code, strings.ReplaceAll(code, "-", "")}
	for _, key := range []string{admin, made, device} {
		secrets = append(secrets, key, strings.Split(key, "_")[2][:30])
	}
	search := func(where, text string, words ...string) {
		t.Helper()
		for _, word := range words {
			if strings.Contains(text, word) {
				t.Errorf("%s has %.12q…", where, word)
			}
		}
	}
	files, err := filepath.Glob(db + "*")
	if err != nil || len(files) < 2 { // with the write-ahead log, which has what was written last
		t.Fatalf("the database is %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		search(filepath.Base(file), string(text), secrets...)
	}
	p.stop(t)
	if !strings.Contains(p.log.String(), `"route":"POST /v1/devices/link"`) {
		t.Fatalf("the log is not that of these requests: %s", p.log)
	}
	search("the server's log", p.log.String(), append(secrets, "02:00:5e", "02005e778899", "40.712776", "Hidden Lane", "access_token")...)
}

// A key of one interface opens nothing of the other.
func TestServe_KeysStayApart(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "beacon.db")
	key := makeKey(t, db, "admin")
	p := startServer(t, nil, "--db", db)
	for _, tc := range []struct {
		path   string
		header []string
		status int
	}{
		{"/v1/keys/self", []string{"Authorization", "Bearer " + key}, 200},
		{"/v1/keys/self", []string{"x-api-key", key}, 401},
		{"/v1/keys/self", []string{"Authorization", "Bearer svc_test_demo01"}, 401},
		{"/v1/keys/self", []string{"x-api-key", "svc_test_demo01"}, 401},
		{"/api/v1/hotspots", []string{"x-api-key", "svc_test_demo01"}, 200},
		{"/api/v1/hotspots", []string{"x-api-key", key}, 401},
		{"/api/v1/hotspots", []string{"Authorization", "Bearer " + key}, 401},
		{"/api/v1/nope", []string{"x-api-key", key}, 401},
		{"/api/v1/nope", []string{"x-api-key", "svc_test_demo01"}, 404},
	} {
		if status, body := fetch(t, p.url+tc.path, tc.header...); status != tc.status || strings.Contains(body, key) {
			t.Errorf("%s with %.30q answered %d %s; want %d", tc.path, tc.header, status, body, tc.status)
		}
	}
	p.stop(t)
}

// Whatever a client sends, it writes no line of its own into the log, and none
// that is no JSON.
func TestServe_LogsCannotBeForged(t *testing.T) {
	t.Parallel()
	p := startServer(t, []string{"BEACON_LOG_LEVEL=debug"})
	const forged = `{"msg":"forged"}`
	for _, text := range []string{
		"GET /v1/hotspots/%0a" + strings.ReplaceAll(forged, `"`, "%22") + "%0a HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /api/v1/hotspots?search=%0a%0d" + forged + "%0a HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\"}\t" + forged + "\r\nX-Forwarded-For: " + forged + "\r\nUser-Agent: " + forged + "\r\n\r\n",
		"FORGED\"} /v1/keys HTTP/1.1\r\nHost: " + "x\r\n\r\n",
		"GET /\n" + forged + "\n HTTP/1.1\r\nHost: x\r\n\r\n",
		forged + "\n" + forged + "\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, text)
		_ = conn.(*net.TCPConn).CloseWrite()
		if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
			t.Errorf("%.60q is not answered: %v", text, err)
		}
		conn.Close()
	}
	p.stop(t)
	lines := 0
	for line := range strings.Lines(p.log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry["msg"] == "forged" {
			t.Errorf("the log has the line %q", line)
		}
		if entry["msg"] == "request" {
			lines++
			if strings.Contains(line, "forged") || strings.Contains(line, "FORGED") {
				t.Errorf("a line of the access log has a client's words: %s", line)
			}
		}
	}
	if lines < 3 {
		t.Errorf("the log has %d requests: %s", lines, p.log)
	}
}
