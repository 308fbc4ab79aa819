package hotspots

import (
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/registry"
)

const (
	// maxBatch is how many hotspots can be registered at once: not more than requests that a
	// key may send at once by default.
	maxBatch = 200
	// staffARequest is how many of them staff register for the price of one request.
	staffARequest = 20
)

// registerBatch registers many hotspots. It counts as as many requests as registering them
// one by one would, but for staff, whom no quota limits and who move whole networks.
func (a *API) registerBatch(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	decode := func(w http.ResponseWriter, r *http.Request) ([]registry.Candidate, error) {
		batch, err := edge.ReadBatch(w, r, "hotspots", maxBatch, readCandidate)
		if err != nil {
			return nil, err
		}
		requests := len(batch)
		if !p.Limited() {
			requests = (requests + staffARequest - 1) / staffARequest
		}
		return batch, a.Limits.SpendMore(w.Header(), p, requests-1, time.Now())
	}
	return edge.ServeOnce(a.Edge, 200, decode, a.registry.RegisterAll, encodeOutcomes, edge.ByUser)(w, r, p)
}

func readCandidate(o *edge.Object, fault error) registry.Candidate {
	if fault != nil {
		return registry.Candidate{Fault: fault}
	}
	form, err := DecodeRegistration(nil, o)
	return registry.Candidate{Form: form, Fault: err}
}

func encodeOutcomes(_ http.Header, all []registry.Outcome) edge.Payload {
	shown := make([]client.Outcome, len(all))
	for i, o := range all {
		shown[i] = client.Outcome{Status: http.StatusCreated, ID: string(o.Hotspot)}
		if o.Refusal != nil {
			status, body := edge.ShowFailure(o.Refusal)
			shown[i] = client.Outcome{Status: status, Error: &body}
		}
	}
	return edge.Payload{Data: shown}
}
