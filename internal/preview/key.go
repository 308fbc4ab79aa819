package preview

import (
	"fmt"
	"net/http"
	"strings"
)

// keyHeader is the key's header name in Go's canonical form.
const keyHeader = "X-Api-Key"

const (
	minKeyLetters = 6
	maxKeyBytes   = 256
)

// keyShape is the format of a demo key (decision P1). Any key of the right format is
// accepted: none are issued, so none are looked up.
type keyShape struct {
	test, live string // the two prefixes
}

func newKeyShape(prefix string) (keyShape, error) {
	if !alphanumeric(prefix) {
		return keyShape{}, fmt.Errorf("preview key prefix %q: use letters and digits only", prefix)
	}
	return keyShape{test: prefix + "_test_", live: prefix + "_live_"}, nil
}

// presentedBy reports whether a request carries exactly one key of the right format.
func (k keyShape) presentedBy(r *http.Request) bool {
	keys := r.Header[keyHeader]
	return len(keys) == 1 && k.matches(keys[0])
}

// matches reports whether the whole key is <prefix>_(test|live)_[a-zA-Z0-9]{6,}.
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
