package accounts

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/hotspots"
	"github.com/beacon-wifi/beacon/internal/api/payments"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/beacon-wifi/beacon/internal/registry"
	"github.com/beacon-wifi/beacon/internal/rewards/holds"
	"github.com/beacon-wifi/beacon/internal/telemetry"
)

const (
	exportTime     = time.Hour // in total, as long as the reader keeps up
	maxExports     = 2         // at once
	exportBusyTime = time.Minute
	exportAtOnce   = 1000 // keys or holds
)

func newExports() *edge.ConcurrencyLimit {
	own := edge.Busy(beacon.RateLimited, exportBusyTime, "your data is being exported already: wait until that is done")
	return edge.NewConcurrencyLimit(maxExports, 1, own, own, edge.Busy(beacon.Overloaded, exportBusyTime, "too many exports are running; try again"))
}

// export sends all that is stored of a user as an archive of files (decision D180).
func (a *API) export(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	user, err := p.Resolve(beacon.UserID(r.PathValue("id")))
	if err != nil {
		return err
	}
	if err := edge.Nobody(user); err != nil {
		return err
	}
	if err := a.exports.Join(p, 1); err != nil {
		return err
	}
	defer a.exports.Leave(p)
	d := a.Download(w)
	d.Kind, d.File = []string{"application/zip"}, "export-"+beacon.DayOf(a.Now()).String()+".zip"
	return d.Send(r, exportTime, func(ctx context.Context, out io.Writer) error {
		e := &export{api: a, user: user, as: p, now: a.Now(), archive: zip.NewWriter(out), own: map[string]bool{string(user): true}, since: map[string]time.Time{}}
		return e.write(ctx)
	})
}

// export is an archive of all that is stored of a user.
type export struct {
	api     *API
	user    beacon.UserID
	as      beacon.Principal
	now     time.Time
	archive *zip.Writer

	own        map[string]bool      // the ids of the user, and of the user's hotspots and keys
	since      map[string]time.Time // from when on hotspots are theirs that others had before
	hotspotIDs []beacon.HotspotID
}

const exportReadme = `This archive has what Beacon stores about you.

user.json       your id, your quota, whether you asked to be erased, and which hotspots
                you handed over, with the last day on which you earned with each
hotspots.jsonl  your hotspots, deleted ones too, with the visits of staff; one a line
keys.jsonl      your API keys, without their secrets; one a line
activity.csv    each hour of your hotspots, as far as it is kept (400 days)
rewards.csv     each closed day of each hotspot: what was measured, and what was earned
                in millionths of a credit. The columns are explained in the guide to
                rewards; statements of settled months can be verified offline.
                Only if the key that asked has the scope rewards:read
holds.jsonl     what staff hold or held back, and why; one a line. Like rewards.csv
changes.jsonl   what was changed by you, or of your hotspots and keys; one a line

Times are in UTC. Not in here: copies that end by themselves (backups, the answers kept
for repeated requests, events of the last days) and access logs, which your network's
staff keep.
`

func (e *export) write(ctx context.Context) error {
	for _, part := range []struct {
		name  string
		write func(context.Context, *bufio.Writer) error
	}{
		{"README.txt", func(_ context.Context, w *bufio.Writer) error { _, err := w.WriteString(exportReadme); return err }},
		{"user.json", e.account},
		{"hotspots.jsonl", e.hotspots},
		{"keys.jsonl", e.keys},
		{"activity.csv", e.activity},
		{"rewards.csv", e.rewards},
		{"holds.jsonl", e.holds},
		{"changes.jsonl", e.changes},
	} {
		if (part.name == "rewards.csv" || part.name == "holds.jsonl") && !e.as.May(beacon.ReadRewards) {
			continue
		}
		file, err := e.archive.CreateHeader(&zip.FileHeader{Name: part.name, Method: zip.Deflate, Modified: e.now})
		if err != nil {
			return err
		}
		out := bufio.NewWriter(file)
		if err := part.write(ctx, out); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return e.archive.Close()
}

type exportedUser struct {
	UserID     beacon.UserID `json:"user_id"`
	ExportedAt time.Time     `json:"exported_at"`
	Quota      any           `json:"quota"`
	Erasure    any           `json:"erasure"`

	HandedOver map[beacon.HotspotID][]string `json:"handed_over,omitempty"` // with the last day of each time
}

func (e *export) account(ctx context.Context, w *bufio.Writer) error {
	q, err := e.api.users.Quota(ctx, e.as, e.user)
	if err != nil {
		return err
	}
	wish, err := e.api.erasures.Get(ctx, e.as, e.user)
	if err != nil {
		return err
	}
	past, err := e.api.registry.HandedOver(ctx, e.user)
	if err != nil {
		return err
	}
	shown := exportedUser{e.user, e.now, encodeQuota(nil, q).Data, encodeErasure(nil, wish).Data, nil}
	for _, p := range past {
		if shown.HandedOver == nil {
			shown.HandedOver = map[beacon.HotspotID][]string{}
		}
		shown.HandedOver[p.Hotspot] = append(shown.HandedOver[p.Hotspot], p.Through.String())
	}
	return writeLine(w, shown)
}

type exportedHotspot struct {
	client.Hotspot
	DeletedAt *time.Time  `json:"deleted_at"`
	Visits    []visit     `json:"visits"`
	Vouches   []time.Time `json:"proof_extended_at,omitempty"`
}

type visit struct {
	At        time.Time `json:"at"`
	Lat       float64   `json:"lat"`
	Lng       float64   `json:"lng"`
	AccuracyM float64   `json:"accuracy_m"`
	Withdraws bool      `json:"withdraws,omitzero"`
}

func (e *export) hotspots(ctx context.Context, w *bufio.Writer) error {
	return e.api.registry.Ever(ctx, e.user, func(v registry.View) error {
		e.own[string(v.Hotspot.ID)], e.hotspotIDs = true, append(e.hotspotIDs, v.Hotspot.ID)
		if n := len(v.Former); n > 0 {
			e.since[string(v.Hotspot.ID)] = v.Former[n-1].Through.Time()
		}
		shown := exportedHotspot{hotspots.ShowHotspot(v), edge.Maybe(v.DeletedAt), nil, v.Vouches}
		for _, seen := range v.Visits {
			shown.Visits = append(shown.Visits, visit{seen.At, seen.Point.Lat, seen.Point.Lng, seen.AccuracyM, seen.Withdraws})
		}
		return writeLine(w, shown)
	})
}

func (e *export) keys(ctx context.Context, w *bufio.Writer) error {
	return eachListed(func(page beacon.Page) (beacon.Listed[beacon.Key], error) {
		return e.api.keys.List(ctx, e.as, access.Listing{User: e.user, Page: page})
	}, placeOfKey, func(k beacon.Key) error {
		e.own[string(k.ID)] = true
		return writeLine(w, ShowKey(k))
	})
}

func (e *export) holds(ctx context.Context, w *bufio.Writer) error {
	return eachListed(func(page beacon.Page) (beacon.Listed[beacon.Hold], error) {
		return e.api.holding.List(ctx, e.as, holds.Query{User: e.user, Page: page})
	}, payments.PlaceOfHold, func(h beacon.Hold) error { return writeLine(w, payments.ShowHold(h)) })
}

// writeLine writes a value as one line of JSON that can stand in a page.
func writeLine(w *bufio.Writer, v any) error {
	return cmp.Or(json.MarshalWrite(w, v, edge.Forms, jsontext.EscapeForHTML(true)), w.WriteByte('\n'))
}

// eachListed calls fn for each item of a list, which it reads page by page.
func eachListed[T any](read func(beacon.Page) (beacon.Listed[T], error), place func(T) string, fn func(T) error) error {
	page := beacon.Page{Number: 1, Size: exportAtOnce}
	for {
		list, err := read(page)
		if err != nil {
			return err
		}
		for _, item := range list.Items {
			if err := fn(item); err != nil {
				return err
			}
			page.After = place(item)
		}
		if len(list.Items) < page.Size {
			return nil
		}
	}
}

func (e *export) activity(ctx context.Context, w *bufio.Writer) error {
	t := edge.NewTable("", "hotspot_id", "hour", "served_minutes", "expected_minutes", "clients", "bytes", "performance_tier")
	to := e.now.UTC().Truncate(time.Hour).Add(time.Hour)
	for _, hotspot := range e.hotspotIDs {
		past, err := e.api.telemetry.History(ctx, telemetry.HistoryQuery{
			Hotspot: hotspot, From: to.Add(-hotspots.MaxHistory), To: to, Step: time.Hour, Deleted: true,
		})
		if err != nil {
			return err
		}
		for _, p := range past.Points {
			if p.Expected > 0 || p.Served > 0 || p.Clients > 0 || p.Bytes > 0 {
				t.Line(string(hotspot), p.At.Format(time.RFC3339), strconv.Itoa(p.Served), strconv.Itoa(p.Expected), strconv.Itoa(p.Clients),
					strconv.FormatUint(p.Bytes, 10), p.Tier.String())
			}
		}
		if _, err := w.Write(t.Body); err != nil {
			return err
		}
		t.Body = t.Body[:0]
	}
	_, err := w.Write(t.Body)
	return err
}

// rewards writes the rows of the ledger, after a line with the names of their columns. Where a
// policy begins whose rows have others, there is another such line.
func (e *export) rewards(ctx context.Context, w *bufio.Writer) error {
	named := beacon.NoStanding
	line := append([]byte(ledger.ColumnsOf(named)), '\n')
	err := e.api.rewards.Rows(ctx, e.as, e.user, func(row ledger.Row, _ ledger.Hash) error {
		if row.Kind == ledger.Earning && row.Counts != named {
			named = row.Counts
			line = append(append(line, ledger.ColumnsOf(named)...), '\n')
		}
		_, err := w.Write(append(row.AppendLine(line), '\n'))
		line = line[:0]
		return err
	})
	if err == nil {
		_, err = w.Write(line)
	}
	return err
}

type exportedChange struct {
	At        time.Time         `json:"at"`
	Kind      beacon.ChangeKind `json:"kind"`
	Target    string            `json:"target"`
	ByYou     bool              `json:"by_you"`
	KeyID     beacon.KeyID      `json:"key_id,omitempty"` // if it is the user's
	Person    beacon.PersonID   `json:"person,omitempty"` // if they acted for the user; a name is theirs, not the account's
	RequestID string            `json:"request_id"`
	Note      string            `json:"note,omitempty"`
}

// changes writes what the user did, and what others did to what is the user's, without
// saying who they are. What was done to a hotspot that was handed over is in the archive of
// who had it then.
func (e *export) changes(ctx context.Context, w *bufio.Writer) error {
	return e.api.users.Changes(ctx, e.user, e.own, func(c beacon.Change) error {
		if c.Actor.User != e.user && c.At.Before(e.since[c.Target]) {
			return nil
		}
		if c.Kind == beacon.HotspotHandedOver {
			c.Actor.Note = "" // it names both users
		}
		shown := exportedChange{c.At, c.Kind, c.Target, c.Actor.User == e.user, "", "", c.Actor.Request, c.Actor.Note}
		if shown.ByYou {
			shown.KeyID, shown.Person = c.Actor.Key, c.Actor.Person
		}
		return writeLine(w, shown)
	})
}
