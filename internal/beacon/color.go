package beacon

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Color is a color as "#0b62ba", or empty.
type Color string

// DefaultColor is that of a network which has chosen none.
const DefaultColor Color = "#0b62ba"

const (
	white Color = "#ffffff"
	black Color = "#000000"

	// The surfaces of pages on which text in the color stands: in the light, the darkest of
	// them; in the dark, the lightest. The console's tokens.css has them all.
	lightGround Color = "#f3f5f8"
	darkGround  Color = "#171f29"

	// readable is the contrast that text needs (WCAG 2.2, level AA).
	readable = 4.5
)

var colorForm = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// CleanColor returns a color in the form in which it is stored. Any color may be chosen: see
// Shades.
func CleanColor(raw string) (Color, error) {
	c := strings.ToLower(strings.TrimSpace(raw))
	if !colorForm.MatchString(c) {
		return "", errors.New("must be a color such as #0b62ba: # and six hexadecimal digits")
	}
	return Color(c), nil
}

// RGB returns the parts of the color.
func (c Color) RGB() (r, g, b uint8) {
	n, _ := strconv.ParseUint(strings.TrimPrefix(string(c), "#"), 16, 24) // CleanColor has checked it
	return uint8(n >> 16), uint8(n >> 8), uint8(n)
}

// Shades returns the color as text can have it on light and on dark pages: mixed with as much
// black or white as it takes to be readable there. For black and white mixed with enough of the
// other are, there are such shades of each color.
func (c Color) Shades() (light, dark Color) {
	return c.until(black, lightGround), c.until(white, darkGround)
}

// until mixes in another color, by hundredths, until the contrast to the ground is enough.
func (c Color) until(other, ground Color) Color {
	shade := c
	for part := 0.0; part <= 100 && contrast(shade, ground) < readable; part++ {
		shade = c.mix(other, part/100)
	}
	return shade
}

// On returns black or white, whichever is easier to read on the color. Its contrast is at least
// 4.58.
func (c Color) On() Color {
	if contrast(c, white) >= contrast(c, black) {
		return white
	}
	return black
}

func (c Color) mix(other Color, part float64) Color {
	r, g, b := c.RGB()
	r2, g2, b2 := other.RGB()
	out := []byte{'#'}
	for _, v := range [][2]uint8{{r, r2}, {g, g2}, {b, b2}} {
		mixed := uint8(math.Round(float64(v[0])*(1-part) + float64(v[1])*part))
		out = append(out, "0123456789abcdef"[mixed>>4], "0123456789abcdef"[mixed&15])
	}
	return Color(out)
}

// contrast returns the contrast of two colors by WCAG 2.2, from 1 to 21.
func contrast(a, b Color) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func (c Color) luminance() float64 {
	linear := func(part uint8) float64 {
		v := float64(part) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	r, g, b := c.RGB()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}
