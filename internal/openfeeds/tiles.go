package openfeeds

import (
	"cmp"
	"net/http"

	"github.com/beacon-wifi/beacon/internal/api/maps"
	"github.com/beacon-wifi/beacon/internal/fleet"
)

// tile serves a tile of the public map: the format is that of the network interface
// (decision X8), with what feeds show.
func (f *Feeds) tile(w http.ResponseWriter, r *http.Request) error {
	tile, err := maps.RequestedTile(r)
	if err != nil {
		return err
	}
	items, err := f.editions.tile(tile)
	if err != nil {
		return err
	}
	w.Header()["Vary"] = varyEncoding
	f.api.Maps.WriteTile(w, r, tile, items, forAMinute)
	return nil
}

// tileJSON describes the tiles, in the format TileJSON 3.0.0.
func (f *Feeds) tileJSON(w http.ResponseWriter, r *http.Request) error {
	description := map[string]any{
		"tilejson": "3.0.0",
		"name":     cmp.Or(f.who().Name, "hotspots"),
		"tiles":    []string{f.root + "/tiles/{z}/{x}/{y}.mvt"},
		"minzoom":  0,
		"maxzoom":  fleet.MaxZoom,
		"scheme":   "xyz",
		"vector_layers": []any{map[string]any{
			"id":          "hotspots",
			"description": "hotspots, or clusters of them where there are too many",
			"minzoom":     0,
			"maxzoom":     fleet.MaxZoom,
			"fields": map[string]string{
				"id":           "String: of the hotspot or the cluster",
				"status":       "String: online or offline; a cluster is online if one of its hotspots is",
				"radius_m":     "Number: how far it reaches",
				"count":        "Number: hotspots of a cluster; absent for a hotspot",
				"online_count": "Number: those of them that are online",
			},
		}},
	}
	if credit := f.credit(); credit != "" {
		description["attribution"] = credit
	}
	return writeJSON(w, r, description)
}
