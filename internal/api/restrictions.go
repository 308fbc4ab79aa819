package api

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// publicPatterns are the routes that a publishable key may use: they show the same to
// everyone (decision D107).
var publicPatterns = []string{"GET /v1/hotspots/nearby", "GET /v1/hotspots/{id}", "GET /v1/coverage", tilePattern}

func isPublic(rt route) bool { return slices.Contains(publicPatterns, rt.pattern) }

var (
	errPublishable = &beacon.Error{Kind: beacon.Forbidden, Message: "a publishable key may only find and read hotspots and coverage"}
	errElsewhere   = &beacon.Error{Kind: beacon.Forbidden, Message: "this key is restricted to other origins or addresses"}
)

// checkPlace refuses a restricted key that is used elsewhere than it may be. That counts
// like a wrong key: a thief must not use up the limit of the key.
func (a *API) checkPlace(w http.ResponseWriter, r *http.Request, p beacon.Principal, now time.Time) error {
	if p.Restrictions == nil {
		return nil
	}
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // no range contains the zero address
	if p.Restrictions.Admits(strings.Join(r.Header["Origin"], ","), peer.Addr()) {
		return nil
	}
	if err := a.limits.spendFailure(w.Header(), r, now); err != nil {
		return err
	}
	return errElsewhere
}
