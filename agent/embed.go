package agent

import "embed"

// Files are the agent, its services and settings, what packages are made of, and a script
// that installs them.
//
//go:embed beacon-agent install linux openwrt/beacon-agent/files openwrt/ipk openwrt/luci-app-beacon
var Files embed.FS
