package api

import (
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// payload is the content of a response, before it is put into the envelope.
type payload struct {
	Data       any
	Pagination *pagination
}

type envelope struct {
	Data       any         `json:"data"`
	Meta       meta        `json:"meta"`
	Pagination *pagination `json:"pagination,omitempty"`
}

type meta struct {
	RequestID string `json:"request_id"`
	Timestamp stamp  `json:"timestamp"`
}

type pagination struct {
	Page       int `json:"page"`
	PerPage    int `json:"per_page"`
	Total      int `json:"total"`
	TotalPages int `json:"total_pages"`

	Next *string `json:"next"` // the cursor of the next page
}

// showPage converts each item of a page. place returns the place of an item in the list.
func showPage[T, Shown any](list beacon.Listed[T], kind listKind, place func(T) string, show func(T) Shown) payload {
	shown := make([]Shown, len(list.Items))
	for i, item := range list.Items {
		shown[i] = show(item)
	}
	return payload{Data: shown, Pagination: new(paginate(list, kind, place))}
}

func paginate[T any](list beacon.Listed[T], kind listKind, place func(T) string) pagination {
	var last string
	if n := len(list.Items); n > 0 {
		last = place(list.Items[n-1])
	}
	return pagination{
		Page: list.Page.Number, PerPage: list.Page.Size, Total: list.Total, TotalPages: list.Pages(),
		Next: kind.next(list.Page, list.Total, len(list.Items), last),
	}
}

// encoded is the data of a response that is already encoded as JSON.
type encoded []byte

// stamp is a time as the API writes it (decision N22).
type stamp time.Time

// MarshalText writes the time in UTC with milliseconds.
func (s stamp) MarshalText() ([]byte, error) { return s.append(nil), nil }

// append uses the one layout that package time formats fast, and inserts the
// milliseconds.
func (s stamp) append(out []byte) []byte {
	t := time.Time(s).UTC()
	out = t.AppendFormat(out, time.RFC3339)
	ms := t.Nanosecond() / 1_000_000
	return append(out[:len(out)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}

// maybe returns a pointer to a time, or nil for the zero time.
func maybe(t time.Time) *stamp {
	if t.IsZero() {
		return nil
	}
	return new(stamp(t))
}

func (a *API) meta(w http.ResponseWriter) meta {
	return meta{RequestID: httpserver.RequestID(w), Timestamp: stamp(a.now())}
}

// write sends a successful response.
func (a *API) write(w http.ResponseWriter, status int, p payload) error {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return nil
	}
	if data, ok := p.Data.(encoded); ok {
		body := append([]byte(`{"data":`), data...)
		httpserver.WriteBody(w, status, appendMeta(body, a.meta(w)))
		return nil
	}
	return httpserver.WriteJSON(w, status, envelope{Data: p.Data, Meta: a.meta(w), Pagination: p.Pagination})
}

// writeAs sends a body of another type than JSON.
func writeAs(w http.ResponseWriter, status int, kind []string, body []byte) {
	h := w.Header()
	h["Content-Type"] = kind
	h["Content-Length"] = decimal(len(body))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have left; that is not our fault
}

// encodeShown is for data that is ready to be shown.
func encodeShown[T any](_ http.Header, data T) payload { return payload{Data: data} }

func encodeNothing(http.Header, struct{}) payload { return payload{} }

// pathID reads the id in a path.
func pathID[ID ~string](_ http.ResponseWriter, r *http.Request) (ID, error) {
	return ID(r.PathValue("id")), nil
}

func decodeNothing(http.ResponseWriter, *http.Request) (struct{}, error) { return struct{}{}, nil }
