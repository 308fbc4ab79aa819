// Package qrsvg draws QR codes as paths for SVG. It does not know what the codes are for.
// Its one invariant: a drawing has four squares of white on each side, which readers need.
package qrsvg

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// Code is a drawing.
type Code struct {
	Size int      // of the square, with its margin
	Rows []string // a path for the black parts of each row
}

// margin is how many squares of white are on each side.
const margin = 4

// Draw draws a text. It fails if the text is too long.
func Draw(text string) (Code, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return Code{}, err
	}
	drawn := Code{Size: code.Size + 2*margin}
	for y := range code.Size {
		var row strings.Builder
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&row, "M%d %dh%dv1h-%dz", from+margin, y+margin, x-from, x-from)
			}
		}
		if row.Len() > 0 {
			drawn.Rows = append(drawn.Rows, row.String())
		}
	}
	return drawn, nil
}
