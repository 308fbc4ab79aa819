package static

import (
	"net/http"
	"slices"
	"strings"
)

// Guard holds the headers that restrict what a page may do in a browser. If foreign
// text ever got into a page as markup, it could still run nothing, load nothing and send
// nothing.
type Guard struct {
	content, permissions []string
}

// NewGuard returns a guard. content lists the sources that may be loaded, and where forms
// may be sent; all others are blocked. permissions is the value of Permissions-Policy.
func NewGuard(permissions string, content ...string) Guard {
	policy := append([]string{"default-src 'none'"}, content...)
	policy = append(policy, "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'")
	if !slices.ContainsFunc(content, func(c string) bool { return strings.HasPrefix(c, "form-action ") }) {
		policy = append(policy, "form-action 'none'")
	}
	return Guard{content: []string{strings.Join(policy, "; ")}, permissions: []string{permissions}}
}

// Header values are shared between responses: net/http only reads them.
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
