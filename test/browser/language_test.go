package browser_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Whoever's browser asks for Spanish reads it on every page, wide and narrow: nothing is
// cut off, and nothing stays English.
func testLanguage(t *testing.T, b *browser, n *network) {
	english := onlyEnglish(t)
	for _, l := range []look{{width: small.width, height: small.height, dark: true}, wide} {
		walk := func(key string, pages [][2]string) *page {
			p := b.open(t, "about:blank", l)
			p.asksFor("es-MX,es,en")
			p.do(chromedp.Navigate(n.url + "/preview"))
			p.sees("78 registros fijos")
			p.inSpanish(english)
			p.press("Iniciar sesión")
			p.sees("Clave de la API")
			p.inSpanish(english)
			p.fill(`input[name="key"]`, key)
			p.click(`form button[type="submit"]`)
			p.sees("Salir")
			for _, page := range pages {
				p.narrow(page[0], page[1])
				p.inSpanish(english)
			}
			p.accessible("in Spanish: " + pages[len(pages)-1][0])
			return p
		}
		p := walk(n.operator, [][2]string{
			{"/map?at=40.75360,-73.98320,15.00", "De la vista"},
			{"/hotspots", "Requiere atención"},
			{"/hotspots/" + n.hotspots[0].id, "Recompensas por día"},
			{"/rewards", "Por mes"},
			{"/keys", "Mis claves"},
			{"/import", "Plantilla"},
			{"/register", "Registrar un punto de acceso"},
		})
		p.expects("400")
		p.click(`form button[type="submit"]`)
		p.sees("La ubicación es un dato obligatorio.")
		p.inSpanish(english)
		walk(n.staff, [][2]string{
			{"/staff", "Más tiempo sin conexión"},
			{"/staff/verifications", "Verificaciones pendientes"},
			{"/staff/settings", "Privacidad de las viviendas"},
			{"/staff/review", "veredicto"},
			{"/staff/holds", "Cómo funcionan"},
			{"/staff/hotspots", "Todos los puntos de acceso"},
			{"/staff/operators", "días que están cerrados"},
			{"/staff/months", "medianoche"},
			{"/staff/policy", "Otras condiciones"},
			{"/staff/audit", "Id de lo que cambió"},
			{"/staff/inventory", "Equipos enlazados"},
			{"/staff/keys", "Permisos"},
			{"/visits", "Visitas"},
			{"/visits/" + n.hotspots[0].id, "Retirar la verificación"},
		})
	}
	testLanguageFirst(t, b, english)
	testLanguageSwitch(t, b, n)
}

// The first key, the public map and the page of a hotspot are in Spanish too.
func testLanguageFirst(t *testing.T, b *browser, english *regexp.Regexp) {
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	n.serve(t, "--public")
	for _, l := range []look{{width: small.width, height: small.height, dark: true}, wide} {
		p := b.open(t, "about:blank", l)
		p.asksFor("es-MX,es,en")
		if len(n.hotspots) == 0 {
			p.do(chromedp.Navigate(n.invitation(t)))
			p.sees("Su red empieza aquí")
			p.inSpanish(english)
			p.press("Una clave en su lugar")
			p.sees("Esta red aún no tiene ninguna clave.")
			p.inSpanish(english)
			p.press("Crear la clave")
			p.sees("se muestra una sola vez")
			p.inSpanish(english)
			p.fits()
			p.shot("first-key-es")
			p.press("Ocultar las viviendas (recomendado)")
			p.sees("Las viviendas están ocultas para terceros.")
			n.staff = eval[string](p, `document.querySelector(".secret").innerText`)
			n.operator = n.staff
			n.hotspots = append(n.hotspots, n.bringUp(t, 0, names[0]))
			n.beat(t, n.hotspots...)
			p.press("Salir")
		} else {
			p.do(chromedp.Navigate(n.url))
		}
		p.narrow("/map", "Elija un punto de acceso para ver si funciona.")
		p.inSpanish(english)
		p.narrow("/map/"+n.hotspots[0].id, "Página de estado")
		p.inSpanish(english)
		p.press("Página de estado")
		p.sees("¿Soy yo o el punto de acceso?")
		p.inSpanish(english)
		p.fits()
	}
}

// The switch is kept for the device; where the browser asks for a language that there is
// not, the network's setting decides.
func testLanguageSwitch(t *testing.T, b *browser, n *network) {
	p := b.open(t, n.url+"/preview", wide)
	p.sees("78 fixed records")
	p.press("ES")
	p.sees("78 registros fijos")
	p.until(`document.documentElement.lang === "es"`)
	p.do(chromedp.Reload())
	p.sees("78 registros fijos")
	p.press("EN")
	p.sees("78 fixed records")
	p.until(`document.documentElement.lang === "en"`)

	n.ask(t, n.staff, "PATCH", "/v1/settings", map[string]any{"language": "es"})
	defer n.ask(t, n.staff, "PATCH", "/v1/settings", map[string]any{"language": nil})
	p = b.open(t, "about:blank", wide)
	p.asksFor("de-DE,de")
	p.do(chromedp.Navigate(n.url + "/#/sign-in"))
	p.signIn(n.operator)
	p.sees("Salir")
}

// asksFor sets the languages that the browser asks for.
func (p *page) asksFor(languages string) {
	p.t.Helper()
	agent := eval[string](p, `navigator.userAgent`)
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent, AcceptLanguage: languages})
		return err
	}))
}

var (
	quoted   = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	template = regexp.MustCompile("`([^`]*)`")
	value    = regexp.MustCompile(`\$\{[^}]*\}`)
	letter   = regexp.MustCompile(`\pL`)
	comment  = regexp.MustCompile(`(?m)^\s*//.*$|^import .*$`)
)

// onlyEnglish returns a pattern for each English message that is no Spanish one too.
func onlyEnglish(t *testing.T) *regexp.Regexp {
	t.Helper()
	english, spanish := messages(t, "en"), messages(t, "es")
	english = slices.DeleteFunc(english, func(text string) bool { return slices.Contains(spanish, text) })
	if len(english) < 500 {
		t.Fatalf("found %d English messages", len(english))
	}
	return regexp.MustCompile(`^(?:` + strings.Join(english, "|") + `)$`)
}

// messages returns the texts of a language as patterns, with anything in place of values.
func messages(t *testing.T, language string) []string {
	t.Helper()
	files, err := filepath.Glob("../../console/src/messages/" + language + "/*.ts")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := comment.ReplaceAllString(string(source), "")
		for _, found := range slices.Concat(template.FindAllStringSubmatch(code, -1), quoted.FindAllStringSubmatch(template.ReplaceAllString(code, ""), -1)) {
			parts := value.Split(strings.TrimSpace(found[1]), -1)
			least := 2
			if len(parts) > 1 {
				least = 5 // " in " between any two values may be a part of a name
			}
			if len(letter.FindAllString(strings.Join(parts, ""), -1)) < least {
				continue
			}
			for i, part := range parts {
				parts[i] = regexp.QuoteMeta(part)
			}
			texts = append(texts, strings.Join(parts, ".+"))
		}
	}
	return texts
}

// inSpanish fails the test for each English message that the page shows, or says by ear.
func (p *page) inSpanish(english *regexp.Regexp) {
	p.t.Helper()
	p.until(`document.documentElement.lang === "es"`)
	texts := eval[[]string](p, `(() => {
		const found = [document.title];
		const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (walker.nextNode()) if (walker.currentNode.parentElement.checkVisibility() && !walker.currentNode.parentElement.closest(".map, code")) found.push(walker.currentNode.data.trim());
		for (const e of document.querySelectorAll("[aria-label], [title], [placeholder]"))
			if (!e.closest("[lang]:not(html)")) found.push(e.ariaLabel ?? "", e.title, e.placeholder ?? "");
		return found;
	})()`)
	for _, text := range texts {
		if english.MatchString(text) && text != "Staff" && text != "First key" { // those are names of keys, too
			p.t.Errorf("%s stays English: %q", eval[string](p, `location.hash`), text)
		}
	}
}
