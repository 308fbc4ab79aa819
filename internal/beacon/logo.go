package beacon

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The types of logos.
const (
	SVG = "image/svg+xml"
	PNG = "image/png"
)

const (
	// MaxLogo is how many bytes a logo may have.
	MaxLogo = 40 << 10
	// maxLogoSide and minLogoSide bound the sides of a PNG, in pixels.
	maxLogoSide, minLogoSide = 1024, 16
	// maxLogoDepth is how deep the elements of an SVG may be nested.
	maxLogoDepth = 32
)

// Logo is the logo of the network; zero: none. It is checked when it is set, and shown as an
// image alone, from an address whose policy lets nothing run or load (decision D240).
type Logo struct {
	Type string // SVG or PNG
	Data string // the file
}

// String returns the logo as a data URL.
func (l Logo) String() string {
	if l.Data == "" {
		return ""
	}
	return "data:" + l.Type + ";base64," + base64.StdEncoding.EncodeToString([]byte(l.Data))
}

// Note describes the logo, for the audit.
func (l Logo) Note() string {
	if l.Data == "" {
		return ""
	}
	return fmt.Sprintf("%s of %d kB", l.Type, (len(l.Data)+1023)/1024)
}

var errLogoForm = errors.New("must be a data URL of an SVG or PNG: data:image/svg+xml;base64, or data:image/png;base64, and the file in base64")

// ParseLogo reads a data URL and checks what it holds.
func ParseLogo(text string) (l Logo, err error) {
	kind, data, found := strings.Cut(strings.TrimPrefix(text, "data:"), ";base64,")
	if !found || !strings.HasPrefix(text, "data:") || kind != SVG && kind != PNG {
		return l, errLogoForm
	}
	if len(data) > base64.StdEncoding.EncodedLen(MaxLogo) {
		return l, fmt.Errorf("must be at most %d kB", MaxLogo>>10)
	}
	file, err := base64.StdEncoding.Strict().DecodeString(data)
	if err != nil {
		return l, errLogoForm
	}
	return NewLogo(kind, file)
}

// NewLogo checks a file of a type.
func NewLogo(kind string, file []byte) (Logo, error) {
	check := checkPNG
	if kind == SVG {
		check = checkSVG
	}
	if len(file) > MaxLogo {
		return Logo{}, fmt.Errorf("must be at most %d kB", MaxLogo>>10)
	}
	if err := check(file); err != nil {
		return Logo{}, err
	}
	return Logo{Type: kind, Data: string(file)}, nil
}

func checkPNG(file []byte) error {
	size, err := png.DecodeConfig(bytes.NewReader(file)) // before there is memory for all pixels
	if err != nil {
		return errors.New("is not a PNG that can be read")
	}
	if side := max(size.Width, size.Height); side > maxLogoSide || min(size.Width, size.Height) < minLogoSide {
		return fmt.Errorf("must be %d to %d pixels wide and high; it is %d × %d", minLogoSide, maxLogoSide, size.Width, size.Height)
	}
	if _, err := png.Decode(bytes.NewReader(file)); err != nil {
		return errors.New("is not a PNG that can be read to its end")
	}
	return nil
}

const svgSpace = "http://www.w3.org/2000/svg"

// drawing are the elements that a logo may have: what draws, and nothing that runs, moves, loads,
// or repeats other parts, which nested would never end.
var drawing = []string{
	"svg", "g", "defs", "title", "desc", "style", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon",
	"linearGradient", "radialGradient", "stop", "clipPath", "mask", "text", "tspan",
}

var (
	// reaching is CSS that reaches out of the file, or may hide that it does.
	reaching = regexp.MustCompile(`(?i)url\(\s*["']?\s*[^#"'\s]|image-set|[@\\]|expression|javascript:|data:`)
	anyURL   = regexp.MustCompile(`(?i)url\(`)
)

// checkSVG accepts drawings alone. Browsers must read the file as it is read here, so it is
// strict: XML in UTF-8 without entities of its own.
func checkSVG(file []byte) error {
	if !utf8.Valid(file) {
		return errors.New("must be an SVG in UTF-8")
	}
	in := xml.NewDecoder(bytes.NewReader(file))
	var open []xml.Name
	clips, roots := 0, 0 // how many elements that clip others are open
	var style []byte     // the text of all style elements: comments divide it, and join it again
	clipped := false     // whether there is anything that clips others
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.New("is not an SVG that can be read as XML")
		}
		switch token := token.(type) {
		case xml.Directive:
			return errors.New("must have no <!DOCTYPE>, <!ENTITY> or other declarations")
		case xml.ProcInst:
			if token.Target != "xml" {
				return fmt.Errorf("must have no <?%.20s?>", token.Target)
			}
		case xml.StartElement:
			if len(open) == 0 {
				if roots++; roots > 1 || token.Name != (xml.Name{Space: svgSpace, Local: "svg"}) {
					return errNoRoot
				}
			}
			if open = append(open, token.Name); len(open) > maxLogoDepth {
				return fmt.Errorf("must be at most %d elements deep", maxLogoDepth)
			}
			if err := checkElement(token, clips > 0); err != nil {
				return err
			}
			if isClip(token.Name) {
				clips, clipped = clips+1, true
			}
		case xml.EndElement:
			if open = open[:len(open)-1]; isClip(token.Name) {
				clips--
			}
		case xml.CharData:
			if n := len(open); n > 0 && open[n-1].Local == "style" {
				style = append(style, token...)
			}
		}
	}
	switch {
	case roots == 0:
		return errNoRoot
	case reaching.Match(style):
		return errors.New("must have no <style> with addresses, @ or backslashes")
	case clipped && anyURL.Match(style):
		return errors.New("must have no <style> with url() beside what clips or masks")
	}
	return nil
}

var errNoRoot = errors.New(`must be one <svg xmlns="` + svgSpace + `">`)

func isClip(name xml.Name) bool { return name.Local == "clipPath" || name.Local == "mask" }

// checkElement checks an element. What clips others must not be clipped itself: nested, the work
// of drawing it doubles each time.
func checkElement(e xml.StartElement, clips bool) error {
	if e.Name.Space != svgSpace || !slices.Contains(drawing, e.Name.Local) {
		return fmt.Errorf("must have no <%.30s>: save it as plain SVG of paths and shapes", e.Name.Local)
	}
	for _, a := range e.Attr {
		name, value := strings.ToLower(a.Name.Local), strings.TrimSpace(a.Value)
		switch {
		case a.Name.Space == "xmlns" || a.Name.Space == "" && name == "xmlns":
		case strings.HasPrefix(name, "on"):
			return fmt.Errorf("must have no scripts, such as %.30s", a.Name.Local)
		case name == "href" && !strings.HasPrefix(value, "#"), name == "src", name == "base":
			return fmt.Errorf("must name nothing outside of itself, as %.30s does", a.Name.Local)
		case reaching.MatchString(value):
			return fmt.Errorf("must name nothing outside of itself, as %.30s does", a.Name.Local)
		case (clips || isClip(e.Name)) && anyURL.MatchString(value):
			return fmt.Errorf("must have no %.30s within what clips or masks", a.Name.Local)
		}
	}
	return nil
}
