package beacon

import "strings"

// LinkCodeLength is the number of characters of a link code (decision X2),
// hyphens aside.
const LinkCodeLength = 8

// linkAlphabet is Crockford's base32: no letter in it can be taken for a digit.
const linkAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// SpellLinkCode gives the canonical form of a code of random bytes, five bits
// of each.
func SpellLinkCode(random [LinkCodeLength]byte) string {
	var text [LinkCodeLength]byte
	for i, b := range random {
		text[i] = linkAlphabet[b%byte(len(linkAlphabet))]
	}
	return string(text[:])
}

// CanonicalLinkCode reads a code as someone may have typed it: in either case,
// with hyphens and spaces anywhere or nowhere, O for 0, I or L for 1.
func CanonicalLinkCode(text string) (canonical string, ok bool) {
	const longest = 4 * LinkCodeLength // no care needs more
	if len(text) > longest {
		return "", false
	}
	var code strings.Builder
	for _, c := range []byte(text) {
		switch c {
		case '-', ' ':
			continue
		case 'o', 'O':
			c = '0'
		case 'i', 'I', 'l', 'L':
			c = '1'
		}
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		if strings.IndexByte(linkAlphabet, c) < 0 {
			return "", false
		}
		code.WriteByte(c)
	}
	return code.String(), code.Len() == LinkCodeLength
}

// LinkForm is what a device wrote to be linked.
type LinkForm struct {
	Code, MAC Opt[string]
}

// Validate lists the faults that tell nothing of codes and devices: whether the
// texts are right, and even whether they can be, is for one refusal to say.
func (form LinkForm) Validate() error {
	var f Faults
	Required(form.Code, "code", &f)
	Required(form.MAC, "mac_address", &f)
	return f.Err()
}
