package hotspots

import (
	"context"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/fragments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
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
	w.Header()["Vary"] = a.VaryForm
	in, operator, mac, err := decodeList(r)
	if err != nil {
		return err
	}
	table := edge.Wants(r, edge.AsCSV)
	if table {
		in.Page = beacon.Page{Number: 1, Size: math.MaxInt}
	}
	m := a.Meta(w)
	in.Now = m.Timestamp // one time for the filter and for the facts shown
	in.Charge = a.Charging(w, p, hotspotsARequest)
	ctx, cancel := context.WithTimeout(r.Context(), a.Patience)
	defer cancel()
	page, err := a.registry.List(ctx, in, operator, mac)
	if err != nil {
		return err
	}
	if table {
		return a.sendList(w, r, page.Items, in.Now)
	}
	out := AppendList(nil, page, m, in.By == "")
	httpserver.WriteBody(w, http.StatusOK, out)
	return nil
}

// sendList writes hotspots as a table.
func (a *API) sendList(w http.ResponseWriter, r *http.Request, all []*fleet.Hotspot, now time.Time) error {
	return a.sendTable(w, r, func(_ context.Context, t *edge.Table, send func() error) error {
		t.Line("hotspot_id", "name", "type", "status", "address", "lat", "lng", "verified", "linked", "uptime_30d", "last_seen_at", "created_at")
		for some := range slices.Chunk(all, rowsAtOnce) {
			for _, s := range some {
				name, address, lat, lng := fragments.TrueCells(s)
				is := s.Condition(now)
				var seen string
				if at := s.SeenAt(); !at.IsZero() {
					seen = string(beacon.AppendTime(nil, at))
				}
				raw, _ := id.Parse(beacon.HotspotPrefix, s.ID())
				t.Line(s.ID(), edge.QuotedCell(name), string(s.Type()), string(is.Status), edge.QuotedCell(address), lat, lng, strconv.FormatBool(s.Verified()), strconv.FormatBool(s.Linked()),
					strconv.FormatFloat(edge.Fraction(is.Uptime), 'f', -1, 64), seen, string(beacon.AppendTime(nil, raw.Time())))
			}
			if err := send(); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	// tableTime is how long a table of hotspots may take in total, as long as its reader keeps up.
	tableTime = 5 * time.Minute
	// rowsAtOnce is how many of its rows are sent together.
	rowsAtOnce = 500
)

// sendTable sends a table of hotspots. Fill adds lines to it, and calls send now and then.
func (a *API) sendTable(w http.ResponseWriter, r *http.Request, fill func(ctx context.Context, t *edge.Table, send func() error) error) error {
	d := a.Download(w)
	d.Coding = coding.Accepted(r.Header["Accept-Encoding"])
	d.Kind, d.File = edge.CsvType, "hotspots.csv"
	return d.Send(r, tableTime, func(ctx context.Context, out io.Writer) error {
		return d.Coding.Stream(out, func(plain io.Writer) error {
			t := edge.NewTable(d.File)
			t.Body = nil
			send := func() error {
				_, err := plain.Write(t.Body)
				t.Body = t.Body[:0]
				return err
			}
			if err := fill(ctx, t, send); err != nil {
				return err
			}
			return send()
		})
	})
}

func decodeList(r *http.Request) (_ fleet.ListQuery, operator beacon.UserID, mac beacon.MAC, _ error) {
	q, err := edge.NewQuery(r)
	if err != nil {
		return fleet.ListQuery{}, "", "", err
	}
	in := fleet.ListQuery{Page: q.Page(edge.StaffList), Text: q.Search()}
	switch status := q.OneOf("status", "all", "pending", "online", "offline"); status {
	case "", "all":
	default:
		in.Status = beacon.Status(status)
	}
	if verified := q.OneOf("verified", "true", "false"); verified != "" {
		in.Verified = beacon.Some(verified == "true")
	}
	if rejected := q.OneOf("rejected", "true", "false"); rejected != "" {
		in.Rejected = beacon.Some(rejected == "true")
	}
	in.Type = beacon.Type(q.OneOf("type", typeNames...))
	in.Agent = fleet.AgentQuery{Version: q.Exact("agent"), Model: q.Exact("model"), Firmware: q.Exact("firmware")}
	switch order := q.OneOf("order", append([]string{"oldest", "newest"}, edge.Texts(fleet.ListOrders())...)...); order {
	case "newest":
		in.Newest = true
	case "", "oldest":
	default:
		in.By = fleet.ListOrder(order)
		if in.Page.After != "" {
			q.Faults.Add("cursor", "is only for the order of registration: use page")
		}
	}
	operator = q.User("operator_id")
	if text, ok := q.Get("mac_address"); ok {
		mac, err = beacon.ParseMAC(text)
		q.Faults.Check("mac_address", err)
	}
	q.RefuseUnknown()
	return in, operator, mac, q.Faults.Err()
}

// inventory serves what the devices of the network run.
func (a *API) inventory(w http.ResponseWriter, _ *http.Request, p beacon.Principal) error {
	all, err := a.fleet.Inventory(maxGroups, a.Charging(w, p, hotspotsARequest))
	if err != nil {
		return err
	}
	out := client.Inventory{Linked: all.Linked, Reporting: all.Reporting, Groups: make([]client.InventoryGroup, len(all.Groups))}
	for i, g := range all.Groups {
		out.Groups[i] = client.InventoryGroup{Model: g.Model, Firmware: g.Firmware, Agent: g.Version, Count: g.Count}
	}
	return a.Write(w, http.StatusOK, edge.Payload{Data: out})
}

// maxGroups is how many groups of an inventory are shown.
const maxGroups = 1000

// AppendList writes a page. A cursor to the next is there only in the order of registration.
func AppendList(out []byte, page beacon.Listed[*fleet.Hotspot], m client.Meta, cursor bool) []byte {
	out = append(out, `{"data":[`...)
	for i, s := range page.Items {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendListed(out, s, m.Timestamp)
	}
	out = append(out, `],"pagination":`...)
	pagination := edge.Paginate(page, edge.StaffList, (*fleet.Hotspot).ID)
	if !cursor {
		pagination.Next = nil
	}
	out = append(out, edge.Must(json.Marshal(pagination))...)
	return edge.AppendMeta(out, m)
}

// appendListed writes what a nearby response says about a hotspot except the distance,
// plus whether it is verified and linked. The time of registration comes from its id.
func appendListed(out []byte, s *fleet.Hotspot, now time.Time) []byte {
	out = fragments.AppendSummary(out, s, fragments.TrueOf(s))
	out = strconv.AppendBool(append(out, `,"verified":`...), s.Verified())
	out = strconv.AppendBool(append(out, `},"device":{"linked":`...), s.Linked())
	if kind := s.Agent(); kind != (beacon.AgentKind{}) {
		out = fragments.AppendText(append(out, `,"model":`...), kind.Model)
		out = fragments.AppendText(append(out, `,"firmware":`...), kind.Firmware)
		out = fragments.AppendText(append(out, `,"agent":`...), kind.Version)
	}
	raw, _ := id.Parse(beacon.HotspotPrefix, s.ID())
	out = beacon.AppendTime(append(out, `},"created_at":"`...), raw.Time())
	return fragments.AppendFacts(append(out, '"'), s.Condition(now))
}

// namesARequest is how many names a search may scan in the database for the price of one
// request: a key's limit is a limit on work.
const namesARequest = 10_000

// owned lists the hotspots of a user, or writes all of them as a table. A search over many
// hotspots counts as more than one request.
func (a *API) owned(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	w.Header()["Vary"] = a.VaryForm
	in, err := edge.FromList(DecodeOwned)(w, r)
	if err != nil {
		return err
	}
	in.Charge = a.Charging(w, p, a.NamesARequest)
	if edge.Wants(r, edge.AsCSV) {
		return a.sendOwned(w, r, p, in)
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Patience)
	defer cancel()
	list, err := a.registry.Owned(ctx, p, in)
	if err != nil {
		return err
	}
	page := edge.ShowPage(list, edge.OwnedList, func(v registry.View) string { return string(v.Hotspot.ID) }, ShowHotspot)
	if in.Order != "" {
		page.Pagination.Next = nil // a cursor is a place in the order of registration
	}
	return a.Write(w, http.StatusOK, page)
}

func DecodeOwned(r *http.Request, q *edge.Query) registry.Owned {
	in := registry.Owned{
		User: beacon.UserID(r.PathValue("id")),
		Page: q.Page(edge.OwnedList),
		Text: q.Search(),
		Type: beacon.Type(q.OneOf("type", typeNames...)),
	}
	if status := q.OneOf("status", "all", "pending", "online", "offline"); status != "all" {
		in.Status = beacon.Status(status)
	}
	if order := q.OneOf("order", append([]string{"oldest"}, edge.Texts(registry.Orders())...)...); order != "oldest" {
		in.Order = registry.Order(order)
	}
	if in.Order != "" && in.Page.After != "" {
		q.Faults.Add("cursor", "is only for the order of registration: use page")
	}
	return in
}

// sendOwned writes all hotspots of a user that are asked for, whatever the page.
func (a *API) sendOwned(w http.ResponseWriter, r *http.Request, p beacon.Principal, in registry.Owned) error {
	return a.sendTable(w, r, func(ctx context.Context, t *edge.Table, send func() error) error {
		t.Line("hotspot_id", "name", "type", "status", "address", "lat", "lng", "verified", "linked", "uptime_30d", "connections_24h", "traffic_24h_gb", "last_seen_at", "created_at")
		return a.registry.EachOwned(ctx, p, in, func(some []registry.View) error {
			for _, v := range some {
				addOwned(t, ShowHotspot(v))
			}
			return send()
		})
	})
}

func addOwned(t *edge.Table, h client.Hotspot) {
	var address, seen string
	if h.Location.Address != nil {
		address = *h.Location.Address
	}
	if h.Metrics.LastSeenAt != nil {
		seen = string(beacon.AppendTime(nil, *h.Metrics.LastSeenAt))
	}
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	t.Line(h.ID, edge.QuotedCell(h.Name), string(h.Type), string(h.Status), edge.QuotedCell(address), number(h.Location.Lat), number(h.Location.Lng),
		strconv.FormatBool(h.Location.Verified), strconv.FormatBool(h.Device.Linked), number(h.Metrics.Uptime30d), strconv.Itoa(h.Metrics.Connections24h),
		h.Metrics.BandwidthUsed24hGB.String(), seen, string(beacon.AppendTime(nil, h.CreatedAt)))
}
