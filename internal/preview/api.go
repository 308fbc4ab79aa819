// Package preview serves the read-only preview API over a fixed dataset of 78 hotspots
// in New York City, for app developers to try with a demo key. It stands alone, with its
// own types, dataset, key check, errors and OpenAPI document, and uses nothing of the
// live network. Its one invariant: a response depends only on the request, since all
// data is loaded and encoded when the process starts and never changes.
//
//	curl -H 'x-api-key: svc_test_abc123' 'http://127.0.0.1:8080/api/v1/hotspots?limit=2'
package preview

import (
	_ "embed"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
)

// Base is the path prefix of every endpoint.
const Base = "/api/v1"

// The routes, as named in logs, metrics and the OpenAPI document.
const (
	routeList    = "GET /api/v1/hotspots"
	routeHotspot = "GET /api/v1/hotspots/{id}"
	routeStatus  = "GET /api/v1/network/status"
	routeImage   = "GET /api/v1/images/{name}"
	routeYAML    = "GET /api/v1/openapi.yaml"
	routeJSON    = "GET /api/v1/openapi.json"
)

// Config holds the settings of the preview API.
type Config struct {
	KeyPrefix string // the "svc" of svc_test_…
	PublicURL string // base of image URLs: where clients reach the service
}

// API serves the preview API.
type API struct {
	key     keyShape
	catalog *catalog
	open    map[string]*fixed // by path; needs no key
	keyed   map[string]*fixed // by path; needs a demo key
	pages   sync.Pool         // of *pageBuffer
}

// New loads the dataset and encodes every response.
func New(cfg Config) (*API, error) {
	key, err := newKeyShape(cfg.KeyPrefix)
	if err != nil {
		return nil, err
	}
	records, err := loadRecords()
	if err != nil {
		return nil, err
	}
	a := &API{
		key:   key,
		keyed: map[string]*fixed{},
		open: map[string]*fixed{
			Base + "/openapi.yaml": newFixed(routeYAML, yamlType, keepOpenly, openapiYAML),
			Base + "/openapi.json": newFixed(routeJSON, jsonType, keepOpenly, openapiJSON),
		},
	}
	a.pages.New = func() any { return &pageBuffer{} }
	a.addImages(records, cfg.PublicURL)
	if err := a.addData(records); err != nil {
		return nil, err
	}
	return a, nil
}

// Routes returns all patterns, spelled as in the OpenAPI document.
func (a *API) Routes() []string {
	served := map[string]bool{routeList: true}
	for _, responses := range []map[string]*fixed{a.open, a.keyed} {
		for _, one := range responses {
			served[one.route] = true
		}
	}
	return slices.Sorted(maps.Keys(served))
}

// addData prepares the endpoints that need a key.
func (a *API) addData(records []record) error {
	for _, rec := range records {
		if err := a.addKeyed(routeHotspot, Base+"/hotspots/"+strconv.Itoa(rec.ID), rec.Hotspot); err != nil {
			return err
		}
	}
	summary, err := summarize(records)
	if err != nil {
		return err
	}
	if err := a.addKeyed(routeStatus, Base+"/network/status", summary); err != nil {
		return err
	}
	a.catalog, err = newCatalog(records)
	return err
}

func (a *API) addKeyed(route, path string, data any) error {
	body, err := httpserver.EncodeJSON(struct {
		Data any `json:"data"`
	}{data})
	if err != nil {
		return err
	}
	a.keyed[path] = newFixed(route, jsonType, keepPrivately, body)
	return nil
}

// ServeHTTP checks in the order of decision P2. It also serves paths that belong to no
// API: this API's base address is the server's root, and its document covers any path.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setCommonHeaders(w.Header())
	path := r.URL.Path
	switch {
	case r.Method == http.MethodOptions:
		w.Header()["Access-Control-Max-Age"] = preflightAge
		w.WriteHeader(http.StatusNoContent)
	case r.Method != http.MethodGet:
		methodNotAllowed(w)
	case path != Base && !strings.HasPrefix(path, Base+"/"):
		noPath(w, path)
	default:
		a.get(w, r, path)
	}
}

func (a *API) get(w http.ResponseWriter, r *http.Request, path string) {
	known := path
	if strings.Contains(strings.ToLower(r.URL.RawPath), "%2f") {
		known = "" // an escaped slash is not a slash, and no path of ours has one
	}
	if free, ok := a.open[known]; ok {
		free.write(w, r)
		return
	}
	if !a.key.presentedBy(r) {
		a.unauthorized(w)
		return
	}
	if known == Base+"/hotspots" {
		r.Pattern = routeList
		a.list(w, r)
		return
	}
	if found, ok := a.keyed[known]; ok {
		found.write(w, r)
		return
	}
	// The escaped path distinguishes an id with a slash (1%2F2) from a longer path.
	if id, ok := strings.CutPrefix(path, Base+"/hotspots/"); ok && id != "" &&
		strings.Count(r.URL.EscapedPath(), "/") == strings.Count(Base, "/")+2 {
		r.Pattern = routeHotspot
		noHotspot(w, id)
		return
	}
	noPath(w, path)
}

// pageBuffer is the memory for one list response.
type pageBuffer struct {
	body  []byte
	small []byte // the body, compressed
	tag   []byte
	found []int
}

func (a *API) list(w http.ResponseWriter, r *http.Request) {
	buf := a.pages.Get().(*pageBuffer)
	defer a.pages.Put(buf)
	if buf.found == nil {
		buf.found = make([]int, 0, len(a.catalog.encoded))
	}
	p := a.catalog.find(parseQuery(r.URL.RawQuery), buf.found)
	buf.tag = a.catalog.appendTag(buf.tag[:0], p)
	buf.body = a.catalog.appendPage(buf.body[:0], p)

	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = keepPrivately
	body := buf.body
	c := coding.ForSize(r.Header["Accept-Encoding"], len(body))
	if h["Etag"] = []string{c.Tag(string(buf.tag))}; notModified(w, r) {
		return
	}
	if c != coding.Identity {
		buf.small = c.Append(buf.small[:0], body)
		body = buf.small
		h["Content-Encoding"] = c.Header()
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	write(w, body)
}

// The API description (decision P9). The YAML is written by hand. The JSON is the same
// document, generated by "go generate"; a test checks that they agree.
//
//go:generate go test -run TestOpenAPI_JSONIsTheYAML -update .
var (
	//go:embed openapi.yaml
	openapiYAML []byte
	//go:embed openapi.json
	openapiJSON []byte
)

// OpenAPI returns the API description as YAML, for the command line.
func OpenAPI() []byte { return openapiYAML }

// OpenAPIJSON returns the API description as JSON, for the documentation.
func OpenAPIJSON() []byte { return openapiJSON }

// keyHeader is the key's header name in Go's canonical form.
const keyHeader = "X-Api-Key"

const minKeyLetters = 6

// keyShape is the format of a demo key (decision P1). Any key of the right format is
// accepted: none are issued, so none are looked up.
type keyShape struct {
	test, live string // the two prefixes
}

func newKeyShape(prefix string) (keyShape, error) {
	if !alphanumeric(prefix) {
		return keyShape{}, fmt.Errorf("preview key prefix %q: use letters and digits only", prefix)
	}
	return keyShape{test: prefix + "_test_", live: prefix + "_live_"}, nil
}

// presentedBy reports whether a request carries exactly one key of the right format.
func (k keyShape) presentedBy(r *http.Request) bool {
	keys := r.Header[keyHeader]
	return len(keys) == 1 && k.matches(keys[0])
}

// matches reports whether the whole key is <prefix>_(test|live)_[a-zA-Z0-9]{6,}.
func (k keyShape) matches(key string) bool {
	letters, ok := strings.CutPrefix(key, k.test)
	if !ok {
		letters, ok = strings.CutPrefix(key, k.live)
	}
	return ok && len(letters) >= minKeyLetters && alphanumeric(letters)
}

func alphanumeric(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != ""
}
