package security

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/access"
)

// shape is a text that opens something. Few texts have the word in it, which is
// found much faster than the rest.
type shape struct {
	what, word string
	form       *regexp.Regexp
}

// secretShapes are those of others. What is only made up in documents and tests
// does not have them.
var secretShapes = []shape{
	{"a private key", "PRIVATE KEY", regexp.MustCompile(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----`)},
	{"a token of GitHub's", "gh", regexp.MustCompile(`gh[pousr]_[A-Za-z0-9]{36}`)},
	{"a token of GitHub's", "github_pat_", regexp.MustCompile(`github_pat_[A-Za-z0-9_]{82}`)},
	{"an access key of Amazon's", "AKIA", regexp.MustCompile(`AKIA[A-Z2-7]{16}`)},
	{"a key of Google's", "AIza", regexp.MustCompile(`AIza[A-Za-z0-9_-]{35}`)},
	{"a token of Slack's", "xox", regexp.MustCompile(`xox[abprs]-[A-Za-z0-9-]{20,}`)},
	{"a token of npm's", "npm_", regexp.MustCompile(`npm_[A-Za-z0-9]{36}`)},
}

// ourKey is what a key of ours looks like, of a person or of a device.
var ourKey = regexp.MustCompile(`bcn_[0-9a-z]{26}_[0-9A-Za-z]{36}`)

// Secret is something that should not be where it was found.
type Secret struct {
	What string
	Text string
}

// Secrets finds what opens something in a text. A key of ours counts when its
// checksum is right: those of examples, which were written by hand, are not.
func Secrets(text []byte) []Secret {
	var found []Secret
	for _, key := range ourKey.FindAll(text, -1) {
		if _, ok := access.Parse(string(key)); ok {
			found = append(found, Secret{"a key of Beacon's", string(key)})
		}
	}
	for _, s := range secretShapes {
		if !bytes.Contains(text, []byte(s.word)) {
			continue
		}
		for _, match := range s.form.FindAll(text, -1) {
			found = append(found, Secret{s.what, string(match)})
		}
	}
	slices.SortFunc(found, func(a, b Secret) int { return strings.Compare(a.Text, b.Text) })
	return found
}
