package edge

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
	api        *Edge
	w          http.ResponseWriter
	control    *http.ResponseController
	readerTime time.Duration // for one write
	Kind       []string      // the content type
	File       string        // file name for a browser that saves it, if any
	Coding     coding.Coding
	begun      bool
	lost       error // why the client cannot be reached
}

var jsonType = []string{"application/json"}

// Download returns a download of JSON, not compressed.
func (e *Edge) Download(w http.ResponseWriter) *download {
	return &download{api: e, w: w, control: http.NewResponseController(w), readerTime: e.ReaderTime, Kind: jsonType}
}

// Send sends what write writes, for at most a time in total. If it cannot be completed
// once it has begun, the connection is cut. Otherwise the client would take the part it
// has for the whole.
func (d *download) Send(r *http.Request, most time.Duration, write func(context.Context, io.Writer) error) error {
	ctx, cancel := context.WithTimeout(r.Context(), most)
	defer cancel()
	defer context.AfterFunc(d.api.stopping, func() { time.AfterFunc(d.api.Grace, cancel) })()
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
		d.api.Log.Error("a download was cut off", "request_id", httpserver.RequestID(d.w), "route", httpserver.Route(r), "err", err)
	}
	panic(http.ErrAbortHandler)
}

func (d *download) begin() {
	h := d.w.Header()
	h["Content-Type"] = d.Kind
	if d.File != "" {
		h.Set("Content-Disposition", `attachment; filename="`+d.File+`"`)
	}
	if d.Coding != coding.Identity {
		h["Content-Encoding"] = d.Coding.Header()
	}
	d.w.WriteHeader(http.StatusOK)
	d.begun = true
}

// Write sends one piece.
func (d *download) Write(piece []byte) (n int, err error) {
	if !d.begun {
		d.begin()
	}
	if err := d.control.SetWriteDeadline(time.Now().Add(d.readerTime)); err != nil {
		return 0, err
	}
	n, d.lost = d.w.Write(piece)
	if d.lost == nil {
		d.lost = d.control.Flush()
	}
	return n, d.lost
}

// readerTime is how long a reader may take for one write.
const readerTime = 10 * time.Second
