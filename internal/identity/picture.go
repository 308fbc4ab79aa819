package identity

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"strings"
	"sync"
	"time"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	xdraw "golang.org/x/image/draw"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

// The size that sites show beside links, in pixels.
const cardWidth, cardHeight = 1200, 630

// cardTime is how long a picture of the network is kept.
const cardTime = 10 * time.Minute

// Dots yields where public hotspots are, by their place in a square of the given size.
type Dots func(size float64, yield func(x, y float64))

// drawn is the picture of the network as it was drawn last.
type drawn struct {
	sync.Mutex // a turn, taken with nothing else held: while one request draws, others wait for its picture
	of         beacon.Identity
	at         time.Time
	file       *static.File
}

// card returns the picture of the network. Of a private one it has the name alone.
func (p *Pages) card() *static.File {
	now, i := time.Now(), p.cfg.Identity() // real time: how often it is drawn is not data
	if !p.cfg.Public {
		i.Description = ""
	}
	p.drawn.Lock()
	defer p.drawn.Unlock()
	if p.drawn.file == nil || p.drawn.of != i || now.Sub(p.drawn.at) > cardTime {
		dots := p.cfg.Dots
		if !p.cfg.Public {
			dots = nil
		}
		body := Draw(i, NameOf(i), i.Description, dots)
		p.drawn.of, p.drawn.at, p.drawn.file = i, now, static.New("GET "+Card, beacon.PNG, body, static.AlwaysAsk)
	}
	return p.drawn.file
}

// Draw returns a PNG with a title, a line below it, the logo and dots; dots may be nil.
func Draw(i beacon.Identity, title, line string, dots Dots) []byte {
	canvas := image.NewRGBA(image.Rect(0, 0, cardWidth, cardHeight))
	c := colorOf(i)
	light, _ := c.Shades()
	fill(canvas, canvas.Bounds(), color.RGBA{0xf3, 0xf5, 0xf8, 0xff})
	width := cardWidth - 2*margin
	if dots != nil {
		width = drawDots(canvas, dots, rgba(light))
	}
	fill(canvas, image.Rect(0, cardHeight-24, cardWidth, cardHeight), rgba(c))
	drawLogo(canvas, image.Rect(margin, margin, margin+128, margin+128), i)
	y := margin + 128 + 92
	y = write(canvas, bold(), 64, title, 2, width, y, color.RGBA{0x18, 0x21, 0x2e, 0xff})
	write(canvas, regular(), 36, line, 3, width, y+12, color.RGBA{0x53, 0x60, 0x71, 0xff})
	return encode(canvas)
}

const margin = 80

func rgba(c beacon.Color) color.RGBA {
	r, g, b := c.RGB()
	return color.RGBA{r, g, b, 0xff}
}

func fill(on draw.Image, where image.Rectangle, c color.Color) {
	draw.Draw(on, where, image.NewUniform(c), image.Point{}, draw.Src)
}

func encode(m image.Image) []byte {
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		panic(err) // memory does not refuse it
	}
	return out.Bytes()
}

// drawDots draws the dots in the square at the right, and returns how much is left for text.
// However many there are, a pixel gets one.
func drawDots(canvas *image.RGBA, dots Dots, c color.RGBA) (left int) {
	const side = cardHeight - 24 - 2*margin
	corner := image.Pt(cardWidth-margin-side, margin)
	seen := make([]bool, (side+1)*(side+1))
	some := false
	dots(side, func(x, y float64) {
		at := int(y)*(side+1) + int(x)
		if x < 0 || y < 0 || x > side || y > side || seen[at] {
			return
		}
		seen[at], some = true, true
		disc(canvas, float64(corner.X)+x, float64(corner.Y)+y, 5, color.RGBA{c.R, c.G, c.B, 0xff})
	})
	if !some {
		return cardWidth - 2*margin
	}
	return corner.X - 2*margin
}

// disc draws a disc with a smooth edge, through which some of what is below shines.
func disc(canvas *image.RGBA, cx, cy, radius float64, c color.RGBA) {
	for y := int(cy - radius - 1); y <= int(cy+radius+1); y++ {
		for x := int(cx - radius - 1); x <= int(cx+radius+1); x++ {
			cover(canvas, x, y, radius+0.5-math.Hypot(float64(x)+0.5-cx, float64(y)+0.5-cy), 0.7, c)
		}
	}
}

// cover mixes a color into a pixel, of which a part is covered.
func cover(canvas *image.RGBA, x, y int, part, most float64, c color.RGBA) {
	if part = min(part, 1) * most; part <= 0 || !(image.Point{X: x, Y: y}).In(canvas.Bounds()) {
		return
	}
	at := canvas.PixOffset(x, y)
	for k, v := range []uint8{c.R, c.G, c.B, c.A} {
		canvas.Pix[at+k] = uint8(math.Round(float64(canvas.Pix[at+k])*(1-part) + float64(v)*part))
	}
}

// drawIcon draws the icon of an installed console: the logo, where it is a PNG, or the mark of
// Beacon in the color of the network.
func drawIcon(i beacon.Identity, side int) []byte {
	canvas := image.NewRGBA(image.Rect(0, 0, side, side))
	drawLogo(canvas, canvas.Bounds(), i)
	return encode(canvas)
}

func drawLogo(canvas *image.RGBA, where image.Rectangle, i beacon.Identity) {
	if i.Logo.Type == beacon.PNG {
		if logo, err := png.Decode(strings.NewReader(i.Logo.Data)); err == nil {
			xdraw.CatmullRom.Scale(canvas, fit(logo.Bounds().Size(), where), logo, logo.Bounds(), draw.Over, nil)
			return
		}
	}
	drawMark(canvas, where, rgba(colorOf(i)), rgba(colorOf(i).On()))
}

// fit returns the middle of a square, as wide or high as the square, in the proportions of a size.
func fit(size image.Point, square image.Rectangle) image.Rectangle {
	side := square.Dx()
	w, h := side, side
	if size.X > size.Y {
		h = max(1, side*size.Y/size.X)
	} else {
		w = max(1, side*size.X/size.Y)
	}
	at := square.Min.Add(image.Pt((side-w)/2, (side-h)/2))
	return image.Rectangle{at, at.Add(image.Pt(w, h))}
}

// drawMark draws what icon.svg of the console has, whose unit is a 32nd of the side.
func drawMark(canvas *image.RGBA, where image.Rectangle, ground, on color.RGBA) {
	unit := float64(where.Dx()) / 32
	for y := where.Min.Y; y < where.Max.Y; y++ {
		for x := where.Min.X; x < where.Max.X; x++ {
			px, py := (float64(x-where.Min.X)+0.5)/unit, (float64(y-where.Min.Y)+0.5)/unit
			cover(canvas, x, y, (8-math.Hypot(max(0, math.Abs(px-16)-8), max(0, math.Abs(py-16)-8)))*unit+0.5, 1, ground)
			cover(canvas, x, y, (2.4-math.Hypot(px-16, py-23))*unit+0.5, 1, on)
			for _, arc := range []struct{ cy, radius, half float64 }{{22.7, 11.8, 0.80}, {23.0, 6.4, 0.79}} {
				dx, dy := px-16, py-arc.cy
				angle := math.Atan2(dx, -dy) // from straight up
				angle = max(-arc.half, min(arc.half, angle))
				d := math.Hypot(dx-arc.radius*math.Sin(angle), dy+arc.radius*math.Cos(angle))
				cover(canvas, x, y, (1.3-d)*unit+0.5, 1, on)
			}
		}
	}
}

var (
	bold    = sync.OnceValue(func() *sfnt.Font { return parse(gobold.TTF) })
	regular = sync.OnceValue(func() *sfnt.Font { return parse(goregular.TTF) })
)

func parse(file []byte) *sfnt.Font {
	f, err := opentype.Parse(file)
	if err != nil {
		panic(err) // it is part of the program
	}
	return f
}

// write writes text in a limited number of lines, and returns where the next would begin. A
// text with letters that the font lacks is left out: boxes say nothing.
func write(canvas *image.RGBA, f *sfnt.Font, size float64, text string, lines, width, y int, c color.RGBA) int {
	if !hasAll(f, text) {
		return y
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return y
	}
	defer face.Close()
	d := font.Drawer{Dst: canvas, Src: image.NewUniform(c), Face: face}
	for _, line := range wrap(&d, text, lines, fixed.I(width)) {
		d.Dot = fixed.P(margin, y)
		d.DrawString(line)
		y += int(size * 1.25)
	}
	return y
}

func hasAll(f *sfnt.Font, text string) bool {
	var buf sfnt.Buffer
	for _, r := range text {
		if n, err := f.GlyphIndex(&buf, r); err != nil || n == 0 {
			return false
		}
	}
	return true
}

// wrap divides a text into lines that fit. The last ends with an ellipsis if there is more.
func wrap(d *font.Drawer, text string, lines int, width fixed.Int26_6) (out []string) {
	words := strings.Fields(text)
	for len(words) > 0 {
		n := 1
		for n < len(words) && d.MeasureString(strings.Join(words[:n+1], " ")) <= width {
			n++
		}
		line := strings.Join(words[:n], " ")
		last := len(out) == lines-1
		if words = words[n:]; d.MeasureString(line) > width || last && len(words) > 0 {
			letters := []rune(line)
			for len(letters) > 0 && d.MeasureString(string(letters)+"…") > width {
				letters = letters[:len(letters)-1]
			}
			line = strings.TrimRight(string(letters), " ") + "…"
		}
		if out = append(out, line); last {
			break
		}
	}
	return out
}
