package browser_test

import (
	"fmt"
	"testing"
	"time"
)

// What admins see of the whole network: who has hotspots, which months are settled, and who
// changed what.
func testBooks(t *testing.T, b *browser, n *network) {
	operator := n.ask(t, n.operator, "GET", "/v1/keys/self", nil)["user_id"].(string)
	n.ask(t, n.operator, "PATCH", "/v1/hotspots/"+n.hotspots[10].id, map[string]any{"name": hostile})
	p := b.open(t, n.url+"/#/staff", wide)
	p.signIn(n.staff)
	p.press("Operators")
	p.until(of("Operators") + `.length === 1`)
	p.shot("operators")
	p.accessible("operators")
	p.on(fmt.Sprintf(`document.querySelector('a[href="#/staff/operators/%s"]')`, operator), `e.click();`)
	p.sees("Earned this month")
	p.until(of("Hotspots of the operator") + `.length > 10`)
	p.until(`document.querySelector('input[name="hotspots"]')?.value === "50"`)
	p.shot("operator")
	p.accessible("an operator")
	p.expects("400")
	p.fill(`input[name="keys"]`, "-1")
	p.press("Save")
	p.until(`document.querySelector(".faulty input").name === "keys"`)
	p.fill(`input[name="keys"]`, "70")
	p.press("Save")
	p.sees("Saved.")
	if quota := n.ask(t, n.staff, "GET", "/v1/users/"+operator+"/quota", nil); quota["keys"] != 70.0 || quota["hotspots"] != 50.0 {
		t.Errorf("the quota is %v", quota)
	}

	// All hotspots, of one operator: filtered with the rest, and by those who came from there.
	p.press("Filter and visit the hotspots")
	p.until(`location.hash.startsWith("#/staff/hotspots?operator=usr_")`)
	p.until(listedHotspots + `.length > 10`)
	p.set(`select[name="type"]`, "home")
	p.until(listedHotspots + `.length > 0 && ` + listedHotspots + `.every((e) => e.innerText.includes("home"))`)
	p.shot("operator-hotspots")
	p.accessible("all hotspots of an operator")
	p.visit("/staff/hotspots?operator=usr_01kb3gzk00e9x8q6s5t4v3w2y1")
	p.sees("No hotspots.")
	p.press("Hotspots of all operators")
	p.until(listedHotspots + `.length > 10`)

	p.press("Months")
	p.until(fmt.Sprintf(`%s.some((e) => e.innerText.includes("settled") && e.innerText.includes("1 of 1"))`, of("Months")))
	p.sees("are closed.")
	// The network began weeks ago by its clock, and no server ran since: someone must say what day it is.
	p.sees("far ahead of what is certain")
	p.shot("clock")
	says, err := time.Parse(time.RFC3339, n.ask(t, n.staff, "GET", "/v1/rewards/clock", nil)["clocks"].([]any)[0].(map[string]any)["says"].(string))
	if err != nil {
		t.Fatal(err)
	}
	p.press("Confirm that today is " + says.UTC().Format(dayInText) + " (UTC)")
	p.sees("Nothing waits for a clock.")
	p.expects("409")
	settled := n.ask(t, n.staff, "GET", "/v1/rewards/months", nil)["months"].([]any)[1].(map[string]any)["period"].(string)
	p.set(`input[name="reopen-from"]`, settled+"-28")
	p.press("See what would happen")
	p.sees(settled + " is settled, which is final")
	p.shot("months")
	p.accessible("months")
	// Days are opened again once someone has looked at what that does: those days, and no more.
	// The network has none to open, which would take minutes to be closed: see TestBooks_ByHand.
	eval[bool](p, `(() => {
		const real = fetch;
		window.sent = [];
		window.fetch = async (path, init) => {
			if (!String(path).endsWith("/rewards/reopenings")) return real(path, init);
			const { from, through, confirm } = JSON.parse(init.body);
			sent.push([from, through ?? null, confirm].join(" "));
			const largest = [{user_id: "usr_01kb3gzk00e9x8q6s5t4v3w2y1", rows: 7, earned: 4.5}];
			const data = {from, through: "2026-11-12", rows: 7, users: 1, total_earned: 4.5, largest, confirmed: confirm};
			return new Response(JSON.stringify({data, meta: {request_id: "req_1", timestamp: "2026-11-15T12:00:00.000Z"}}), {status: 200});
		};
		return true;
	})()`)
	offered := `[...document.querySelectorAll("button")].some((e) => e.innerText === "Open these days again")`
	p.set(`input[name="reopen-from"]`, "2026-11-10")
	p.press("See what would happen")
	p.sees("This would open Nov 10, 2026 to Nov 12, 2026 again: 7 rows of 1 users, 4.50 credits")
	p.until(of("Who earned most on these days") + `.length === 1`)
	p.shot("reopen")
	p.accessible("days to open again")
	p.set(`input[name="reopen-from"]`, "2026-11-11") // which nobody has looked at
	p.until(`!` + offered)
	p.press("See what would happen")
	p.press("Open these days again")
	p.sees("Nov 11, 2026 to Nov 12, 2026 are open again: ")
	p.until(`!` + offered)
	if sent := eval[string](p, `sent.join()`); sent != "2026-11-10  false,2026-11-11  false,2026-11-11 2026-11-12 true" {
		t.Errorf("it sent %s", sent)
	}
	// A month that is not over cannot be settled; one that is settled stays so.
	p.fill(`input[name="month"]`, today().Format("2006-01"))
	p.press("Settle for good")
	p.sees("is not over")
	p.fill(`input[name="month"]`, settled)
	p.press("Settle for good")
	p.sees(" is settled: 1 statements, ")
	p.shot("settled")
	p.accessible("the books, by hand")
	p.set(`select[name="policy"]`, "devices")
	p.fill(`input[name="availability"]`, "2")
	p.set(`input[name="policy-from"]`, "2099-01-01")
	p.press("See what would change")
	p.sees("into force from Jan 1, 2099 on. Nothing is changed yet.")
	p.until(of("What changes") + `[0].innerText.includes("2")`)
	p.shot("policy")
	p.press("Put it into force")
	p.sees("is in force from Jan 1, 2099 on.")
	p.expects("400")
	p.expects("404")
	p.press("Release")
	p.until(`[...document.querySelectorAll(".faulty input")].map((e) => e.name).join() === "mac,mac-reason"`)
	p.fill(`input[name="mac"]`, "02:00:5e:99:99:99")
	p.fill(`input[name="mac-reason"]`, "sold")
	p.press("Release")
	p.sees("is not reserved for anyone")

	// A policy on the past: that in force gives what the ledger has, and half of it half.
	p.press("Try a policy")
	p.set(`select[name="policy"]`, "")
	p.press("Compute")
	p.sees("Every one is as in the ledger, to the micro-credit.")
	p.set(`select[name="policy"]`, "other")
	p.expects("400")
	p.fill(`input[name="availability"]`, "much")
	p.press("Compute")
	p.until(`document.querySelector(".faulty input").name === "availability"`)
	p.fill(`input[name="availability"]`, "0.25")
	p.press("Compute")
	p.until(of("Who loses most") + `.length === 1`)
	p.until(of("Who gains and loses") + `.length === 9`)
	p.shot("policy")
	p.accessible("a policy on the past")

	p.press("Audit")
	p.until(of("Changes") + `.length === 50`)
	p.until(of("Changes") + `[0].innerText.includes("policy.adopted")`)
	if eval[bool](p, `!!document.querySelector("img")`) {
		t.Error("a note became an element")
	}
	p.press("Show older ones")
	p.until(of("Changes") + `.length > 50`)
	p.shot("audit")
	p.accessible("audit")
	p.set(`select[name="kind"]`, "hotspot.")
	p.fill(`input[name="target"]`, n.hotspots[10].id)
	p.press("Show")
	p.until(`location.hash.includes("target=")`)
	p.until(of("Changes") + `[0].innerText.includes("hotspot.updated") && ` + of("Changes") + `.every((e) => e.innerText.includes("hotspot."))`)
	p.fill(`input[name="target"]`, "hs_nobody")
	p.press("Show")
	p.sees("Nothing.")

	q := b.open(t, n.url+"/#/staff/operators", look{width: small.width, height: small.height, dark: true})
	q.signIn(n.staff)
	for path, label := range map[string]string{"/staff/operators": "Operators", "/staff/operators/" + operator: "Hotspots of the operator", "/staff/hotspots?operator=" + operator: "All hotspots", "/staff/months": "Months", "/staff/audit": "Changes"} {
		q.visit(path)
		q.until(of(label) + `.length > 0`)
		q.fits()
		q.accessible(label + " on a phone")
		q.shot("phone-" + label + "-dark")
	}

	q.visit("/staff/policy")
	q.until(`document.querySelector('input[name="radius_m"]')?.value === "50"`)
	q.fill(`input[name="radius_m"]`, "20")
	q.press("Compute")
	q.until(of("Totals") + `.length === 3`)
	q.fits()
	q.accessible("a policy on the past, on a phone")
	q.shot("phone-policy-dark")

	// Staff who are no admins are not offered them, and learn what is missing.
	s := b.open(t, n.url+"/#/staff/audit", desk)
	s.signIn(n.command(t, "keys", "create", "--user", "new", "--scopes", "hotspots:verify", "--name", "Field"))
	s.sees("This needs a key with the scope admin.")
	if offered := eval[string](s, `document.querySelector(".desks").innerText.replace(/\s+/g, " ")`); offered != "Overview Verifications Review Holds Hotspots Inventory" {
		t.Errorf("staff are offered %q", offered)
	}
}

// of is the rows of a table.
func of(label string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('[aria-label=%q] tbody tr')]`, label)
}
