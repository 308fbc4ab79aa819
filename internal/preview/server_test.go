package preview_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/preview"
	"github.com/beacon-wifi/beacon/test/openapi"
)

const demoKey = "svc_test_demo01"

// server is the interface behind a real socket. Every response that passes
// through it is held to the OpenAPI document.
type server struct {
	*httptest.Server
	api      *preview.API
	document *openapi.Document
}

func start(t testing.TB) *server {
	t.Helper()
	// The address that the document's examples were made with.
	api, err := preview.New(preview.Config{KeyPrefix: "svc", PublicURL: "http://127.0.0.1:8080"})
	if err != nil {
		t.Fatal(err)
	}
	front := &httpserver.Handler{
		Next:    api,
		Refuse:  api.Refuse,
		Now:     time.Now,
		Log:     slog.New(slog.DiscardHandler),
		Observe: func(*http.Request, httpserver.RequestInfo) {},
	}
	s := &server{Server: httptest.NewUnstartedServer(front), api: api, document: openapi.Load(t, preview.OpenAPI())}
	s.Config.DisableGeneralOptionsHandler = true
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// answer is a response with its body read.
type answer struct {
	*http.Response
	body []byte
}

// get asks for a path with a demo key and, optionally, other header fields as
// pairs of name and value.
func (s *server) get(t testing.TB, path string, header ...string) answer {
	t.Helper()
	return s.call(t, http.MethodGet, path, append([]string{"x-api-key", demoKey}, header...)...)
}

func (s *server) call(t testing.TB, method, path string, header ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	response, err := s.Client().Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	s.document.Check(t, request, response, body)
	return answer{response, body}
}

// wire shapes, written down once more: the tests share no types with the code.
type hotspot struct {
	ID            int
	Name          string
	Lat, Lng      float64
	Mbps          float64
	Risk          string
	Owner         string
	Note          string
	Signal        string
	Network       string
	Security      string
	Uptime        string
	Rating        string
	Avatar        string
	LastUsed      string
	LocationImage string
}

type list struct {
	Data []hotspot
	Meta meta
}

type meta struct {
	Total, Limit, Offset int64
	HasMore              bool
}

type failure struct {
	Error   string
	Message *string
}

// decode reads a JSON answer after checking its status.
func decode[T any](t testing.TB, a answer, status int) T {
	t.Helper()
	var value T
	if a.StatusCode != status {
		t.Fatalf("%s %s answered %d; want %d: %s", a.Request.Method, a.Request.URL, a.StatusCode, status, a.body)
	}
	if got := a.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("%s has the Content-Type %q", a.Request.URL, got)
	}
	if err := json.Unmarshal(a.body, &value); err != nil {
		t.Fatalf("%s: %v in %s", a.Request.URL, err, a.body)
	}
	return value
}

// all fetches the whole dataset.
func (s *server) all(t testing.TB) []hotspot {
	t.Helper()
	everything := decode[list](t, s.get(t, "/api/v1/hotspots?limit=100"), http.StatusOK)
	if len(everything.Data) != 78 {
		t.Fatalf("the dataset has %d records; want 78", len(everything.Data))
	}
	return everything.Data
}
