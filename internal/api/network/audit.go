package network

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	// auditScans is how many changes a request with a filter looks through.
	auditScans = 5000
	// auditAtOnce is how many of them are read at a time.
	auditAtOnce = 500
	// auditCost is what it counts beyond one request: a key's limit is a limit on work.
	auditCost = 4
)

// auditQuery asks for changes, newest first.
type auditQuery struct {
	before beacon.Change // zero: the newest
	limit  int

	kind, target, user string // empty: any. A kind that ends with a dot is the beginning of one
}

func (q auditQuery) filters() bool { return q.kind != "" || q.target != "" || q.user != "" }

func (q auditQuery) matches(c *beacon.Change) bool {
	kind := string(c.Kind)
	return (kind == q.kind || q.kind == "" || strings.HasSuffix(q.kind, ".") && strings.HasPrefix(kind, q.kind)) &&
		(q.target == "" || q.target == c.Target) && (q.user == "" || q.user == string(c.Actor.User))
}

// audit serves who changed what. A request with a filter looks through a bounded number of
// changes, and may return fewer than there are, or none, with where to go on (decision D196).
func (a *API) audit(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	q, err := edge.FromQuery(decodeAudit)(w, r)
	if err != nil {
		return err
	}
	scans, atOnce := q.limit, q.limit
	if q.filters() {
		if err := a.Limits.SpendMore(w.Header(), p, auditCost, time.Now()); err != nil {
			return err
		}
		scans, atOnce = auditScans, auditAtOnce
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Patience)
	defer cancel()
	out := client.Audit{}
	for scanned := 0; scanned < scans && len(out.Changes) < q.limit; scanned += atOnce {
		page, err := a.store.Audit(ctx, q.before, atOnce)
		if err != nil {
			return err
		}
		for i := 0; i < len(page) && len(out.Changes) < q.limit; i++ {
			c := &page[i]
			q.before = *c
			if q.matches(c) {
				out.Changes = append(out.Changes, ShowChange(c))
			}
		}
		if len(page) < atOnce && len(out.Changes) < q.limit {
			return a.Write(w, http.StatusOK, edge.Payload{Data: out}) // there are no others
		}
	}
	out.Next = auditCursor(&q.before)
	return a.Write(w, http.StatusOK, edge.Payload{Data: out})
}

// ShowChange shows a row of the audit.
func ShowChange(c *beacon.Change) client.AuditRow {
	return client.AuditRow{
		At: c.At, Kind: string(c.Kind), Target: c.Target, Version: c.Version, KeyID: string(c.Actor.Key), UserID: string(c.Actor.User),
		RequestID: c.Actor.Request, Note: c.Actor.Note,
	}
}

func decodeAudit(_ *http.Request, q *edge.Query) auditQuery {
	in := auditQuery{limit: q.Whole("limit", 1, 100, 50), kind: q.Exact("kind"), target: q.Exact("target"), user: q.Exact("user_id")}
	if text, ok := q.Get("cursor"); ok {
		if in.before, ok = parseAuditCursor(text); !ok {
			q.Faults.Add("cursor", "must be the next of an earlier response")
		}
	}
	return in
}

// auditCursor names a change. It has nothing that its reader has not seen, but the name of
// the server that wrote it.
func auditCursor(c *beacon.Change) *string {
	return new(base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "a %d %d %s", c.Seq, c.At.UnixMicro(), c.Node)))
}

func parseAuditCursor(text string) (c beacon.Change, ok bool) {
	plain, err := base64.RawURLEncoding.DecodeString(text)
	parts := strings.SplitN(string(plain), " ", 4)
	if err != nil || len(text) > edge.MaxCursor || len(parts) != 4 || parts[0] != "a" {
		return c, false
	}
	seq, err := strconv.ParseInt(parts[1], 10, 64)
	at, wrong := strconv.ParseInt(parts[2], 10, 64)
	return beacon.Change{Node: parts[3], Seq: seq, At: time.UnixMicro(at).UTC()}, err == nil && wrong == nil && seq > 0
}
