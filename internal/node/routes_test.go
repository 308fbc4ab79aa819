package node

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/httpserver/metrics"
	"github.com/beacon-wifi/beacon/internal/openfeeds"
	"github.com/beacon-wifi/beacon/internal/preview"
	"github.com/beacon-wifi/beacon/test/openapi"
)

// aside are the routes that belong to no interface, and so to no OpenAPI
// document, with why anyone who reaches them may ask.
var aside = map[string]string{
	"GET /":                      "the console's page, the same for everyone: what it shows it asks of the interfaces, with the key of who looks",
	"GET /agent":                 "tells how an access point gets the agent, the same for everyone",
	"GET /agent/{name}":          "the agent, its packages and what installs them, as the repository has them",
	"POST /agent/command":        "writes a code that somebody has into a command, and keeps nothing",
	"GET /assets/{name}":         "what the page is made of",
	"GET /basemap.pmtiles":       "the file of streets that the operator of the server named, for the map of everyone",
	"GET /basemap/names":         "searches the names in that file",
	"GET /docs":                  "the documentation, the same for everyone",
	"GET /docs/{page}":           "a guide",
	"GET /docs/api/{name}":       "an OpenAPI document, to be read by people",
	"GET /docs/api/{name}/{tag}": "a part of it",
	"GET /docs/search":           "a page",
	"GET /docs/assets/{name}":    "what the pages are made of",
	"GET /docs/files/{path}":     "files for monitoring and installation, as the repository has them",
	"GET /docs/{missing}":        "tells that there is no such page",
	"GET /h/{id}":                "a page about a hotspot that feeds show, where the server is public (decision D193)",
	"GET /h/{id}/poster":         "a sheet to print, with what such a page says and a code that leads to it",
	"GET /h/{id}/embed":          "the same, for frames in other pages",
	"GET /logo":                  "the logo of the network, which staff show to everyone",
	"GET /brand.css":             "its color",
	"GET /manifest.webmanifest":  "its name, for browsers that install the console",
	"GET /icon-192.png":          "its logo as an icon",
	"GET /icon-512.png":          "the same, larger",
	"GET /card.png":              "a picture beside links: its name, and where the server is public, its description and dots where hotspots are that feeds show",
	"GET /h/{id}/card.png":       "a picture beside links to such a page: the name and address that it shows",
	"GET /healthz":               "for supervisors, who have no key; it tells that the process lives, and nothing else (decision X11)",
	"GET /preview":               "the same page, with the preview's records",
	"GET /readyz":                "for load balancers, who have no key; causes are for the log alone (decision X11)",
	"GET /metrics":               "on --admin-addr alone, which is for the operator of the process (decision X11)",
	"GET /debug/pprof/":          "on --admin-addr alone",
	"GET /debug/pprof/profile":   "on --admin-addr alone",
	"GET /debug/pprof/symbol":    "on --admin-addr alone",
	"GET /debug/pprof/trace":     "on --admin-addr alone",
}

// served lists all routes of the public address, out of what the router sends
// requests to. Whoever adds a part to it that cannot tell its routes hears of it
// here.
func served(t *testing.T) []string {
	t.Helper()
	pages, err := newPages(ServerConfig{Config: Config{PublicURL: "http://127.0.0.1:8080"}, PreviewKeyPrefix: "svc"}, known{})
	if err != nil {
		t.Fatal(err)
	}
	network := api.New(api.Config{})
	feeds := openfeeds.New(openfeeds.Config{API: network})
	open := openInterfaces{feeds, openfeeds.NewPages(feeds, openfeeds.Config{})}
	router := reflect.ValueOf(newRouter(&httpserver.Health{}, network, open, pages)).Elem()
	all := routesOf(t, router)
	all = append(all, routesOf(t, router.FieldByName("openInterfaces"))...)
	return append(all, routesOf(t, router.FieldByName("pages"))...)
}

// routesOf lists the routes of the handlers in the fields of a struct.
func routesOf(t *testing.T, parts reflect.Value) []string {
	t.Helper()
	var all []string
	for i := range parts.NumField() {
		field := parts.Field(i)
		open := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface() // the fields are not exported
		if _, answers := open.(http.Handler); !answers {
			continue
		}
		part, ok := open.(interface{ Routes() []string })
		if !ok || len(part.Routes()) == 0 {
			t.Fatalf("the router's %s cannot tell which routes it serves", parts.Type().Field(i).Name)
		}
		all = append(all, part.Routes()...)
	}
	return all
}

// Every route is in an OpenAPI document, or is known to be in none, with a reason.
func TestRoutes_EachIsKnown(t *testing.T) {
	var documented []string
	for _, text := range [][]byte{api.OpenAPI(), preview.OpenAPI()} {
		documented = append(documented, openapi.Load(t, text).Operations()...)
	}
	for _, operation := range openapi.Load(t, openfeeds.OpenAPI()).Operations() {
		method, path, _ := strings.Cut(operation, " ") // relative to the landing page
		documented = append(documented, method+" "+openfeeds.Base+strings.TrimSuffix(path, "/"))
	}
	public := served(t)
	admin := adminHandler(metrics.New()).Routes()
	all := slices.Concat(public, admin)
	for _, route := range all {
		if inDocument, isAside := slices.Contains(documented, route), aside[route] != ""; inDocument == isAside {
			t.Errorf("%s is in an OpenAPI document: %t; is known to be in none: %t; want one of the two", route, inDocument, isAside)
		}
	}
	for _, route := range admin {
		if slices.Contains(public, route) {
			t.Errorf("%s is served to everyone", route)
		}
	}
	for route := range aside {
		if !slices.Contains(all, route) {
			t.Errorf("%s is not served any more", route)
		}
	}
	if len(public) < 36 || len(admin) < 5 {
		t.Errorf("found %d and %d routes; there are at least 36 and 5", len(public), len(admin))
	}
}
