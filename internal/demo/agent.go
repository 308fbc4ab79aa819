package demo

import (
	"time"

	"github.com/beacon-wifi/beacon/agent"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Earlier versions of the agent, which the console asks to replace. Their numbers are made
// up, as the devices are.
const (
	agentBefore = "0.9.4"
	agentOld    = "0.8.2"
)

// box is a kind of device.
type box struct{ model, firmware, kernel string }

// boxes are kinds of devices that people run; the first are the most frequent.
var boxes = []box{
	{"GL.iNet GL-MT3000", "OpenWrt 24.10.2", "6.6.93"},
	{"Linksys WRT3200ACM", "OpenWrt 23.05.5", "5.15.167"},
	{"Ubiquiti UniFi 6 Lite", "OpenWrt 24.10.2", "6.6.93"},
	{"Cudy WR3000 v1", "OpenWrt 23.05.5", "5.15.167"},
	{"Raspberry Pi 4 Model B", "Debian GNU/Linux 12", "6.1.0"},
	{"TP-Link TL-WDR4300 v1", "OpenWrt 19.07.10", "4.14.275"},
}

// agentOf returns what a device reports when it is linked. Some devices have a program of
// their own that reports nothing.
func agentOf(mac beacon.MAC, odd oddity, linked time.Time) (a beacon.Agent) {
	at := hash("agent " + mac.Canonical())
	kind, version := at%100, at/100%100
	if odd == outdated {
		kind, version = 60, 99
	}
	if kind >= 92 {
		return a
	}
	is := boxes[0]
	for i, below := range []uint32{34, 56, 70, 80, 86} {
		if kind >= below {
			is = boxes[i+1]
		}
	}
	a = beacon.Agent{
		Version: agent.Version(), Model: is.model, Firmware: is.firmware, Kernel: is.kernel, BSSID: mac, Radios: 2,
		Channel: []int{1, 6, 11, 36, 44}[at/10_000%5], At: linked,
	}
	switch {
	case version >= 94:
		a.Version = agentOld
	case version >= 82:
		a.Version = agentBefore
	}
	return a
}
