package browser_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness"
)

// What an operator does: register, change, link, look back, be paid.
func testOperator(p *page, n *network) {
	t := p.t
	p.visit("/hotspots")
	p.until(`document.activeElement.id === "main"`) // who goes by keyboard begins at the top
	p.sees("Bryant Park Reading Room")
	p.shot("hotspots")
	p.accessible("my hotspots")
	p.set(`input[name="q"]`, "CAFÉ ÜN")
	p.until(`document.querySelectorAll("tbody tr").length === 1`)
	p.sees("Café Ünïcödé ☕")
	p.set(`input[name="q"]`, "no such")
	p.sees("None of your hotspots has “no such” in its name.")
	p.set(`input[name="q"]`, "")
	p.sees("Bryant Park Reading Room")
	p.register(t, n)
	p.settings(t, n)
	p.rewards(t, n)
}

// register fills the form in wrongly, then rightly.
func (p *page) register(t testing.TB, n *network) {
	p.press("Register a hotspot")
	p.sees("Click the map where the access point is.")
	p.expects("400") // the browser says so itself
	p.press("Register")
	p.sees("4 fields are not valid") // place, name, network name, hardware address
	p.until(`document.querySelectorAll(".panel .faulty").length === 4`)
	p.until(`document.activeElement.innerText === "Place it at the centre"`)
	p.shot("register-faults")
	p.accessible("register")
	p.clickMap(0.7, 0.4)
	p.sees("Drag the pin")
	p.fill(`input[name="name"]`, "Corner of the test")
	p.fill(`input[name="ssid"]`, "Test Guest")
	p.fill(`input[name="mac"]`, "02:00:5e:10:00:60")
	p.shot("register")
	p.press("Register")
	p.until(`document.querySelector("h1").innerText === "Corner of the test"`)
	p.sees("Pending until the network's staff have verified its location and its device is linked.")
	p.press("Create a link code")
	p.until(`/^[0-9A-Z]{4}-[0-9A-Z]{4}$/.test(document.querySelector(".code")?.innerText ?? "")`)
	code := eval[string](p, `document.querySelector(".code").innerText`)
	p.until(`document.querySelector(".command")?.innerText === "wget -qO- " + location.origin + "/agent/install | sh -s -- ` + code + `"`)
	p.press("Raspberry Pi, Debian, Ubuntu")
	p.until(`document.querySelector(".command").innerText.endsWith(" | sudo sh -s -- ` + code + `")`)
	p.press("The command as a QR code")
	p.until(`document.querySelector(".qr path").getBBox().width > 20`)
	p.sees("Waiting for the device")
	p.shot("link-code")
	p.accessible("link-code")
	linked := n.ask(t, "", "POST", "/v1/devices/link", map[string]any{"code": code, "mac_address": "02:00:5e:10:00:60"})
	p.sees("The device is linked")
	p.until(`!document.querySelector(".code")`) // it was used
	p.until(`document.querySelector(".steps .done + .now")?.innerText === "Waiting for the first heartbeat…"`)
	n.ask(t, linked["device_key"].(string), "POST", linked["heartbeat_path"].(string), map[string]any{"boot_id": "b", "seq": 1, "clients": 0, "rx_bytes": 0, "tx_bytes": 0})
	p.sees("The first heartbeat came. The hotspot goes online once its location is verified")
	p.until(`document.querySelectorAll(".steps .done").length === 2`)
	p.shot("link-heard")
	p.press("Unlink")
	p.sees("No device is linked yet.")
	if eval[bool](p, `!!document.querySelector(".code")`) {
		t.Error("a code that was used is shown again after the device was unlinked")
	}
	path := p.correct(t, n)
	eval[bool](p, `(asked = [], true)`)
	// The answer comes late: the page hears first, from the stream of events, that the
	// hotspot is gone, and must not ask for it.
	eval[bool](p, `(() => {
		const real = fetch, late = 4_000; // pages refresh 3 s after an event
		window.fetch = async (path, init) => {
			const answer = await real(path, init);
			if (init?.method === "DELETE") await new Promise((resolve) => setTimeout(resolve, late));
			return answer;
		};
		return true;
	})()`)
	p.press("Delete this hotspot")
	p.until(`location.hash === "#/hotspots"`)
	if asked := eval[[]string](p, `asked`); len(asked) != 1 {
		t.Errorf("before deleting, it asked %v", asked)
	}
	p.press("Undo")
	p.sees("Corner of the test is back.")
	p.accessible("undone")
	n.ask(t, n.operator, "DELETE", path, nil)
}

// correct edits a hotspot, gives it another device, and moves it.
func (p *page) correct(t testing.TB, n *network) (path string) {
	path = "/v1/hotspots/" + eval[string](p, `location.hash.split("/")[2]`)
	p.set(`select[name="type"]`, "business")
	p.fill(`input[name="address"]`, "1 Test Street")
	p.fill(`input[name="ssid"]`, "Other Guest")
	p.press("Save")
	p.sees("Saved.")
	p.press("Replace the device")
	p.until(`document.activeElement.name === "mac"`)
	p.expects("400")
	p.fill(`input[name="mac"]`, "02:00:5e")
	p.press("Replace, and make a code")
	p.until(`document.activeElement.name === "mac" && document.querySelector(".faulty")`)
	p.fill(`input[name="mac"]`, "02:00:5e:10:00:61")
	p.accessible("replace")
	p.press("Replace, and make a code")
	p.sees("Waiting for the device")
	p.press("Move")
	p.sees("The pin is where the hotspot is registered.")
	p.until(`document.querySelector("[type=submit].button").disabled`)
	p.until(`!!document.querySelector(".map-pin")`)
	p.on(`document.querySelector(".map-pin")`, `
		e.focus();
		for (const key of ["ArrowUp", "ArrowRight"]) e.dispatchEvent(new KeyboardEvent("keydown", {key, shiftKey: true, bubbles: true, cancelable: true}));`)
	p.sees("m from where it is registered.")
	p.shot("move")
	p.accessible("move")
	p.press("Move it here")
	p.until(`document.querySelector("h1").innerText === "Corner of the test"`)
	p.until(`asked.at(-1).startsWith("Move “Corner of the test” by ")`)
	data := n.ask(t, n.operator, "GET", path, nil)
	at, device := data["location"].(map[string]any), data["device"].(map[string]any)
	if data["type"] != "business" || at["address"] != "1 Test Street" || device["ssid"] != "Other Guest" || device["mac_address"] != "02:00:5e:10:00:61" {
		t.Errorf("the server has %v", data)
	}
	return path
}

// settings changes a hotspot, and meets someone who does the same.
func (p *page) settings(t testing.TB, n *network) {
	hotspot := n.hotspots[1]
	p.visit("/hotspots/" + hotspot.id)
	p.sees("Opening hours")
	p.fill(`input[name="name"]`, "Corner Books & Café")
	p.click(`input[name="always"]`)
	p.set(`input[name="timezone"]`, "America/New_York")
	p.press("Save")
	p.sees("Saved.")
	data := n.ask(t, n.operator, "GET", "/v1/hotspots/"+hotspot.id, nil)
	if hours := fmt.Sprint(data["settings"].(map[string]any)["operating_hours"]); data["name"] != "Corner Books & Café" ||
		hours != "map[exceptions:[] timezone:America/New_York weekly:[map[close:22:00 days:[mon tue wed thu fri] open:08:00]]]" {
		t.Errorf("the server has %v, open %s", data["name"], hours)
	}
	p.set(`.span .clock`, "25:00")
	p.until(`!document.body.innerText.includes("Saved.")`) // that was something else
	p.press("Save")
	p.until(`document.querySelector(".span .fault")`)
	n.ask(t, n.operator, "PATCH", "/v1/hotspots/"+hotspot.id, map[string]any{"name": "Someone else was faster"})
	p.set(`.span .clock`, "09:00")
	p.expects("409")
	p.press("Save")
	p.until(`document.querySelector(".note.bad details")?.textContent.includes("Request req_")`) // for support, on demand
	p.press("Reload the form")
	p.until(`document.querySelector('input[name="name"]').value === "Someone else was faster"`)
	p.until(`document.querySelectorAll(".plot canvas").length === 3`)
	p.shot("hotspot")
	p.accessible("hotspot")
}

// rewards looks at what was earned, and keeps a statement that holds.
func (p *page) rewards(t testing.TB, n *network) {
	p.visit("/hotspots/" + n.hotspots[0].id)
	p.sees("Rewards by day")
	lastDay := today().AddDate(0, 0, -today().Day()) // of last month
	asked := `performance.getEntriesByType("resource").filter(({name}) => name.includes("/rewards/explain")).length`
	before := eval[float64](p, asked)
	eval[bool](p, `(document.querySelector('.head input[type="date"]').scrollIntoView({block: "center"}), true)`) // days are asked for once they are in sight
	p.until(`![...document.querySelectorAll(".scroll td")].some((e) => e.innerText === "…")`)
	if n := eval[float64](p, asked) - before; n != 7 {
		t.Errorf("for 7 days, %v requests were made", n)
	}
	p.set(`.head input[type="date"]`, lastDay.Format(time.DateOnly))
	p.on(fmt.Sprintf(`[...document.querySelectorAll("tr")].find((r) => r.innerText.startsWith(%q) && !r.innerText.includes("…"))`, lastDay.Format(dayInText)), `e.querySelector("button").click();`)
	p.until(fmt.Sprintf(`document.querySelector(".explained tfoot")?.closest("tr:has(> td > .explained)").previousElementSibling.innerText.startsWith(%q)`, lastDay.Format(dayInText))) // below its day
	eval[bool](p, `(document.querySelector(".explained").scrollIntoView(), true)`)
	p.shot("explained")

	p.visit("/rewards")
	p.press("Last month")
	p.sees("This period is settled")
	p.shot("rewards")
	p.accessible("rewards")
	folder := t.TempDir()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.CallBrowser(ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
			Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder, BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		})
		return err
	}))
	p.press("Spreadsheet of " + n.lastMonth)
	n.spreadsheet(t, filepath.Join(folder, "beacon-days-"+n.lastMonth+".csv"))
	p.press("JSON of " + n.lastMonth)
	file := filepath.Join(folder, "beacon-statement-"+n.lastMonth+".json")
	harness.Eventually(t, "the statement is kept", func() bool {
		_, err := os.Stat(file)
		return err == nil
	})
	if out, err := exec.Command(harness.Binary, "rewards", "verify", file).CombinedOutput(); err != nil {
		t.Errorf("the statement does not hold: %v\n%s", err, out)
	}
}

// spreadsheet compares the statement that people read with the one that programs check: a row
// for each of its rows, with the name, and amounts in credits.
func (n *network) spreadsheet(t testing.TB, file string) {
	t.Helper()
	var rows [][]string
	harness.Eventually(t, "the spreadsheet is kept", func() bool {
		text, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		rows, err = csv.NewReader(bytes.NewReader(text)).ReadAll()
		return err == nil && len(rows) > 0
	})
	statement := n.ask(t, n.operator, "GET", "/v1/users/me/rewards/statements/"+n.lastMonth, nil)["rows"].([]any)
	if len(rows) != len(statement)+1 {
		t.Fatalf("the spreadsheet has %d lines for %d rows", len(rows), len(statement))
	}
	const columns = "date,hotspot_id,hotspot,served_minutes,expected_minutes,traffic_gb,performance_tier,availability,performance,utilization,total,unit,hold_id"
	if got := strings.Join(rows[0], ","); got != columns {
		t.Errorf("its columns are %s", got)
	}
	for i, line := range rows[1:] {
		row := statement[i].(map[string]any)
		name := n.ask(t, n.operator, "GET", "/v1/hotspots/"+line[1], nil)["name"].(string)
		micros := 0.0
		for _, part := range []string{"availability", "performance", "utilization"} {
			micros += math.Round(row[part].(float64) * 1e6)
		}
		want := fmt.Sprint(row["date"], row["hotspot_id"], name, row["traffic_bytes"].(float64)/1e9, row["availability"], micros/1e6, "credit")
		if got := fmt.Sprint(any(line[0]), line[1], line[2], number(t, line[5]), number(t, line[7]), number(t, line[10]), line[11]); got != want {
			t.Errorf("line %d is %s; want %s", i+1, got, want)
		}
	}
}

func number(t testing.TB, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Error(err)
	}
	return n
}
