package api

import (
	"net/http"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

type erasureOf struct {
	UserID   beacon.UserID        `json:"user_id"`
	Status   beacon.ErasureStatus `json:"status"`
	AskedAt  *stamp               `json:"asked_at"`
	DueAt    *stamp               `json:"due_at"`
	ErasedAt *stamp               `json:"erased_at"`
}

func encodeErasure(_ http.Header, e beacon.Erasure) payload {
	return payload{Data: erasureOf{e.User, e.Status(), maybe(e.Asked), maybe(e.Due), maybe(e.Erased)}}
}
