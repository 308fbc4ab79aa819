package api

import (
	"context"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/registry"
)

// namesARequest is how many names a search may scan in the database for the price of one
// request: a key's limit is a limit on work.
const namesARequest = 10_000

// owned lists the hotspots of a user. A search over many hotspots counts as more than
// one request.
func (a *API) owned(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	in, err := decodeOwned(r)
	if err != nil {
		return err
	}
	in.Charge = func(looked int) error {
		return a.limits.spendMore(w.Header(), p, looked/a.namesARequest, time.Now())
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	list, err := a.registry.Owned(ctx, p, in)
	if err != nil {
		return err
	}
	return a.write(w, http.StatusOK, showPage(list, ownedList, func(v registry.View) string { return string(v.Hotspot.ID) }, showHotspot))
}

func decodeOwned(r *http.Request) (registry.Owned, error) {
	q, err := newQuery(r)
	if err != nil {
		return registry.Owned{}, err
	}
	in := registry.Owned{
		User: beacon.UserID(r.PathValue("id")),
		Page: q.page(ownedList),
		Text: q.search(),
	}
	return in, q.faults.Err()
}

// search reads the text to search names for.
func (q *query) search() string {
	raw, ok := q.get("q")
	if !ok {
		return ""
	}
	text, err := beacon.CleanSearch(raw)
	if err != nil {
		q.faults.Add("q", err.Error())
	}
	return text
}
