package agentsite

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"

	"github.com/beacon-wifi/beacon/internal/qrsvg"
)

// commandPath is where the console asks for the command that links a device. The code is
// in the body, since URLs are logged.
const commandPath = base + "/command"

// codeForm is what a code may look like: no character of it means anything to a shell.
var codeForm = regexp.MustCompile(`^[0-9A-Za-z-]{1,32}$`)

// plainURL has no character that means anything to a shell.
var plainURL = regexp.MustCompile(`^[0-9A-Za-z:/._~%-]+$`)

// command returns what installs the agent and links the device. shell is what runs it.
func command(url, shell, code string) string {
	at := url + base + "/install"
	if !plainURL.MatchString(at) {
		at = quote(at)
	}
	if code == "" {
		code = "CODE"
	}
	return "wget -qO- " + at + " | " + shell + " -s -- " + code
}

// shown is a command, and a picture of it to read with a phone.
type shown struct {
	Command string   `json:"command"`
	QR      []string `json:"qr"`      // paths of an SVG image
	Size    int      `json:"qr_size"` // of its square
}

// answer is the response.
type answer struct {
	URL     string `json:"url"` // where devices reach the server
	OpenWrt shown  `json:"openwrt"`
	Linux   shown  `json:"linux"`
}

func (s *Site) serveCommand(w http.ResponseWriter, r *http.Request) {
	r.Pattern = routeCommand
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	code, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64))
	if err != nil || !codeForm.Match(code) {
		http.Error(w, "the body is not a code for linking", http.StatusBadRequest)
		return
	}
	a := answer{URL: s.url}
	for shell, one := range map[string]*shown{"sh": &a.OpenWrt, "sudo sh": &a.Linux} {
		one.Command = command(s.url, shell, string(code))
		if drawn, err := qrsvg.Draw(one.Command); err == nil { // else the address is too long for a picture
			one.QR, one.Size = drawn.Rows, drawn.Size
		}
	}
	h.Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a) // the client may have left
}
