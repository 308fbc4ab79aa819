package static

import (
	"net/http"
	"strings"
)

// Guard is what a browser is told to keep pages from. Where text of strangers
// should ever get into a page as markup, it could still run nothing, load
// nothing and send nothing anywhere.
type Guard struct {
	content, permissions []string
}

// NewGuard makes a guard: content says from where what may be loaded, beside
// which nothing is; permissions are those of the Permissions-Policy.
func NewGuard(permissions string, content ...string) Guard {
	policy := append([]string{"default-src 'none'"}, content...)
	policy = append(policy, "object-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'")
	return Guard{content: []string{strings.Join(policy, "; ")}, permissions: []string{permissions}}
}

// Header values are shared between answers: net/http only reads them.
var (
	noSniff    = []string{"nosniff"}
	deny       = []string{"DENY"}
	noReferrer = []string{"no-referrer"}
	sameOrigin = []string{"same-origin"}
)

// Set sets the headers.
func (g Guard) Set(h http.Header) {
	h["Content-Security-Policy"] = g.content
	h["X-Content-Type-Options"] = noSniff
	h["X-Frame-Options"] = deny
	h["Referrer-Policy"] = noReferrer
	h["Cross-Origin-Opener-Policy"] = sameOrigin
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	h["Permissions-Policy"] = g.permissions
}
