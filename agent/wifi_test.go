//go:build linux

package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// recorded reads a file of testdata/wifi: what programs print on a device, under the
// words that they are called with.
func recorded(t testing.TB, b *box, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/wifi", name+".txt"))
	b.check(err)
	_, sections, _ := strings.Cut(string(text), "-- ")
	for section := range strings.SplitSeq("\n"+sections, "\n-- ") {
		if words, output, ok := strings.Cut(section, " --\n"); ok {
			b.answer(strings.TrimSpace(words), strings.TrimSuffix(output, "\n")+"\n")
		}
	}
}

// What the agent reports of the devices that we know. Each interface has carried
// another power of ten, so that the sum says which ones were counted.
func TestWiFi(t *testing.T) {
	const ubus, iw, cli = "ubus uci jsonfilter", "iw", "hostapd_cli"
	const vlans = "phy0-ap0=10 phy0-ap1=100 phy0-ap0-guests=1000 phy0-ap0-staff=10000 phy0-ap1-lab=100000 phy0-ap0.sta1=1000000"
	for _, c := range []struct {
		device, programs string
		interfaces       string // name=bytes
		settings         []string
		clients          int
		rssi             int // 0: none
		bytes            uint64
		silent           string // no heartbeat, because
	}{
		{device: "openwrt-19.07-ath9k", programs: ubus, interfaces: "wlan0=10 wlan0-1=100", clients: 3, bytes: 110},
		{device: "openwrt-19.07-ath9k", programs: ubus, interfaces: "wlan0=10 wlan0-1=100", settings: []string{`ssid=café "nord"`}, clients: 2, bytes: 10},
		{device: "openwrt-22.03-mt76", programs: ubus, interfaces: "wlan0=10 wlan0-1=100 wlan1=1000 wlan1-1=10000", clients: 4, rssi: -55, bytes: 11010},
		{device: "openwrt-22.03-mt76", programs: ubus, interfaces: "wlan0=10 wlan0-1=100 wlan1=1000 wlan1-1=10000", settings: []string{"ssid=guests"}, clients: 1, rssi: -55, bytes: 10000},
		{device: "openwrt-22.03-mt76", programs: ubus, interfaces: "wlan0=10 wlan0-1=100 wlan1=1000 wlan1-1=10000", settings: []string{"ssid=guests", "ssid=boathouse"}, clients: 4, rssi: -55, bytes: 11010},
		{device: "openwrt-22.03-mt76", programs: ubus, interfaces: "wlan0=10 wlan0-1=100 wlan1=1000 wlan1-1=10000", settings: []string{"interface=wlan1", "interface=wlan0"}, clients: 3, rssi: -71, bytes: 1010},
		{device: "openwrt-24.10-ath11k", programs: ubus, interfaces: "phy0-ap0=10 phy0-ap1=100 phy1-ap0=1000", clients: 5, rssi: -67, bytes: 1110},
		{device: "openwrt-25.12-mt7996", programs: ubus, interfaces: "phy0.0-ap0=10 phy0.1-ap0=100 phy0.1-mesh0=1000", clients: 1, rssi: -58, bytes: 110},
		{device: "openwrt-25.12-vlan", programs: ubus, interfaces: vlans, clients: 3, rssi: -61, bytes: 111110},
		{device: "openwrt-25.12-vlan", programs: ubus, interfaces: vlans, settings: []string{"ssid=Joe's boat house"}, clients: 2, rssi: -61, bytes: 11010},
		{device: "openwrt-25.12-vlan", programs: ubus, interfaces: vlans, settings: []string{"ssid=Joe's boat house", "ssid=office"}, clients: 3, rssi: -61, bytes: 111110},
		{device: "openwrt-25.12-vlan", programs: ubus, interfaces: vlans, settings: []string{"interface=phy0-ap1"}, clients: 1, rssi: -70, bytes: 100100},
		{device: "openwrt-empty", programs: ubus, silent: "no Wi-Fi interface is up"},
		{device: "openwrt-wifi-off", programs: ubus, silent: "no Wi-Fi interface is up"},
		{device: "openwrt-24.10-ath11k", programs: ubus, interfaces: "phy0-ap0=10", settings: []string{"ssid=elsewhere"}, silent: "no Wi-Fi interface is up"},
		{device: "openwrt-24.10-ath11k", programs: ubus, interfaces: "phy0-ap0=10", settings: []string{"interface=br-lan"}, silent: "no Wi-Fi interface is up"},
		{device: "openwrt-malformed", programs: ubus, interfaces: "wlan0=10"},
		{device: "openwrt-malformed", programs: ubus, interfaces: "wlan0=10", settings: []string{"interface=wlan0"}, bytes: 10},
		{device: "openwrt-no-netifd", programs: ubus + " " + iw, interfaces: "wlan0=10", bytes: 10},
		{device: "openwrt-hostapd-malformed", programs: ubus + " " + iw, interfaces: "phy0-ap0=10 phy0-ap1=100", clients: 2, rssi: -61, bytes: 110},
		{device: "raspberry-pi-brcmfmac", programs: iw, interfaces: "wlan0=10 wlan1=100", clients: 2, rssi: -52, bytes: 10},
		{device: "raspberry-pi-brcmfmac", programs: iw, interfaces: "wlan0=10 wlan1=100", settings: []string{"ssid=boathouse"}, clients: 2, rssi: -52, bytes: 10},
		{device: "debian-hostapd_cli", programs: cli, interfaces: "wlan0=10 wlan1=100", clients: 2, rssi: -63, bytes: 10},
		{device: "debian-hostapd_cli", programs: cli, interfaces: "wlan0=10 wlan1=100", settings: []string{"ssid=boathouse"}, clients: 2, rssi: -63, bytes: 10},
		{device: "debian-iw-vlan", programs: iw, interfaces: "wlan0=10 wlan0.10=100 wlan0.sta1=1000", clients: 2, rssi: -71, bytes: 110},
		{device: "no-tools", interfaces: "wlan0=10"},
		{device: "no-tools", interfaces: "wlan0=10 wlan1=100", settings: []string{"interface=wlan1"}, bytes: 100},
	} {
		t.Run(strings.Join(append([]string{c.device}, c.settings...), ","), func(t *testing.T) {
			t.Parallel()
			shell := shells[0]
			if !strings.Contains(c.programs, "ubus") {
				shell = shells[1]
			}
			b := newBox(t, shell, append(strings.Fields(c.programs), "curl")...)
			recorded(t, b, c.device)
			b.configure(c.settings...)
			for i, word := range strings.Fields(c.interfaces) {
				name, bytes, _ := strings.Cut(word, "=")
				b.network(name, 5+i, counters{uint64(len(bytes)), pow10(len(bytes)-1) - uint64(len(bytes)), 1, 1})
			}
			for _, wired := range []string{"br-lan", "eth0"} {
				b.write("sys/class/net/"+wired+"/operstate", "up\n")
			}
			server := newScripted(t)
			b.linkTo(server.URL, "link-1")
			b.boot(2)                                 // it was linked before it started
			for _, name := range []string{"a", "b"} { // which a shell could take for clients without a signal
				b.check(os.WriteFile(filepath.Join(b.folder, name), nil, 0o600))
			}
			s := b.run()
			if c.silent != "" {
				harness.Eventually(t, "it says why there is no heartbeat", func() bool {
					return len(b.slept()) > 3 && strings.Contains(s.said(), c.silent)
				})
				return
			}
			got := server.next(t)
			rssi := 0
			if got.RSSI != nil {
				rssi = *got.RSSI
			}
			if got.Clients != c.clients || rssi != c.rssi || got.RxBytes+got.TxBytes != c.bytes {
				t.Errorf("got %s; want %d clients, %d dBm and %d bytes", got.text, c.clients, c.rssi, c.bytes)
			}
			if printed, _ := b.do("status"); strings.Contains(printed, "eth0") {
				t.Errorf("status says %s", printed)
			}
		})
	}
}

func pow10(n int) uint64 {
	if n <= 0 {
		return 1
	}
	return 10 * pow10(n-1)
}
