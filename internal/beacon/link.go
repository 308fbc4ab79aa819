package beacon

import (
	"strings"
	"time"
)

// LinkCodeLength is the number of characters of a link code (decision X2), not
// counting hyphens.
const LinkCodeLength = 8

// linkAlphabet is Crockford's base32: none of its letters can be mistaken for a
// digit.
const linkAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// SpellLinkCode returns the canonical form of a code of random bytes, five bits of
// each.
func SpellLinkCode(random [LinkCodeLength]byte) string {
	var text [LinkCodeLength]byte
	for i, b := range random {
		text[i] = linkAlphabet[b%byte(len(linkAlphabet))]
	}
	return string(text[:])
}

// CanonicalLinkCode returns the canonical form of a code as someone may have typed
// it: in either case, with or without hyphens and spaces anywhere, O for 0, I or L
// for 1.
func CanonicalLinkCode(text string) (canonical string, ok bool) {
	return canonicalCode(text, LinkCodeLength)
}

func canonicalCode(text string, length int) (canonical string, ok bool) {
	if longest := 4 * length; len(text) > longest { // enough for any reasonable typing
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
	return code.String(), code.Len() == length
}

// LinkCode is a code that can link a device, once (decision X2).
type LinkCode struct {
	Hotspot   HotspotID
	Operator  UserID // whose the hotspot was when the code was made
	Hash      [32]byte
	ExpiresAt time.Time
	Tries     int  // how often it was used in vain
	Void      bool // it can no longer be used: it is deleted
}

// LinkForm is what a device sent to be linked.
type LinkForm struct {
	Code, MAC Opt[string]
	Agent     Opt[AgentForm]
}

// Validate lists only the faults that reveal nothing about codes and devices. Whether
// the texts are right, or could be at all, is left to a single refusal.
func (form LinkForm) Validate() error {
	var f Faults
	Required(form.Code, "code", &f)
	Required(form.MAC, "mac_address", &f)
	checkAgent(form.Agent, &f)
	return f.Err()
}
