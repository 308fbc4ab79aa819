package people

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/qrsvg"
)

// longestDrawn is how long a text may be of which the console wants a picture: links are shorter.
const longestDrawn = 500

// drawQR draws a link that was just made. It is in the body, since addresses are logged.
func (a *API) drawQR(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	return edge.Serve(a.Edge, http.StatusOK, edge.FromBody(decodeDrawn), draw, func(_ http.Header, drawn qrsvg.Code) edge.Payload {
		return edge.Payload{Data: client.QRCode{Rows: drawn.Rows, Size: drawn.Size}}
	})(w, r, p)
}

func decodeDrawn(_ *http.Request, o *edge.Object) (string, error) {
	var f beacon.Faults
	text, ok := beacon.Required(o.Text("text"), "text", &f)
	if ok && utf8.RuneCountInString(text) > longestDrawn {
		f.Add("text", "must be at most 500 characters")
	}
	return text, o.Conclude(f.Err)
}

func draw(_ context.Context, _ beacon.Principal, text string) (qrsvg.Code, error) {
	return qrsvg.Draw(text)
}
