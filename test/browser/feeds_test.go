package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness/level"
)

// A page of another origin shows the open feeds with MapLibre, by TileJSON alone and
// without a key: everything but homes.
func TestFeeds(t *testing.T) {
	level.Needs(t, level.Check)
	b := launch(t)
	n := &network{db: filepath.Join(t.TempDir(), "beacon.db"), whole: t}
	n.operator = n.command(t, "keys", "create", "--user", "new", "--scopes", "hotspots:write")
	n.staff = n.command(t, "keys", "create", "--user", "new", "--scopes", "admin")
	n.serve(t, "--public")
	var want []string
	for i := range 4 { // the third is a home
		if s := n.bringUp(t, i, names[i]); i != 2 {
			want = append(want, s.id)
		}
	}
	slices.Sort(want)
	page := httptest.NewServer(libre(t, fmt.Sprintf(`{
		container: "map", center: [-73.983, 40.7538], zoom: 15, fadeDuration: 0, attributionControl: false,
		style: {
			version: 8,
			sources: {network: {type: "vector", url: %q}},
			layers: [{id: "hotspots", type: "circle", source: "network", "source-layer": "hotspots"}],
		},
	}`, n.url+"/open/tiles.json")))
	defer page.Close()
	p := b.open(t, page.URL, desk)
	p.until(fmt.Sprintf(`window.shown?.() === %q`, strings.Join(want, " ")))
	p.shot("feeds")
}

// libre serves a page with MapLibre, from the files of the console, and nothing else.
// Its function shown returns the ids that the map shows.
func libre(t testing.TB, options string) http.Handler {
	t.Helper()
	const assets = "../../console/dist/assets"
	find := func(pattern string) string {
		found, err := filepath.Glob(filepath.Join(assets, pattern))
		if err != nil || len(found) != 1 {
			t.Fatalf("found %v for %s, %v", found, pattern, err)
		}
		return filepath.Base(found[0])
	}
	script, worker := find("maplibre-gl-????????.js"), find("maplibre-gl-worker-*.mjs")
	mux := http.NewServeMux()
	mux.Handle("/assets/", http.StripPrefix("/assets/", http.FileServer(http.Dir(assets))))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><title>map</title><div id="map" style="width: 800px; height: 600px"></div>
<script type="module">
	import * as libre from "/assets/%s";
	libre.setWorkerUrl(new URL("/assets/%s", location.href).href);
	const map = new libre.Map(%s);
	window.shown = () => [...new Set(map.queryRenderedFeatures().map((f) => f.properties.id))].sort().join(" ");
</script>`, script, worker, options)
	})
	return mux
}
