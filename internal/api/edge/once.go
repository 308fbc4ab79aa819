package edge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/internal/access"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

const maxIdempotencyKey = 255

// maxOnce is how many requests of a user are remembered, unless the user is staff. It does
// not limit registrations, which have a quota of their own.
const maxOnce = 1000

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

// sender says who sent a request with an Idempotency-Key, for how long it is remembered,
// and which secret seals what it made.
type sender[In any] func(r *http.Request, p beacon.Principal, in In, key string) (o *beacon.Once, lasts time.Duration)

// ByUser is the sender of requests with an API key or a session, which seals the response
// (decision D115).
func ByUser[In any](r *http.Request, p beacon.Principal, _ In, key string) (*beacon.Once, time.Duration) {
	secret, ok := Bearer(r)
	if !ok {
		secret = sessionOf(r)
	}
	o := &beacon.Once{Owner: string(p.User), Key: key, Secret: secret}
	if p.Person != "" {
		o.Owner = string(p.Person) + string(p.User)
	}
	if p.Limited() {
		o.Most = maxOnce
	}
	return o, beacon.RememberFor
}

// ServeOnce is like serve, but a request with an Idempotency-Key takes effect once: the
// verb writes what it did and its outcome in one transaction, and the response to a
// repeated request is encoded from that outcome.
func ServeOnce[In, Out any](
	e *Edge, status int, decode decoder[In], do verb[In, Out], encode encoder[Out], from sender[In],
	earlier ...func(result []byte) (Out, error), // see replayEarlier
) Endpoint {
	plain := Serve(e, status, decode, do, encode)
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
		o, lasts := from(r, p, in, key)
		o.At = e.Now()
		o.ExpiresAt = o.At.Add(lasts)
		o.Fingerprint = sha256.Sum256(append([]byte(r.Method+" "+r.URL.Path+"\n"), canonical(body.Bytes())...))
		p.Once = o
		ctx, cancel := context.WithTimeout(r.Context(), e.Patience)
		defer cancel()
		out, first, err := doOnce(ctx, e.store, p, in, do)
		switch {
		case err != nil:
			return err
		case first == nil:
			return e.Write(w, status, encode(w.Header(), out))
		case bytes.HasPrefix(first.Result, []byte("{")):
			result, err := replayEarlier(w.Header(), first, o, body.Bytes(), encode, earlier...)
			if err != nil {
				return err
			}
			return e.Write(w, status, result)
		case first.Fingerprint != o.Fingerprint:
			return errOtherRequest
		}
		if err := access.Recall(o, first.Result, &out); err != nil {
			return err
		}
		w.Header().Set("Idempotency-Replayed", "true")
		return e.Write(w, status, encode(w.Header(), out))
	}
}

// doOnce returns the record of an earlier request, or does what is asked. If that fails
// because an equal request was faster, there is a record afterwards.
func doOnce[In, Out any](
	ctx context.Context, store Store, p beacon.Principal, in In, do verb[In, Out],
) (out Out, first *beacon.Once, err error) {
	o := p.Once
	if first, err = store.Once(ctx, o.Owner, o.Key, o.At); err != nil || first != nil {
		return out, first, err
	}
	if out, err = do(ctx, p, in); err == nil {
		return out, nil, nil
	}
	if first, again := store.Once(ctx, o.Owner, o.Key, o.At); again == nil && first != nil {
		return out, first, nil
	}
	return out, nil, worded(err)
}

var errOtherRequest = &beacon.Error{
	Kind:    beacon.Conflict,
	Message: "this Idempotency-Key was used for another request; use a new one for each request",
}

// worded returns the error for a request that was not done, in words for its sender.
func worded(err error) error {
	switch {
	case errors.Is(err, beacon.ErrRepeated): // and its record is gone
		return &beacon.Error{Kind: beacon.Conflict, Message: "this Idempotency-Key was used for an earlier request", Err: err}
	case errors.Is(err, beacon.ErrTooManyOnce):
		return &beacon.Error{
			Kind:       beacon.RateLimited,
			Message:    fmt.Sprintf("you have sent %d requests with an Idempotency-Key within a day, the most that are remembered: send it without, or later", maxOnce),
			RetryAfter: time.Hour,
		}
	}
	return err
}

// teed is a body that is copied while it is read.
type teed struct {
	io.Reader
	io.Closer
}
