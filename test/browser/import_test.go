package browser_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness"
)

// An operator registers many hotspots from a file: what is refused is mended and imported
// again, and neither a repetition nor a broken line registers anything twice.
func testImport(t *testing.T, b *browser, n *network) {
	made := n.ask(t, n.staff, "POST", "/v1/keys", map[string]any{"scopes": []string{"hotspots:write"}, "user_id": "new", "name": "importer"})
	im := &importing{page: b.open(t, n.url+"/#/hotspots", wide), network: n, key: made["key"].(string), folder: t.TempDir()}
	im.signIn(im.key)
	im.press("Import")
	im.sees("Columns: name, type, lat, lng, ssid, mac_address.")
	im.shot("import-empty")
	im.accessible("import, before a file is chosen")
	im.keepDownloads()
	im.mend(t)
	im.badFiles(t)
	im.brokenLine(t)

	im.page = b.open(t, n.url+"/#/import", look{width: small.width, height: small.height, dark: true})
	im.signIn(im.key)
	im.quota(t, made["user_id"].(string))

	im.page = b.open(t, "about:blank", small)
	im.asksFor("es-MX,es,en")
	im.do(chromedp.Navigate(n.url + "/#/import"))
	im.fill(`input[name="key"]`, im.key)
	im.click(`form button[type="submit"]`)
	im.sees("Plantilla")
	im.choose("in Spanish.csv", many(40, 100)+"X;shop;91;x;;1;\r\n\"\r\n")
	im.sees("Registrados: 0 · ya existen: 30 · rechazados: 2 · por hacer: 10")
	im.sees("Usted puede tener 60 puntos de acceso en espera de verificación, y ya tiene 56.")
	im.inSpanish(onlyEnglish(t))
	im.fits()
	im.shot("phone-import-spanish")
}

type importing struct {
	*page
	*network
	key, folder string
}

const tableHead = "name;type;lat;lng;ssid;mac_address;notes\r\n"

// choose writes a file and chooses it.
func (im *importing) choose(name, text string) {
	im.page.t.Helper()
	path := filepath.Join(im.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		im.page.t.Fatal(err)
	}
	im.do(chromedp.SetUploadFiles(chromedp.CSS(`input[name="file"]`), []string{path}))
}

// result waits until this has become of the rows.
func (im *importing) result(registered, present, refused, left int) {
	im.page.t.Helper()
	im.sees(fmt.Sprintf("%d registered · %d already there · %d refused · %d still to do", registered, present, refused, left))
}

// names lists what the operator has, by the server.
func (im *importing) names(t testing.TB) []string {
	t.Helper()
	_, answer := im.network.send(t, im.key, "GET", "/v1/users/me/hotspots?per_page=100", nil)
	var names []string
	for _, h := range answer["data"].([]any) {
		names = append(names, h.(map[string]any)["name"].(string))
	}
	slices.Sort(names)
	return names
}

func (im *importing) keepDownloads() {
	im.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.CallBrowser(ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
			Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: im.folder, BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		})
		return err
	}))
}

// kept returns a file that the browser was given to keep.
func (im *importing) kept(t testing.TB, name string) (text string) {
	t.Helper()
	harness.Eventually(t, name+" is kept", func() bool {
		content, err := os.ReadFile(filepath.Join(im.folder, name))
		text = string(content)
		return err == nil && text != ""
	})
	return text
}

// mend imports a file with faults, what is left of it once it is mended, and all of it again.
func (im *importing) mend(t *testing.T) {
	table := "\ufeff" + tableHead +
		"Imported Café;public;40.7001;-73.9001;Guest;02:00:5e:30:00:01;\r\n" +
		"\"Imported \"\"two\"\"; or 2\";home;40.7002;-73.9002;Guest;0200.5e30.0002;\r\n" +
		`"` + strings.ReplaceAll(hostile, `"`, `""`) + `"` + ";business;40.7003;-73.9003;Guest;02-00-5E-30-00-03;\r\n" +
		"Imported four;shop;40.7004;-73.9004;Guest;02:00:5e:30:00:04;\r\n" + // found by the page
		"Imported five;home;40.7005;-73.9005;Guest;02:00:5e:10:00:00;\r\n" + // someone else's
		"Imported\u200b six;home;40.7006;-73.9006;Guest;02:00:5e:30:00:06;\r\n" // found by the server
	im.choose("first.csv", table)
	im.result(0, 0, 1, 5)
	im.sees("type must be home, business or public")
	im.sees("These columns are not used: notes. Are they misspelt?")
	im.shot("import-preview")
	im.press("Rows on the map")
	im.until(`document.querySelector(".map-inset .map")?.getAttribute("aria-busy") === "false"`)
	im.accessible("import, with the rows on a map")
	im.shot("import-map")
	im.press("Rows on the map")
	im.until(`!document.querySelector(".map-inset")`)
	im.accessible("import, a file")
	im.expects("409")
	im.expects("400")
	im.press("Register 5 hotspots")
	im.result(3, 0, 3, 0)
	im.sees("The import is finished.")
	im.sees("mac_address is registered already, by someone else")
	im.sees("name must not contain invisible characters such as U+200B")
	im.shot("import-done")
	im.accessible("import, done")
	if eval[bool](im.page, `!!document.querySelector("main img")`) {
		t.Error("a name became an element")
	}
	want := []string{"Imported Café", `Imported "two"; or 2`, hostile}
	if slices.Sort(want); !slices.Equal(im.names(t), want) {
		t.Errorf("the server has %q; want %q", im.names(t), want)
	}
	im.press("CSV of 3 left")
	left := im.kept(t, "first-left.csv")
	rows, err := csv.NewReader(strings.NewReader(left)).ReadAll()
	if err != nil || len(rows) != 4 || rows[1][0] != "5" || rows[2][0] != "6" || rows[3][0] != "7" || rows[1][1] != "refused" {
		t.Fatalf("what is left is %q, %v", rows, err)
	}
	mended := strings.NewReplacer(",shop,", ",home,", "02:00:5e:10:00:00", "02:00:5e:30:00:05", "\u200b", "").Replace(left)
	im.choose("mended.csv", mended)
	im.press("Register 3 hotspots")
	im.result(3, 0, 0, 0)
	want = append(want, "Imported four", "Imported five", "Imported six")
	if slices.Sort(want); !slices.Equal(im.names(t), want) {
		t.Errorf("the server has %q; want %q", im.names(t), want)
	}
	im.choose("first.csv", table)
	im.result(0, 4, 1, 1) // the sixth is there by its address, with another name
	im.sees("left as it is; it differs in name")
	im.press("Register 1 hotspot")
	im.result(0, 4, 2, 0)
	if got := im.names(t); !slices.Equal(got, want) {
		t.Errorf("after a repetition, the server has %q", got)
	}
}

// badFiles chooses what is no table of hotspots.
func (im *importing) badFiles(t *testing.T) {
	row := "One;home;40;-73;Guest;02:00:5e:31:00:00;\r\n"
	for i, file := range []struct{ text, want string }{
		{"", "The file is empty."},
		{tableHead, "The file has no rows below its first line."},
		{"name,type\nOne,home\n", "Missing: lat, lng, ssid, mac_address."},
		{tableHead + "Caf\xe9" + row, "The file is not UTF-8."},
		{tableHead + strings.Repeat(row, 5_001), "use the command: beacon import FILE"},
	} {
		im.choose(fmt.Sprintf("bad-%d.csv", i), file.text)
		im.sees(file.want)
	}
	im.choose("nothing.csv", tableHead+"One;home;91;2;x;1;\r\n")
	im.sees("There is nothing to register in this file.")
}

func many(count, from int) string {
	var text strings.Builder
	text.WriteString(tableHead)
	for i := range count {
		fmt.Fprintf(&text, "Imported %03d;home;40.%03d;-73.9;Guest;02:00:5e:32:%02x:%02x;\r\n", from+i, from+i, (from+i)>>8, (from+i)&0xff)
	}
	return text.String()
}

// brokenLine loses responses, after they were made, is told to wait, and is stopped.
func (im *importing) brokenLine(t *testing.T) {
	eval[bool](im.page, `(() => {
		const real = fetch;
		window.posts = 0;
		window.cut = true;
		window.gate = Promise.resolve();
		window.fetch = async (path, init) => {
			if (init?.method !== "POST") return real(path, init);
			const n = ++posts;
			await gate;
			if (n === 3) return new Response(JSON.stringify({error: {code: "rate_limit_exceeded", message: "wait"}}), {status: 429, headers: {"Retry-After": "0"}});
			const answer = await real(path, init);
			if (cut && n > 8) throw new TypeError("cut");
			return answer;
		};
		return true;
	})()`)
	before := len(im.names(t))
	im.choose("many.csv", many(20, 0))
	im.press("Register 20 hotspots")
	im.sees("The server cannot be reached. Try again in a moment.")
	im.sees("The import has stopped. Nothing is lost, and nothing is registered twice: go on when you like.")
	im.shot("import-broken")
	im.accessible("import, broken")
	eval[bool](im.page, `(window.cut = false, window.gate = new Promise((open) => (window.open = open)), true)`)
	im.on(`[...document.querySelectorAll("button")].find((e) => e.innerText.startsWith("Go on with "))`, `e.click();`)
	im.press("Stop")
	eval[bool](im.page, `(window.open(), true)`)
	im.on(`[...document.querySelectorAll("button")].find((e) => e.innerText.startsWith("Go on with "))`, `e.click();`)
	im.result(20, 0, 0, 0)
	if got := len(im.names(t)) - before; got != 20 {
		t.Errorf("%d hotspots were registered; want 20", got)
	}
}

// quota imports more than an operator may have, on a phone.
func (im *importing) quota(t *testing.T, user string) {
	im.choose("more.csv", many(30, 100))
	im.sees("You may have 50 hotspots that wait to be verified, and 26 do. Of the 30 hotspots that this file adds, 24 can be registered now.")
	im.fits()
	im.shot("phone-import-quota-dark")
	im.accessible("import, more than the quota")
	im.expects("403")
	im.press("Register 30 hotspots")
	im.result(24, 0, 0, 6)
	im.sees("have 50 hotspots that wait to be verified, the most allowed")
	im.narrow("/import", "Go on with 6")
	im.shot("phone-import-stopped-dark")
	im.network.ask(t, im.staff, "PUT", "/v1/users/"+user+"/quota", map[string]any{"hotspots": 60})
	im.press("Go on with 6")
	im.result(30, 0, 0, 0)
	im.choose("again.csv", many(30, 100))
	im.result(0, 30, 0, 0)
	im.shot("phone-import-again-dark")
	im.accessible("import, all there")
}
