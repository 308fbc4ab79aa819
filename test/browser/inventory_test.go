package browser_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"
)

// report sends a heartbeat with what a device runs.
func (n *network) report(t testing.TB, s *hotspot, agent map[string]any) {
	t.Helper()
	s.beats++
	n.ask(t, s.key, "POST", "/v1/hotspots/"+s.id+"/heartbeats", map[string]any{
		"boot_id": "boot", "seq": time.Now().UnixNano() / 1000, "clients": 2, "rx_bytes": s.beats * 40_000_000, "tx_bytes": s.beats * 90_000_000, "agent": agent,
	})
}

// What devices run: staff see all of it and find the hotspots, and an operator sees that
// of a hotspot, and what is wrong with how it counts.
func testInventory(t *testing.T, b *browser, n *network) {
	const current, openwrt = "GL.iNet GL-MT6000", "OpenWrt 24.10.4 r28959-29397011cc"
	n.report(t, &n.hotspots[0], map[string]any{
		"version": "0.9.10", "model": current, "firmware": openwrt, "kernel": "6.6.110", "bssid": "02:00:5e:00:00:01", "channel": 36, "radios": 2,
	})
	for i := range n.hotspots[1:4] {
		n.report(t, &n.hotspots[1+i], map[string]any{"version": "999.0", "model": current, "firmware": openwrt})
	}
	n.report(t, &n.hotspots[4], map[string]any{"version": "0.2", "model": hostile, "firmware": openwrt})
	n.report(t, &n.hotspots[5], map[string]any{"version": "made here"})

	p := b.open(t, n.url+"/#/staff", look{width: 1400, height: 900})
	p.signIn(n.staff)
	p.press("Inventory")
	p.tells("Devices linked", "12")
	p.tells("Devices that report", "6")
	p.tells("Agent older than", "2") // 0.2 and 0.9.10, and not what nobody can compare
	p.until(devices + `.length === 4`)
	p.until(devices + `[0].innerText.replace(/\s+/g, " ") === "` + current + ` ` + openwrt + ` 999.0 3"`) // the most frequent
	p.sees("not reported")
	if eval[bool](p, `!!document.querySelector("img")`) {
		t.Error("a model became an element")
	}
	p.shot("inventory")
	p.accessible("inventory")

	// Who runs an old agent.
	p.press("0.9.10")
	p.sees("1 hotspot with the agent 0.9.10.")
	p.until(devices + `.length === 1 && ` + found + `.length === 1`)
	p.press(eval[string](p, found+`[0].querySelector("a").innerText`))
	p.sees("What the device runs")
	for _, text := range []string{"0.9.10", current, openwrt, "6.6.110", "02:00:5e:00:00:01", "This agent is older than "} {
		p.sees(text)
	}
	p.shot("hotspot-agent")
	p.accessible("hotspot with an agent")
	eval[bool](p, `(history.back(), true)`)
	p.sees("1 hotspot with the agent 0.9.10.") // it is in the address

	// By firmware, then by model; what is chosen goes with its focus.
	p.press("Staff")
	p.visit("/staff/inventory")
	p.until(devices + `.length === 4`)
	eval[bool](p, `(document.querySelector('select[name="firmware"]').focus(), true)`)
	p.set(`select[name="firmware"]`, openwrt)
	p.sees("5 hotspots with the firmware " + openwrt + ".")
	p.until(`document.activeElement.name === "firmware"`)
	p.press(hostile)
	p.sees("1 hotspot with the model " + hostile + ", the firmware " + openwrt + ".")
	p.until(found + `.length === 1`)
	p.set(`select[name="model"]`, current)
	p.sees("4 hotspots with the model " + current + ", the firmware " + openwrt + ".")
	p.fill(`input[name="q"]`, "no such")
	p.sees("No hotspots with “no such” in the name, the model")
	p.set(`select[name="model"]`, "")
	p.set(`select[name="firmware"]`, "")
	p.until(`location.hash === "#/staff/inventory" && ` + found + `.length === 0`)
	p.visit("/staff/inventory?agent=nobody's")
	p.sees("No hotspots with the agent nobody's.")
	p.sees("No devices with this.")

	p = b.open(t, n.url+"/#/staff/inventory?firmware="+url.QueryEscape(openwrt), look{width: 390, height: 844, dark: true})
	p.signIn(n.staff)
	p.sees("5 hotspots with the firmware")
	p.fits()
	p.accessible("inventory on a phone")
	p.shot("phone-inventory-dark")
	eval[bool](p, `(document.querySelector('[aria-label="Hotspots that have it"]').scrollIntoView(), true)`)
	p.shot("phone-inventory-hotspots-dark")

	testCountersFell(t, b, n)
}

// An operator learns that counters fell, and what to do.
func testCountersFell(t *testing.T, b *browser, n *network) {
	s := &n.hotspots[0]
	p := b.open(t, n.url+"/#/staff/inventory", look{width: 390, height: 844})
	p.signIn(n.operator)
	p.sees("This needs a key with the scope hotspots:verify.")
	p.visit("/hotspots/" + s.id)
	p.sees("What the device runs")
	if eval[bool](p, `document.body.innerText.includes("counters fell")`) {
		t.Error("it says that counters fell, and they did not")
	}
	s.beats = 0
	n.beat(t, n.hotspots[:1]...)
	p.visit("/hotspots")
	p.sees(s.name)
	p.visit("/hotspots/" + s.id)
	p.sees("The device's traffic counters fell on ")
	p.fits()
	p.shot("phone-hotspot-fell")
	p.accessible("hotspot whose counters fell, on a phone")
	eval[bool](p, `([...document.querySelectorAll("h2")].find((e) => e.innerText === "What the device runs").scrollIntoView(), true)`)
	p.shot("phone-hotspot-agent")
}

const (
	// devices are the rows of what devices run, found those of the hotspots that have it.
	devices = `[...document.querySelectorAll('[aria-label="What devices run"] tbody tr')]`
	found   = `[...document.querySelectorAll('[aria-label="Hotspots that have it"] tbody tr')]`
)

// tells waits until a tile shows a number.
func (p *page) tells(name, number string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`[...document.querySelectorAll(".tiles div")].some((e) => e.innerText.startsWith(%q) && e.querySelector("dd").innerText === %q)`, name, number))
}
