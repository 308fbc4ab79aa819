package preview

import (
	"fmt"
	"net/http"
	"strings"
)

// keyHeader is the header in Go's canonical spelling, as its map holds it.
const keyHeader = "X-Api-Key"

const (
	minKeyLetters = 6
	maxKeyBytes   = 256
)

// keyShape is what a demo key must look like (decision P1). Any value of the
// shape will do: nothing is issued, so nothing is looked up.
type keyShape struct {
	test, live string // the two prefixes
}

func newKeyShape(prefix string) (keyShape, error) {
	if !alphanumeric(prefix) {
		return keyShape{}, fmt.Errorf("preview key prefix %q: use letters and digits only", prefix)
	}
	return keyShape{test: prefix + "_test_", live: prefix + "_live_"}, nil
}

// presentedBy reports whether a request carries exactly one key of the shape.
func (k keyShape) presentedBy(r *http.Request) bool {
	keys := r.Header[keyHeader]
	return len(keys) == 1 && k.matches(keys[0])
}

// matches reports whether all of the key is <prefix>_(test|live)_[a-zA-Z0-9]{6,}.
func (k keyShape) matches(key string) bool {
	letters, ok := strings.CutPrefix(key, k.test)
	if !ok {
		letters, ok = strings.CutPrefix(key, k.live)
	}
	return ok && len(key) <= maxKeyBytes && len(letters) >= minKeyLetters && alphanumeric(letters)
}

func alphanumeric(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != ""
}
