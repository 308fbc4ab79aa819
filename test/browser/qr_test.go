package browser_test

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/beacon-wifi/beacon/test/harness"
)

// scans reads the QR code that the page shows, from a picture of the page, as a phone would.
func (p *page) scans() string {
	p.t.Helper()
	p.until(`document.querySelector(".qr path")`)
	var text string
	var err error
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline) && p.ctx.Err() == nil; {
		if text, err = p.scan(); err == nil { // else what is above it may have grown meanwhile
			return text
		}
	}
	p.fail("the QR code cannot be read: %v", err)
	return ""
}

func (p *page) scan() (string, error) {
	at := eval[[]float64](p, `(() => {
		const e = document.querySelector(".qr");
		e.scrollIntoView({block: "center", behavior: "instant"});
		const {left, top, width, right, bottom} = e.getBoundingClientRect();
		return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight ? [left, top, width, e.viewBox.baseVal.width] : [];
	})()`)
	if len(at) == 0 {
		return "", errors.New("it is not in sight as a whole")
	}
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return "", err
	}
	picture, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return "", err
	}
	const margin = 4
	left, top, square, size := at[0], at[1], at[2]/at[3], int(at[3])-2*margin
	return readQR(size, func(x, y int) bool {
		middle := func(from float64, n int) int { return int(from + (float64(n+margin)+0.5)*square) }
		return color.GrayModel.Convert(picture.At(middle(left, x), middle(top, y))).(color.Gray).Y < 128
	})
}

// blocksOfM are how many blocks the versions 1 to 6 have at the level M, and how many bytes of
// data each block: table 9 of ISO/IEC 18004.
var blocksOfM = [...][2]int{1: {1, 16}, 2: {1, 28}, 3: {1, 44}, 4: {2, 32}, 5: {2, 43}, 6: {4, 27}}

// readQR reads a code of bytes. It corrects no errors: those of a screen have none.
func readQR(size int, dark func(x, y int) bool) (string, error) {
	version := (size - 17) / 4
	if size%4 != 1 || version < 1 || version >= len(blocksOfM) {
		return "", fmt.Errorf("no version has %d squares on a side", size)
	}
	format := 0
	for i, at := range [15][2]int{{8, 0}, {8, 1}, {8, 2}, {8, 3}, {8, 4}, {8, 5}, {8, 7}, {8, 8}, {7, 8}, {5, 8}, {4, 8}, {3, 8}, {2, 8}, {1, 8}, {0, 8}} {
		if dark(at[0], at[1]) {
			format |= 1 << i
		}
	}
	format ^= 0x5412
	if level := format >> 13; level != 0 {
		return "", fmt.Errorf("its level is %d, not M", level)
	}
	bytes := codewords(size, func(x, y int) bool { return dark(x, y) != masked(format>>10&7, x, y) })

	// The blocks take turns.
	blocks, each := blocksOfM[version][0], blocksOfM[version][1]
	var data []byte
	for block := range blocks {
		for i := range each {
			data = append(data, bytes[i*blocks+block])
		}
	}
	if mode := data[0] >> 4; mode != 4 {
		return "", fmt.Errorf("its mode is %d, not bytes", mode)
	}
	text := make([]byte, data[0]<<4|data[1]>>4)
	if len(text) > len(data)-2 {
		return "", fmt.Errorf("%d bytes do not fit", len(text))
	}
	for i := range text {
		text[i] = data[i+1]<<4 | data[i+2]>>4
	}
	return string(text), nil
}

// codewords reads what the squares say, in pairs of columns from the right, up and down.
func codewords(size int, dark func(x, y int) bool) (bytes []byte) {
	bits, read := 0, byte(0)
	up := true
	for right := size - 1; right > 0; right -= 2 {
		if right == 6 {
			right-- // the column that counts squares
		}
		for i := range size {
			y := i
			if up {
				y = size - 1 - i
			}
			for _, x := range []int{right, right - 1} {
				if fixed(size, x, y) {
					continue
				}
				if read <<= 1; dark(x, y) {
					read |= 1
				}
				if bits++; bits%8 == 0 {
					bytes = append(bytes, read)
				}
			}
		}
		up = !up
	}
	return bytes
}

// fixed reports whether a square has no data: those of the corners, of the lines between them,
// and of the smaller mark.
func fixed(size, x, y int) bool {
	corner := x < 9 && y < 9 || x >= size-8 && y < 9 || x < 9 && y >= size-8
	mark := size > 21 && x >= size-9 && x < size-4 && y >= size-9 && y < size-4
	return corner || mark || x == 6 || y == 6
}

// masked reports whether a mask turns a square over.
func masked(mask, x, y int) bool {
	switch mask {
	case 0:
		return (x+y)%2 == 0
	case 1:
		return y%2 == 0
	case 2:
		return x%3 == 0
	case 3:
		return (x+y)%3 == 0
	case 4:
		return (x/3+y/2)%2 == 0
	case 5:
		return x*y%2+x*y%3 == 0
	case 6:
		return (x*y%2+x*y%3)%2 == 0
	default:
		return ((x+y)%2+x*y%3)%2 == 0
	}
}
