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
	"github.com/beacon-wifi/beacon/internal/oversight"
)

// auditCost is what a request with a filter counts beyond one request: a key's limit is a
// limit on work.
const auditCost = 4

// audit serves who changed what.
func (a *API) audit(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	q, err := edge.FromList(decodeAudit)(w, r)
	if err == nil && q.Filters() {
		err = a.Limits.SpendMore(w.Header(), p, auditCost, time.Now())
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Patience)
	defer cancel()
	page, err := a.oversight.Audit(ctx, p, q)
	if err != nil {
		return err
	}
	out := client.Audit{Changes: make([]client.AuditRow, len(page.Changes))}
	for i := range page.Changes {
		out.Changes[i] = ShowChange(&page.Changes[i], page.Names)
	}
	if page.Next != nil {
		out.Next = auditCursor(page.Next)
	}
	return a.Write(w, http.StatusOK, edge.Payload{Data: out})
}

// ShowChange shows a row of the audit, with the name of who did it.
func ShowChange(c *beacon.Change, names map[beacon.PersonID]string) client.AuditRow {
	row := client.AuditRow{
		At: c.At, Kind: string(c.Kind), Target: c.Target, Version: c.Version, KeyID: string(c.Actor.Key), UserID: string(c.Actor.User),
		RequestID: c.Actor.Request, Note: c.Actor.Note,
	}
	if c.Actor.Person != "" {
		row.Person = new(string(c.Actor.Person))
	}
	if name, ok := names[c.Actor.Person]; ok {
		row.PersonName = &name
	}
	return row
}

func decodeAudit(_ *http.Request, q *edge.Query) oversight.AuditQuery {
	in := oversight.AuditQuery{Limit: q.Whole("limit", 1, 100, 50), Kind: q.Exact("kind"), Target: q.Exact("target"), User: q.Exact("user_id")}
	if text, ok := q.Get("cursor"); ok {
		if in.Before, ok = parseAuditCursor(text); !ok {
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
