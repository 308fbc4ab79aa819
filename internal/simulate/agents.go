//go:build linux

package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/beacon-wifi/beacon/agent"
	"github.com/beacon-wifi/beacon/client"
)

// Agents are devices that run the real agent.
type Agents struct {
	client *Client
	shell  []string
	bin    string // all programs that they find
	boxes  []*box
}

// box is a device in a sandbox: a folder stands for its root. It has one Wi-Fi
// interface, which an iw of our own describes.
type box struct {
	*Agents
	device *Device
	name   string // of its hotspot
	mac    string
	root   string
	index  int    // of the interface
	rx, tx uint64 // what the device had carried when the interface was made
}

// utilities are the programs that the agent finds on every device.
var utilities = []string{"awk", "cat", "cut", "date", "dd", "grep", "head", "mkdir", "mv", "rm", "sed", "sleep", "sort", "sync", "tail", "tr", "uname", "wc"}

// StartAgents registers and verifies devices, and has the agent of each link it. All is
// below a folder.
func (c *Client) StartAgents(ctx context.Context, folder string, devices []*Device, done *atomic.Int64) (*Agents, error) {
	a := &Agents{client: c, bin: filepath.Join(folder, "bin"), boxes: make([]*box, len(devices))}
	if err := a.install(); err != nil {
		return nil, err
	}
	for i, d := range devices {
		d.character.Fails = 10 * 365 * 24 * time.Hour // the agents are shown, not how devices fail
		a.boxes[i] = &box{Agents: a, device: d, name: d.registration.Name, mac: d.registration.Device.MACAddress, root: filepath.Join(folder, strconv.Itoa(i))}
	}
	return a, c.setUp(ctx, devices, done, func(ctx context.Context, i int) error {
		if err := a.boxes[i].furnish(); err != nil {
			return err
		}
		return a.boxes[i].link(ctx)
	})
}

// install makes the folder of programs.
func (a *Agents) install() error {
	if a.shell = []string{"busybox", "ash"}; !has("busybox") {
		a.shell = []string{"dash"}
	}
	if !has(a.shell[0]) {
		return errors.New("--agents needs BusyBox or dash")
	}
	if err := os.MkdirAll(a.bin, 0o700); err != nil {
		return err
	}
	for _, name := range append([]string{"curl", "wget"}, utilities...) {
		path, err := exec.LookPath(name)
		if err != nil && (name == "curl" || name == "wget") {
			continue // the agent needs one of them, and says so
		} else if err != nil {
			return err
		}
		if err := os.Symlink(path, filepath.Join(a.bin, name)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(a.bin, "beacon-agent"), []byte(agent.Program), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(a.bin, "iw"), []byte("#!/bin/sh\nexec cat \"$BEACON_ROOT/iw/$*\"\n"), 0o700)
}

func has(program string) bool { _, err := exec.LookPath(program); return err == nil }

// write writes files of the device.
func (b *box) write(files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(b.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// furnish makes the root of the device, with an interface that has carried nothing.
func (b *box) furnish() error {
	ssid := b.device.registration.Device.SSID
	err := b.write(map[string]string{
		"etc/os-release":                 "PRETTY_NAME=\"beacon simulate\"\n",
		"tmp/sysinfo/model":              "Sandbox\n",
		"sys/class/ieee80211/phy0/index": "0\n",
		"proc/sys/kernel/random/boot_id": fmt.Sprintf("%016x\n", b.device.boot),
		"iw/dev":                         "phy#0\n\tInterface wlan0\n\t\ttype AP\n",
		"iw/dev wlan0 info":              "\tssid " + ssid + "\n",
	})
	for name, to := range map[string]string{"proc/uptime": "/proc/uptime", "proc/sys/kernel/random/uuid": "/proc/sys/kernel/random/uuid"} {
		err = errors.Join(err, os.Symlink(to, filepath.Join(b.root, name)))
	}
	return errors.Join(err, b.restartWiFi())
}

const wlan = "sys/class/net/wlan0/"

// restartWiFi makes the interface again: its counters start from zero.
func (b *box) restartWiFi() error {
	b.index++
	b.rx, b.tx = b.device.rx, b.device.tx
	return errors.Join(os.RemoveAll(filepath.Join(b.root, wlan)), b.show(Beat{Rx: b.rx, Tx: b.tx}), b.write(map[string]string{
		wlan + "phy80211/name": "phy0\n",
		wlan + "ifindex":       strconv.Itoa(b.index) + "\n",
		wlan + "operstate":     "up\n",
		wlan + "address":       b.mac + "\n",
	}))
}

const packet = 800 // bytes

// show writes what the interface shows.
func (b *box) show(beat Beat) error {
	var stations strings.Builder
	for i := range beat.Clients {
		fmt.Fprintf(&stations, "Station 02:00:00:00:%02x:%02x (on wlan0)\n\tsignal:\t%d dBm\n", byte(i>>8), byte(i), beat.DBM)
	}
	files := map[string]string{"iw/dev wlan0 station dump": stations.String()}
	for name, bytes := range map[string]uint64{"rx_": beat.Rx - b.rx, "tx_": beat.Tx - b.tx} {
		files[wlan+"statistics/"+name+"bytes"] = strconv.FormatUint(bytes, 10) + "\n"
		files[wlan+"statistics/"+name+"packets"] = strconv.FormatUint(bytes/packet, 10) + "\n"
	}
	return b.write(files)
}

// command prepares the agent with some arguments.
func (b *box) command(ctx context.Context, args ...string) *exec.Cmd {
	words := append(append([]string{}, b.shell[1:]...), filepath.Join(b.bin, "beacon-agent"))
	cmd := exec.CommandContext(ctx, b.shell[0], append(words, args...)...)
	cmd.Env = []string{"PATH=" + b.bin, "BEACON_ROOT=" + b.root}
	// What it has started ends with it, and it ends with us.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = answerTime
	return cmd
}

const linkPause = 10 * time.Second // after a response that there were too many

// link has the agent link its device.
func (b *box) link(ctx context.Context) error {
	defer keepThread()()
	code, err := b.client.code(ctx, b.device)
	for err == nil {
		said, failed := b.command(ctx, "link", "-u", b.client.base.String(), "-m", b.mac, code).CombinedOutput()
		if failed == nil {
			return nil
		}
		if !strings.Contains(string(said), "not linked: 429") || !pause(ctx, linkPause) {
			err = fmt.Errorf("%s (%w)", strings.TrimSpace(string(said)), failed)
		}
		b.client.limited.Store(true)
	}
	return fmt.Errorf("link hotspot %s: %w", b.device.hotspot, err)
}

// keepThread keeps a goroutine on its thread: a program ends with the thread that
// started it.
func keepThread() (free func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// Run runs the agents until ctx ends, with clients and traffic. They say what happens to
// log.
func (a *Agents) Run(ctx context.Context, log io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	var mu sync.Mutex
	for _, b := range a.boxes {
		running.Go(func() {
			defer keepThread()()
			cmd := b.command(ctx, "run")
			cmd.Stdout = &named{b.name, &mu, log}
			cmd.Stderr = cmd.Stdout
			if err := cmd.Run(); ctx.Err() == nil {
				cancel(fmt.Errorf("the agent of hotspot %s ended: %w", b.device.hotspot, err))
			}
		})
		running.Go(func() {
			if err := b.live(ctx); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

const (
	step       = 5 * time.Second
	restartOne = 60 // in how many steps Wi-Fi restarts
)

// live changes what the interface shows, until ctx ends.
func (b *box) live(ctx context.Context) error {
	for {
		beat, _ := b.device.Beat(b.client.Clock())
		if err := b.show(beat); err != nil {
			return err
		}
		if !pause(ctx, step) {
			return nil
		}
		if b.device.chance.one(restartOne) == 0 {
			if err := b.restartWiFi(); err != nil {
				return err
			}
		}
	}
}

// named writes lines with a name before each.
type named struct {
	name string
	mu   *sync.Mutex
	out  io.Writer
}

func (n *named) Write(text []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Fprintf(n.out, "%s: %s", n.name, line); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

// Outcome returns what the server knows of the agents: how many hotspots are online, and
// the bytes of the last 24 hours.
func (a *Agents) Outcome(ctx context.Context) (online int, bytes uint64, err error) {
	for _, b := range a.boxes {
		var h client.Hotspot
		err := a.client.repeating(ctx, func() (err error) {
			h, err = a.client.api.Hotspot(ctx, b.device.hotspot)
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		if h.Status == client.Online {
			online++
		}
		bytes += uint64(math.Round(h.Metrics.BandwidthUsed24hGB * 1e9))
	}
	return online, bytes, nil
}
