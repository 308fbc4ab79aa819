package agent

import (
	"bytes"
	"embed"
)

// Files are the agent, its services and settings, what packages are made of, and a script
// that installs them.
//
//go:embed beacon-agent install linux openwrt/beacon-agent/files openwrt/ipk openwrt/luci-app-beacon
var Files embed.FS

// Version returns that of the agent, as "beacon-agent version" prints it.
func Version() string {
	program, _ := Files.ReadFile("beacon-agent") // it is embedded
	_, rest, _ := bytes.Cut(program, []byte("\nVERSION="))
	version, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(version)
}
