package browser_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// app serves an empty page at an origin of its own.
func app(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><link rel="icon" href="data:,"><title>app</title>`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// fetches runs fetch in the page, and returns what the page sees of the response.
func (p *page) fetches(url, options string) string {
	p.t.Helper()
	got, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](fmt.Sprintf(`fetch(%q, %s).then(
		async r => r.status + " " + r.headers.get("X-Request-Id")?.slice(0, 4) + " " + r.headers.get("RateLimit") + " " + (await r.text()).slice(0, 40),
		e => "hidden: " + e.name)`, url, options), chromedp.EvalAwaitPromise))
	if err != nil {
		p.fail("fetch %s: %v", url, err)
	}
	return got
}

// A page of an origin that staff allowed uses the API with a publishable key of its own
// (decision D107); a page of another origin sees nothing.
func TestOrigins(t *testing.T) {
	b, allowed, other := launch(t), app(t), app(t)
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	key := n.command(t, "keys", "create", "--user", "new", "--publishable", "--origins", allowed)
	full := n.command(t, "keys", "create", "--user", "new", "--scopes", "hotspots:write")
	n.serve(t, "--cors-origins", allowed)

	with := func(key, more string) string {
		return `{headers: {Authorization: "Bearer ` + key + `", "Content-Type": "application/json", traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}` + more + `}`
	}
	nearby := n.url + "/v1/hotspots/nearby?lat=40.7&lng=-74&status=all"
	p := b.open(t, allowed, desk)
	for _, status := range []string{"400", "401", "403", "404"} {
		p.expects("the server responded with a status of " + status)
	}
	for _, tc := range []struct{ url, options, want string }{
		{nearby, with(key, ""), `200 req_ "key";r=`},
		{n.url + "/v1/hotspots/nearby", with(key, ""), `400 req_ "key";r=`},
		{n.url + "/v1/users/me/hotspots", with(key, ""), `403 req_ "key";r=`},
		{nearby, `{}`, `401 req_ "wrong-keys";r=`},
		{n.url + "/v1/nope", with(key, ""), `404 req_ "wrong-keys";r=`},
		{n.url + "/v1/hotspots", with(full, `, method: "POST", body: JSON.stringify({name: "From a page", type: "home", location: {lat: 40.7, lng: -74}, device: {ssid: "page", mac_address: "02:00:5e:10:00:01"}})`), `201 req_ "key";r=`},
		{n.url + "/v1/hotspots/hs_1", with(full, `, method: "DELETE"`), `404 req_ "key";r=`},
	} {
		if got := p.fetches(tc.url, tc.options); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s %s: the page sees %q; want %q", tc.url, tc.options, got, tc.want)
		}
	}

	stranger := b.open(t, other, desk)
	stranger.expects("has been blocked by CORS policy")
	stranger.expects("net::ERR_FAILED")
	stranger.expects("the server responded with a status of")
	for _, options := range []string{with(key, ""), with(full, ""), `{}`} {
		if got := stranger.fetches(nearby, options); !strings.HasPrefix(got, "hidden") {
			t.Errorf("a page of another origin sees %q", got)
		}
	}
}

// A browser asks once before many requests: the answer to its question is kept.
func TestOrigins_PreflightsAreKept(t *testing.T) {
	b, allowed := launch(t), app(t)
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	key := n.command(t, "keys", "create", "--user", "new", "--publishable", "--origins", allowed)
	n.serve(t, "--cors-origins", allowed)
	var mu sync.Mutex
	methods := map[string]int{}
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		methods[r.Method]++
		mu.Unlock()
		forward(t, n.url, w, r)
	}))
	defer between.Close()
	p := b.open(t, allowed, desk)
	for range 5 {
		if got := p.fetches(between.URL+"/v1/hotspots/nearby?lat=40.7&lng=-74", `{headers: {Authorization: "Bearer `+key+`"}}`); !strings.HasPrefix(got, "200 ") {
			t.Fatalf("the page sees %q", got)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if methods["OPTIONS"] != 1 || methods["GET"] != 5 {
		t.Errorf("the browser sent %v; want one OPTIONS and five GET", methods)
	}
}

// forward passes a request on to another server.
func forward(t testing.TB, to string, w http.ResponseWriter, r *http.Request) {
	request, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.RequestURI(), r.Body)
	if err != nil {
		t.Error(err)
		return
	}
	request.Header = r.Header
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return // the browser left
	}
	defer response.Body.Close()
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body)
}
