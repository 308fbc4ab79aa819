package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/registry"
)

const maxIdempotencyKey = 255

// idempotencyKey reads the header that makes a POST safe to repeat (decision N12).
func idempotencyKey(r *http.Request) (string, error) {
	values := r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if len(values) > 1 || key == "" || len(key) > maxIdempotencyKey || strings.ContainsFunc(key, notPrintable) {
		var f beacon.Faults
		f.Add("Idempotency-Key", "must be one header of 1 to 255 printable ASCII characters")
		return "", f.Err()
	}
	return key, nil
}

// canonical returns the canonical form of a body (RFC 8785): what it says, however it is
// formatted (decision D105).
func canonical(body []byte) []byte {
	value := jsontext.Value(slices.Clone(body))
	if value.Canonicalize() != nil { // it is empty, or has a number that no double can hold, which is refused anyway
		return body
	}
	return value
}

func notPrintable(c rune) bool { return c < ' ' || c > '~' }

// keptResponse is the response to the first of equal requests, as a record keeps it. Its
// names are part of the schema: a later build reads what this one wrote.
type keptResponse struct {
	ID     string          `json:"id,omitempty"` // of what was made, if the data is sealed
	ETag   string          `json:"etag,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
	Sealed []byte          `json:"sealed,omitempty"` // the data, if there is a secret in it
}

// once is a request with an Idempotency-Key (decision N12).
type once struct {
	beacon.Once
	secret string // seals a response with a secret; only the client has it
	lasts  time.Duration
}

// sender says who sent a request, and which secret seals the response.
type sender[In any] func(r *http.Request, p beacon.Principal, in In, key string) *once

// byUser is the sender of requests with an API key or a session, which seals the response
// (decision D115).
func byUser[In any](r *http.Request, p beacon.Principal, _ In, key string) *once {
	secret, ok := bearer(r)
	if !ok {
		secret = sessionOf(r)
	}
	return &once{beacon.Once{Owner: string(p.User), Key: key}, secret, beacon.RememberFor}
}

// byDevice is the sender of a code, which has no API key. The response is sealed with the
// code and the Idempotency-Key, so of the latter only a hash is kept; and not for longer
// than a code can be used (decision D115).
func byDevice(_ *http.Request, _ beacon.Principal, in registry.Link, key string) *once {
	code, _ := beacon.CanonicalLinkCode(in.Code)
	owner, name := sha256.Sum256([]byte(code)), sha256.Sum256([]byte(key))
	return &once{
		beacon.Once{Owner: "code_" + hex.EncodeToString(owner[:]), Key: hex.EncodeToString(name[:])},
		code + "\n" + key, registry.LinkCodeLasts,
	}
}

// context is what a sealed response is for.
func (o *once) context() string { return "idempotency " + o.Owner + " " + o.Key }

// keep encodes a response. What was made has an id if its data is to be sealed.
func (o *once) keep(h http.Header, p payload, id string) ([]byte, error) {
	data, err := httpserver.EncodeJSON(p.Data)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimSuffix(data, []byte("\n"))
	kept := keptResponse{ID: id, ETag: h.Get("ETag"), Data: data}
	if id != "" {
		kept.Data = nil
		if kept.Sealed, err = access.Seal(o.secret, o.context(), data); err != nil {
			return nil, err
		}
	}
	return httpserver.EncodeJSON(kept)
}

// replay returns the response to the first request.
func (o *once) replay(h http.Header, first *beacon.Once) (payload, error) {
	if first.Fingerprint != o.Fingerprint {
		return payload{}, beacon.ErrOtherRequest
	}
	var kept keptResponse
	if err := json.Unmarshal(first.Result, &kept); err != nil {
		return payload{}, err
	}
	if kept.Sealed != nil {
		var err error
		if kept.Data, err = access.Unseal(o.secret, o.context(), kept.Sealed); err != nil {
			return payload{}, &beacon.Error{
				Kind:    beacon.Conflict,
				Message: "this request was sent before with another API key, and made " + kept.ID + "; only that key can read the response again",
			}
		}
	}
	if kept.ETag != "" {
		h.Set("ETag", kept.ETag)
	}
	h.Set("Idempotency-Replayed", "true")
	return payload{Data: encoded(kept.Data)}, nil
}

// serveOnce is like serve, but a request with an Idempotency-Key takes effect once: the
// verb writes what it did and the response in one transaction, and a repeated request gets
// that response.
func serveOnce[In, Out any](
	a *API, status int, decode decoder[In], do verb[In, Out], encode encoder[Out], from sender[In],
	made func(Out) string, // the id of what was made, if the response has a secret; or nil
) endpoint {
	plain := serve(a, status, decode, do, encode)
	return func(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
		key, err := idempotencyKey(r)
		if err != nil {
			return err
		}
		if key == "" {
			return plain(w, r, p)
		}
		var body bytes.Buffer
		r.Body = teed{io.TeeReader(r.Body, &body), r.Body}
		in, err := decode(w, r)
		if err != nil {
			return err
		}
		o := from(r, p, in, key)
		o.At = a.now()
		o.ExpiresAt = o.At.Add(o.lasts)
		o.Fingerprint = sha256.Sum256(append([]byte(r.Method+" "+r.URL.Path+"\n"), canonical(body.Bytes())...))
		o.Encode = func(result any) ([]byte, error) {
			out, h, id := result.(Out), http.Header{}, ""
			if made != nil {
				id = made(out)
			}
			return o.keep(h, encode(h, out), id)
		}
		p.Once = &o.Once
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		result, err := a.repeat(ctx, w.Header(), o, func() (payload, error) {
			out, err := do(ctx, p, in)
			if err != nil {
				return payload{}, err
			}
			return encode(w.Header(), out), nil
		})
		if err != nil {
			return err
		}
		return a.write(w, status, result)
	}
}

// repeat returns the response to an earlier request, or does what is asked. If that
// fails because an equal request was faster, there is one afterwards.
func (a *API) repeat(ctx context.Context, h http.Header, o *once, do func() (payload, error)) (payload, error) {
	first, err := a.store.Once(ctx, o.Owner, o.Key, o.At)
	if err != nil {
		return payload{}, err
	}
	if first == nil {
		result, failure := do()
		if failure == nil {
			return result, nil
		}
		if first, err = a.store.Once(ctx, o.Owner, o.Key, o.At); err != nil || first == nil {
			return payload{}, failure
		}
	}
	return o.replay(h, first)
}

// teed is a body that is copied while it is read.
type teed struct {
	io.Reader
	io.Closer
}
