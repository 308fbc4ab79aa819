package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// accessPoint is what the page of the agent finds in place of a router, and after the first
// sudo in place of a Raspberry Pi: a folder in place of /, one Wi-Fi interface, and services
// that start the agent. Time passes quickly.
func accessPoint(t *testing.T) (env []string, words map[string]string) {
	t.Helper()
	folder := t.TempDir()
	root, bin := filepath.Join(folder, "root"), filepath.Join(folder, "bin")
	wlan := "root/sys/class/net/wlan0/"
	const service = "#!/bin/sh\ncase $* in *restart*) beacon-agent run >/dev/null 2>&1 & ;; esac\n"
	for name, text := range map[string]string{
		wlan + "phy80211/name": "phy0\n", wlan + "ifindex": "3\n", wlan + "operstate": "up\n", wlan + "address": "02:00:5e:10:00:05\n",
		wlan + "statistics/rx_bytes": "1\n", wlan + "statistics/tx_bytes": "1\n", wlan + "statistics/rx_packets": "1\n", wlan + "statistics/tx_packets": "1\n",
		"root/proc/sys/kernel/random/boot_id": "boot\n",
		"root/var/run/here":                   "",
		"root/etc/openwrt_release":            "",
		"root/etc/rc.common":                  service,
		"bin/systemctl":                       service,
		"bin/sudo":                            "#!/bin/sh\nrm -f $BEACON_ROOT/etc/openwrt_release\nmkdir -p $BEACON_ROOT/run/systemd/system\n\"$@\"\n",
		"bin/sleep":                           "#!/bin/sh\nexec /bin/sleep 0.1\n",
		"bin/iw": `#!/bin/sh
case $* in
dev) printf 'phy#0\n\tInterface wlan0\n\t\tssid boathouse\n\t\ttype AP\n' ;;
*info) printf '\tssid boathouse\n' ;;
*) printf 'Station 02:00:00:00:00:01 (on wlan0)\n\tsignal:\t-44 dBm\nStation 02:00:00:00:00:02 (on wlan0)\n\tsignal:\t-52 dBm\n' ;;
esac
`,
		// Its status is asked for at once, and has something to tell a little later: what
		// a link before this one led to is not that.
		"bin/beacon-agent": `#!/bin/sh
last=$BEACON_ROOT/var/run/beacon/last
while [ "$1" = status ] && ! grep -q ' 200 ' "$last"; do sleep 1; done 2>/dev/null
` + harness.Root() + `/agent/beacon-agent "$@" || exit
[ "$1" != link ] || rm -f "$last"
`,
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"proc/uptime": "/proc/uptime", "proc/sys/kernel/random/uuid": "/proc/sys/kernel/random/uuid"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"BEACON_ROOT=" + root, "PATH=" + bin + ":" + programs + ":" + os.Getenv("PATH")},
		map[string]string{theirs: "http://$BEACON_ADDR"}
}
