package access

import (
	"encoding/json"
	"fmt"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Keep sets the result of a request to an outcome that contains a secret. It is sealed with
// the secret of the request, so a copy of the database does not help to read it
// (decision D115). Made names what was made, for someone of the same user without that
// secret; it has at most 255 bytes.
func Keep(o *beacon.Once, outcome any, made string) error {
	if o == nil {
		return nil
	}
	text, err := json.Marshal(outcome)
	if err != nil {
		return err
	}
	sealed, err := Seal(o.Secret, sealedFor(o), text)
	o.Result = append(append([]byte{beacon.SealedResult, byte(len(made))}, made...), sealed...)
	return err
}

// Recall sets outcome to that of the first of two equal requests.
func Recall(o *beacon.Once, result []byte, outcome any) error {
	switch {
	case len(result) > 1 && result[0] == beacon.PlainResult:
		return json.Unmarshal(result[1:], outcome)
	case len(result) > 1 && result[0] == beacon.SealedResult && len(result) >= 2+int(result[1]):
		made, sealed := result[2:2+result[1]], result[2+int(result[1]):]
		text, err := Unsealed(o, sealed, string(made))
		if err != nil {
			return err
		}
		return json.Unmarshal(text, outcome)
	default:
		return fmt.Errorf("the result of a request has %d bytes of an unknown form", len(result))
	}
}

// Unsealed opens what was sealed for an equal request.
func Unsealed(o *beacon.Once, sealed []byte, made string) ([]byte, error) {
	text, err := Unseal(o.Secret, sealedFor(o), sealed)
	if err != nil {
		return nil, &beacon.Error{
			Kind:    beacon.Conflict,
			Message: "this request was sent before with another API key, and made " + made + "; only that key can read the response again",
		}
	}
	return text, nil
}

// sealedFor is the context of a sealed result.
func sealedFor(o *beacon.Once) string { return "idempotency " + o.Owner + " " + o.Key }
