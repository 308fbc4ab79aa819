package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/id"
	"github.com/beacon-wifi/beacon/internal/registry"
)

// hotspotsARequest is how many hotspots a search may scan in memory for the price of one
// request: a key's limit is a limit on work. A key that does nothing but search a
// million hotspots keeps a sixth of a processor busy.
const hotspotsARequest = 50_000

// list serves a page of all hotspots, or of an operator's. A search over many hotspots
// counts as more than one request.
func (a *API) list(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	in, operator, err := decodeList(r)
	if err != nil {
		return err
	}
	m := a.meta(w)
	in.Now = time.Time(m.Timestamp) // one time for the filter and for the facts shown
	in.Charge = a.charging(w, p, hotspotsARequest)
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	page, err := a.registry.List(ctx, in, operator)
	if err != nil {
		return err
	}
	httpserver.WriteBody(w, http.StatusOK, appendList(nil, page, m))
	return nil
}

func decodeList(r *http.Request) (_ fleet.ListQuery, operator beacon.UserID, _ error) {
	q, err := newQuery(r)
	if err != nil {
		return fleet.ListQuery{}, "", err
	}
	in := fleet.ListQuery{Page: q.page(staffList), Text: q.search()}
	switch status := q.oneOf("status", "all", "pending", "online", "offline"); status {
	case "", "all":
	default:
		in.Status = beacon.Status(status)
	}
	if verified := q.oneOf("verified", "true", "false"); verified != "" {
		in.Verified = beacon.Some(verified == "true")
	}
	if rejected := q.oneOf("rejected", "true", "false"); rejected != "" {
		in.Rejected = beacon.Some(rejected == "true")
	}
	in.Type = beacon.Type(q.oneOf("type", string(beacon.Home), string(beacon.Business), string(beacon.Public)))
	in.Agent = fleet.AgentQuery{Version: q.exact("agent"), Model: q.exact("model"), Firmware: q.exact("firmware")}
	in.Newest = q.oneOf("order", "oldest", "newest") == "newest"
	operator = q.user("operator_id")
	return in, operator, q.faults.Err()
}

// exact returns a parameter that is compared as it is.
func (q *query) exact(name string) string {
	text, _ := q.get(name)
	return text
}

// user reads the id of a user, if present.
func (q *query) user(name string) beacon.UserID {
	text, ok := q.get(name)
	if ok && !id.Valid(beacon.UserPrefix, text) {
		q.faults.Add(name, "must be the id of a user")
	}
	return beacon.UserID(text)
}

// inventory serves what the devices of the network run.
func (a *API) inventory(w http.ResponseWriter, _ *http.Request, p beacon.Principal) error {
	all, err := a.fleet.Inventory(maxGroups, a.charging(w, p, hotspotsARequest))
	if err != nil {
		return err
	}
	out := inventory{Linked: all.Linked, Reporting: all.Reporting, Groups: make([]inventoryGroup, len(all.Groups))}
	for i, g := range all.Groups {
		out.Groups[i] = inventoryGroup{g.Model, g.Firmware, g.Version, g.Count}
	}
	return a.write(w, http.StatusOK, payload{Data: out})
}

// maxGroups is how many groups of an inventory are shown.
const maxGroups = 1000

type inventory struct {
	Linked    int              `json:"linked"`
	Reporting int              `json:"reporting"`
	Groups    []inventoryGroup `json:"groups"`
}

type inventoryGroup struct {
	Model    string `json:"model"`
	Firmware string `json:"firmware"`
	Agent    string `json:"agent"`
	Count    int    `json:"count"`
}

func appendList(out []byte, page beacon.Listed[*fleet.Hotspot], m meta) []byte {
	out = append(out, `{"data":[`...)
	for i, s := range page.Items {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendListed(out, s, time.Time(m.Timestamp))
	}
	out = append(out, `],"pagination":{"page":`...)
	p := paginate(page, staffList, (*fleet.Hotspot).ID)
	out = strconv.AppendInt(out, int64(p.Page), 10)
	out = append(out, `,"per_page":`...)
	out = strconv.AppendInt(out, int64(p.PerPage), 10)
	out = append(out, `,"total":`...)
	out = strconv.AppendInt(out, int64(p.Total), 10)
	out = append(out, `,"total_pages":`...)
	out = strconv.AppendInt(out, int64(p.TotalPages), 10)
	out = append(out, `,"next":`...)
	if p.Next != nil {
		out = append(append(append(out, '"'), *p.Next...), '"')
	} else {
		out = append(out, "null"...)
	}
	return appendMeta(append(out, '}'), m)
}

// appendListed writes what a nearby response says about a hotspot except the distance,
// plus whether it is verified and linked. The time of registration comes from its id.
func appendListed(out []byte, s *fleet.Hotspot, now time.Time) []byte {
	out = appendSummary(out, s, trueFragmentsOf(s))
	out = strconv.AppendBool(append(out, `,"verified":`...), s.Verified())
	out = strconv.AppendBool(append(out, `},"device":{"linked":`...), s.Linked())
	if kind := s.Agent(); kind != (beacon.AgentKind{}) {
		out = appendText(append(out, `,"model":`...), kind.Model)
		out = appendText(append(out, `,"firmware":`...), kind.Firmware)
		out = appendText(append(out, `,"agent":`...), kind.Version)
	}
	raw, _ := id.Parse(beacon.HotspotPrefix, s.ID())
	out = stamp(raw.Time()).append(append(out, `},"created_at":"`...))
	return appendFacts(append(out, '"'), s.Condition(now))
}

// namesARequest is how many names a search may scan in the database for the price of one
// request: a key's limit is a limit on work.
const namesARequest = 10_000

// owned lists the hotspots of a user. A search over many hotspots counts as more than
// one request.
func (a *API) owned(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	in, err := fromQuery(decodeOwned)(w, r)
	if err != nil {
		return err
	}
	in.Charge = a.charging(w, p, a.namesARequest)
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	list, err := a.registry.Owned(ctx, p, in)
	if err != nil {
		return err
	}
	return a.write(w, http.StatusOK, showPage(list, ownedList, func(v registry.View) string { return string(v.Hotspot.ID) }, showHotspot))
}

func decodeOwned(r *http.Request, q *query) registry.Owned {
	return registry.Owned{
		User: beacon.UserID(r.PathValue("id")),
		Page: q.page(ownedList),
		Text: q.search(),
	}
}

// search reads the text to search names for.
func (q *query) search() string {
	raw, ok := q.get("q")
	if !ok {
		return ""
	}
	text, err := beacon.CleanSearch(raw)
	q.faults.Check("q", err)
	return text
}
