package api

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
)

// downloadPiece is how many bytes of a download are sent at once.
const downloadPiece = 32 << 10

// download sends a response in pieces. The server's write deadline is for responses
// that are ready; this one has a deadline for each piece. The response begins with the
// first piece: an error before that is a normal error response.
type download struct {
	api      *API
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration // with a reader that does not read
	kind     []string      // the content type
	file     string        // file name for a browser that saves it, if any
	coding   coding.Coding
	begun    bool
	lost     error // why the client cannot be reached
}

var jsonType = []string{"application/json"}

// download returns a download of JSON, not compressed.
func (a *API) download(w http.ResponseWriter) *download {
	return &download{api: a, w: w, control: http.NewResponseController(w), patience: a.readerTime, kind: jsonType}
}

// send sends what write writes, for at most a time in total. If it cannot be completed
// once it has begun, the connection is cut. Otherwise the client would take the part it
// has for the whole.
func (d *download) send(r *http.Request, most time.Duration, write func(context.Context, io.Writer) error) error {
	ctx, cancel := context.WithTimeout(r.Context(), most)
	defer cancel()
	defer context.AfterFunc(d.api.stopping, func() { time.AfterFunc(d.api.grace, cancel) })()
	if r.Method == http.MethodHead {
		d.begin()
		return nil
	}
	out := bufio.NewWriterSize(d, downloadPiece)
	err := write(ctx, out)
	if err == nil {
		err = out.Flush()
	}
	switch {
	case err == nil:
		return nil
	case !d.begun && d.lost == nil:
		return err
	case d.lost == nil && r.Context().Err() == nil:
		d.api.log.Error("a download was cut off", "request_id", httpserver.RequestID(d.w), "route", httpserver.Route(r), "err", err)
	}
	panic(http.ErrAbortHandler)
}

func (d *download) begin() {
	h := d.w.Header()
	h["Content-Type"] = d.kind
	if d.file != "" {
		h.Set("Content-Disposition", `attachment; filename="`+d.file+`"`)
	}
	if d.coding != coding.Identity {
		h["Content-Encoding"] = d.coding.Header()
	}
	d.w.WriteHeader(http.StatusOK)
	d.begun = true
}

// Write sends one piece.
func (d *download) Write(piece []byte) (n int, err error) {
	if !d.begun {
		d.begin()
	}
	if err := d.control.SetWriteDeadline(time.Now().Add(d.patience)); err != nil {
		return 0, err
	}
	n, d.lost = d.w.Write(piece)
	if d.lost == nil {
		d.lost = d.control.Flush()
	}
	return n, d.lost
}
