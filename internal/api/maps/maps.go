package maps

import (
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/api/fragments"
	"github.com/beacon-wifi/beacon/internal/api/mvt"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/fleet"
	"github.com/beacon-wifi/beacon/internal/geo"
	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
	"github.com/beacon-wifi/beacon/internal/httpserver/static"
)

var errNoTile = &beacon.Error{Kind: beacon.NotFound, Message: "no such tile: the path is {z}/{x}/{y}.mvt, with z from 0 to " + strconv.Itoa(fleet.MaxZoom)}

var (
	tileType = []string{"application/vnd.mapbox-vector-tile"}
	// A browser may keep a tile, but must revalidate it: hotspots come and go. Shared
	// caches must not keep it: without a key, nothing is shown.
	askAgain = []string{"private, no-cache"}
)

// tile serves a tile of the map (decision X8).
func (a *API) tile(w http.ResponseWriter, r *http.Request, _ beacon.Principal) error {
	tile, err := RequestedTile(r)
	if err != nil {
		return err
	}
	a.WriteTile(w, r, tile, a.fleet.Tile(tile, a.Now()), askAgain)
	return nil
}

// RequestedTile returns the tile that the parts z, x and tile of a path name.
func RequestedTile(r *http.Request) (fleet.Tile, error) {
	tile, ok := TileOf(r.PathValue("z"), r.PathValue("x"), r.PathValue("tile"))
	if !ok {
		return tile, errNoTile
	}
	return tile, nil
}

// WriteTile responds with a tile that shows these items.
func (a *API) WriteTile(w http.ResponseWriter, r *http.Request, tile fleet.Tile, items fleet.Items, caching []string) {
	buffer := a.tiles.Get().(*tileBuffer)
	defer a.tiles.Put(buffer)
	buffer.draw(tile, items)
	buffer.small = WriteTagged(w, r, tileType, caching, buffer.body, buffer.small)
}

// WriteTagged responds with a body that was made for this request: with an entity tag of
// its bytes, and compressed if that is worth it. It returns the memory that it used for that,
// which may be handed to the next call.
func WriteTagged(w http.ResponseWriter, r *http.Request, kind, caching []string, body, buffer []byte) []byte {
	c := coding.ForSize(r.Header["Accept-Encoding"], len(body))
	tag := c.Tag(coding.TagOf(body))
	h := w.Header()
	h["Cache-Control"] = caching
	h["Etag"] = []string{tag}
	if known := r.Header["If-None-Match"]; len(known) > 0 && static.HasTag(known, tag) {
		w.WriteHeader(http.StatusNotModified)
		return buffer
	}
	if c != coding.Identity {
		buffer = c.Append(buffer[:0], body)
		body = buffer
		h["Content-Encoding"] = c.Header()
	}
	edge.WriteAs(w, http.StatusOK, kind, body)
	return buffer
}

// TileOf parses the path of a tile. Leading zeros and signs are not allowed.
func TileOf(z, x, file string) (tile fleet.Tile, ok bool) {
	y, isTile := strings.CutSuffix(file, ".mvt")
	var known [3]bool
	tile.Z, known[0] = tileIndex(z)
	tile.X, known[1] = tileIndex(x)
	tile.Y, known[2] = tileIndex(y)
	return tile, isTile && known == [3]bool{true, true, true} && tile.Valid()
}

func tileIndex(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && strconv.Itoa(n) == text
}

// tileBuffer is the memory for encoding one tile.
type tileBuffer struct {
	hotspots, clusters *mvt.Layer
	body, small        []byte // plain and compressed
}

const layerName = "hotspots"

// Indexes of the property keys, in the order the layers are created with.
const (
	keyID = iota
	keyStatus
	keyRadius
	keyCount
	keyOnline
)

func newTileBuffer() any {
	return &tileBuffer{
		hotspots: mvt.NewLayer(layerName, "id", "status", "radius_m"),
		clusters: mvt.NewLayer(layerName, "id", "status", "radius_m", "count", "online_count"),
	}
}

// draw encodes the tile into buffer.body.
func (buffer *tileBuffer) draw(tile fleet.Tile, items fleet.Items) {
	layer := buffer.hotspots
	if items.Aggregated {
		layer = buffer.clusters
	}
	layer.Reset()
	for _, m := range items.Marks {
		x, y := tile.Position(m.Place)
		layer.Point(unit(x), unit(y))
		layer.Unique(keyID, m.Hotspot.ID())
		layer.Text(keyStatus, string(m.Status))
		layer.Number(keyRadius, m.Hotspot.RadiusM())
	}
	for i := range items.Clusters {
		c := &items.Clusters[i]
		x, y := tile.Position(c.Center)
		layer.Point(unit(x), unit(y))
		layer.Unique(keyID, c.ID)
		layer.Text(keyStatus, string(clusterStatus(c)))
		layer.Number(keyRadius, math.Round(c.RadiusM*10)/10)
		layer.Whole(keyCount, uint64(c.Count))
		layer.Whole(keyOnline, uint64(c.Online))
	}
	buffer.body = layer.AppendTile(buffer.body[:0])
}

// unit converts a fraction of the tile's width or height to tile units. A point on the
// border to the next tile gets the last unit: map renderers drop points beyond it.
func unit(part float64) int { return min(max(int(part*mvt.Extent), 0), mvt.Extent-1) }

// AppendCoverageFeatures is appendCoverage as GeoJSON.
func AppendCoverageFeatures(out []byte, box geo.Box, s fleet.Survey, m client.Meta) []byte {
	out = append(out, `{"type":"FeatureCollection","bbox":[`...)
	for i, side := range [...]float64{box.West, box.South, box.East, box.North} {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, side, 'f', -1, 64)
	}
	out = appendFindings(append(out, ']'), s)
	out = append(out, `,"features":[`...)
	for i, mark := range s.Marks {
		if i > 0 {
			out = append(out, ',')
		}
		f := fragments.Of(mark.Hotspot)
		out = fragments.AppendFeature(out, mark.Hotspot, f)
		out = fragments.AppendApproximate(out, mark.Hotspot)
		out = append(appendMarkState(append(out, ','), mark, f, m.Timestamp), "}}"...)
	}
	for i := range s.Clusters {
		if i > 0 {
			out = append(out, ',')
		}
		c := &s.Clusters[i]
		out = AppendDegrees(fragments.BeginFeature(out, c.ID), c.Center.Lng)
		out = AppendDegrees(append(out, ','), c.Center.Lat)
		out = append(appendClusterState(append(fragments.ContinueFeature(out, c.ID), ','), c), "}}"...)
	}
	return edge.AppendMeta(append(out, ']'), m)
}
