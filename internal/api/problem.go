package api

import (
	"net/http"

	"github.com/beacon-wifi/beacon/internal/httpserver"
)

// problem is the body of an error response for clients that prefer RFC 9457. Beside the
// standard members, it has those of a fault.
type problem struct {
	Type    string        `json:"type"`
	Title   string        `json:"title"`
	Status  int           `json:"status"`
	Detail  string        `json:"detail"`
	Code    string        `json:"code"`
	Details []faultDetail `json:"details,omitempty"`
	Meta    meta          `json:"meta"`
}

var (
	asProblem   = form{"application", "problem+json", nil}
	problemType = []string{"application/problem+json"}
)

// writeProblem responds with a problem. The type "about:blank" means that the status says
// what kind of problem it is.
func writeProblem(w http.ResponseWriter, status int, body faultBody, m meta) error {
	encoded, err := httpserver.EncodeJSON(problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: body.Message, Code: body.Code, Details: body.Details, Meta: m,
	})
	if err != nil {
		return err
	}
	h := w.Header()
	h["Content-Type"] = problemType
	h["Content-Length"] = decimal(len(encoded))
	w.WriteHeader(status)
	_, _ = w.Write(encoded) // the client may have left; that is not our fault
	return nil
}
