package accounts

import (
	"net/http"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

func decodeQuota(r *http.Request, o *edge.Object) (access.UserQuota, error) {
	in := access.UserQuota{User: beacon.UserID(r.PathValue("id"))}
	form := beacon.QuotaForm{
		Hotspots: o.Number("hotspots"), Keys: o.Number("keys"), Streams: o.Number("streams"), Statements: o.Number("statements"),
	}
	err := o.Conclude(func() (err error) { in.Quota, err = form.Validate(); return err })
	return in, err
}

func encodeQuota(_ http.Header, q access.UserQuota) edge.Payload {
	return edge.Payload{Data: client.Quota{UserID: string(q.User), Hotspots: q.Hotspots, Keys: q.Keys, Streams: q.Streams, Statements: q.Statements}}
}

func encodeErasure(_ http.Header, e beacon.Erasure) edge.Payload {
	return edge.Payload{Data: client.Erasure{
		UserID: string(e.User), Status: client.ErasureStatus(e.Status()), AskedAt: edge.Maybe(e.Asked), DueAt: edge.Maybe(e.Due), ErasedAt: edge.Maybe(e.Erased),
	}}
}
