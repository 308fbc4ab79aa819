package edge

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// Payload is the content of a response, before it is put into the envelope.
type Payload struct {
	Data       any
	Pagination *client.Pagination
}

// Forms are how the types of package client are encoded: nil slices are empty arrays, and
// times are as in beacon.AppendTime. A zero time is null, and omitempty leaves out nil pointers
// only, so a field with a pointer to a zero time is there, but has no value.
var Forms = json.JoinOptions(
	jsontext.EscapeForJS(true), jsontext.AllowInvalidUTF8(true), jsonv1.OmitEmptyWithLegacySemantics(true),
	json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, t time.Time) error {
		if t.IsZero() {
			return enc.WriteToken(jsontext.Null)
		}
		return enc.WriteValue(append(beacon.AppendTime(append(enc.AvailableBuffer(), '"'), t), '"'))
	})),
)

// EncodeJSON encodes a value of package client as responses do, and ends it with a newline.
func EncodeJSON(v any) ([]byte, error) {
	out, err := json.Marshal(v, Forms)
	return append(out, '\n'), err
}

// ShowPage converts each item of a page. place returns the place of an item in the list.
func ShowPage[T, Shown any](list beacon.Listed[T], kind listKind, place func(T) string, show func(T) Shown) Payload {
	shown := make([]Shown, len(list.Items))
	for i, item := range list.Items {
		shown[i] = show(item)
	}
	return Payload{Data: shown, Pagination: new(Paginate(list, kind, place))}
}

func Paginate[T any](list beacon.Listed[T], kind listKind, place func(T) string) client.Pagination {
	var last string
	if n := len(list.Items); n > 0 {
		last = place(list.Items[n-1])
	}
	return client.Pagination{
		Page: list.Page.Number, PerPage: list.Page.Size, Total: list.Total, TotalPages: list.Pages(),
		Next: kind.next(list.Page, list.Total, len(list.Items), last),
	}
}

// Encoded is the data of a response that is already encoded as JSON.
type Encoded []byte

// Maybe returns a pointer to a time, or nil for the zero time.
func Maybe(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (e *Edge) Meta(w http.ResponseWriter) client.Meta {
	return client.Meta{RequestID: httpserver.RequestID(w), Timestamp: e.Now()}
}

// Write sends a successful response.
func (e *Edge) Write(w http.ResponseWriter, status int, p Payload) error {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return nil
	}
	if data, ok := p.Data.(Encoded); ok {
		body := append([]byte(`{"data":`), data...)
		httpserver.WriteBody(w, status, AppendMeta(body, e.Meta(w)))
		return nil
	}
	body, err := EncodeJSON(client.Envelope[any]{Data: &p.Data, Meta: e.Meta(w), Pagination: p.Pagination})
	if err != nil {
		return err
	}
	httpserver.WriteBody(w, status, body)
	return nil
}

// WriteAs sends a body of another type than JSON.
func WriteAs(w http.ResponseWriter, status int, kind []string, body []byte) {
	h := w.Header()
	h["Content-Type"] = kind
	h["Content-Length"] = Decimal(len(body))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have left; that is not our fault
}

// EncodeShown is for data that is ready to be shown.
func EncodeShown[T any](_ http.Header, data T) Payload { return Payload{Data: data} }

func EncodeNothing(http.Header, struct{}) Payload { return Payload{} }

// PathID reads the id in a path.
func PathID[ID ~string](_ http.ResponseWriter, r *http.Request) (ID, error) {
	return ID(r.PathValue("id")), nil
}

func DecodeNothing(http.ResponseWriter, *http.Request) (struct{}, error) { return struct{}{}, nil }

// AppendMeta ends a response.
func AppendMeta(out []byte, m client.Meta) []byte {
	out = append(out, `,"meta":{"request_id":"`...)
	out = append(out, m.RequestID...)
	out = append(out, `","timestamp":"`...)
	out = beacon.AppendTime(out, m.Timestamp)
	return append(out, "\"}}\n"...)
}

// Texts returns names and ranges of addresses as texts.
func Texts[T any](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprint(v)
	}
	return out
}
