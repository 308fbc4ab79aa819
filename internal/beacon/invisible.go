package beacon

import (
	"errors"
	"strings"
)

var errHidden = errors.New("must not contain invisible characters such as U+200B")

// hidden are characters that show nothing and join nothing: two names that differ only
// in them look alike. The zero-width joiners are not among them, since Persian words and
// families of emoji are written with them.
const hidden = "\u00ad\u200b\u2060\ufeff"

// checkHidden refuses what is hidden in a new name. Names of before may have such
// characters, so CleanName, by which the doctor judges, accepts them.
func checkHidden(name string) error {
	if strings.ContainsAny(name, hidden) {
		return errHidden
	}
	return nil
}
