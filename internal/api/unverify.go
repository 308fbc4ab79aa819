package api

import (
	"net/http"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/registry"
)

func decodeWithdrawal(_ http.ResponseWriter, r *http.Request) (registry.Withdrawal, error) {
	in := registry.Withdrawal{Hotspot: beacon.HotspotID(r.PathValue("id"))}
	q, err := newQuery(r)
	if err != nil {
		return in, err
	}
	if text, ok := q.get("reason"); ok {
		in.Reason, err = beacon.CleanReason(text)
		q.faults.Check("reason", err)
	}
	return in, q.faults.Err()
}
