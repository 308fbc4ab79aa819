package edge

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// keptResponse is what builds up to November 2026 kept of a request for a day: its
// response. Of a registration they kept the hotspot. When no server has been run by such
// a build for a day, this can be deleted.
type keptResponse struct {
	ID     string          `json:"id"`
	ETag   string          `json:"etag"`
	Data   json.RawMessage `json:"data"`
	Sealed []byte          `json:"sealed"` // the data, if there is a secret in it
}

// replayEarlier returns the response to a request that an earlier build took. Earlier
// reads what it kept of a registration.
func replayEarlier[Out any](
	h http.Header, first, o *beacon.Once, body []byte, encode encoder[Out], earlier ...func(result []byte) (Out, error),
) (Payload, error) {
	var kept keptResponse
	if err := json.Unmarshal(first.Result, &kept); err != nil {
		return Payload{}, err
	}
	if len(earlier) > 0 && (first.Fingerprint == sha256.Sum256(canonical(body)) || first.Fingerprint == sha256.Sum256(body)) {
		out, err := earlier[0](first.Result)
		if err != nil {
			return Payload{}, err
		}
		h.Set("Idempotency-Replayed", "true")
		return encode(h, out), nil
	}
	if first.Fingerprint != o.Fingerprint {
		return Payload{}, errOtherRequest
	}
	if kept.Sealed != nil {
		var err error
		if kept.Data, err = access.Unsealed(o, kept.Sealed, kept.ID); err != nil {
			return Payload{}, err
		}
	}
	if kept.ETag != "" {
		h.Set("ETag", kept.ETag)
	}
	h.Set("Idempotency-Replayed", "true")
	return Payload{Data: Encoded(kept.Data)}, nil
}
