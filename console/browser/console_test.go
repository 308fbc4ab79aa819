package browser_test

import (
	"testing"
)

// TestConsole goes through the console as its users do.
func TestConsole(t *testing.T) {
	b := launch(t)
	n := start(t)
	t.Run("preview", func(t *testing.T) { testPreview(t, b, n) })
	t.Run("map", func(t *testing.T) { testMap(t, b, n) })
}

// Without a key, the map shows the preview.
func testPreview(t *testing.T, b *browser, n *network) {
	p := b.open(t, n.url, desk)
	p.sees("78 fixed records")
	p.calm()
	p.shot("preview")
	p.clickMap(0.6, 0.5)
	p.sees("Nearest to your click")
	p.fill(`input[type="search"]`, "bryant")
	p.click(".results button")
	p.sees("Green chairs near the 40th Street corner")
	p.calm()
	p.shot("preview-record")
}

func testMap(t *testing.T, b *browser, n *network) {
	p := b.open(t, n.url, desk)
	p.signIn(n.operator)
	p.sees("Live")
	p.until(`document.querySelector(".figures dd").innerText === "12"`)
	p.calm()
	p.shot("map")
}
